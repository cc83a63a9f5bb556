import { lookup, Resolver } from 'node:dns/promises';
import { LIMITS } from '../limits.js';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Returns every address of a host, of both families. Rejects when there is none. */
export type ResolveHost = (host: string) => Promise<Address[]>;

/** The questions to a name server that are asked here. */
interface NameServers {
  resolve4(host: string): Promise<string[]>;
  resolve6(host: string): Promise<string[]>;
}

/** Errors of name servers that do not know the name, or of a machine without any: the hosts file may still know it. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/** `servers`: null for the machine's own. */
function resolver(servers: string[] | null, tries: number): NameServers {
  const made = new Resolver({ timeout: LIMITS.name_query_ms, tries });
  if (servers) made.setServers(servers);
  return made;
}

/**
 * Waits as long as it says for a name server that was quick before. After a few answers the library waits a second at most for the next one, asks again,
 * and drops the answer to what it asked before: a name that takes longer would never be found. So what got no answer is asked once more, by one that has
 * learned nothing.
 */
function patientResolver(servers: string[] | null = null): NameServers {
  const usual = resolver(servers, LIMITS.name_query_tries);
  const ask = (question: (of: NameServers) => Promise<string[]>) =>
    question(usual).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ETIMEOUT') throw error;
      return question(resolver(servers, 1));
    });
  return { resolve4: (host) => ask((of) => of.resolve4(host)), resolve6: (host) => ask((of) => of.resolve6(host)) };
}

/**
 * The resolver of an installation. With `dnsServers` (`CALLBACK_DNS_SERVERS`: `address` or `address:port`) only these are
 * asked: a callback then cannot name what the machine's hosts file and search domains know.
 */
export function callbackResolver(dnsServers: string[] | null): ResolveHost {
  if (dnsServers === null) return hostResolver();
  const servers = patientResolver(dnsServers);
  return (host) => askNameServers(servers, host);
}

/**
 * Resolves callback hosts. Name servers are asked directly: the system's resolver occupies one of the process's four pool
 * threads until a dead name server times out, and four such names would hold up every callback. Names without a dot, and
 * names that are not in DNS, are left to the system's resolver (hosts file, search domains), one at a time for the same reason.
 */
export function hostResolver(servers: NameServers = patientResolver()): ResolveHost {
  let lastAnswer: Promise<unknown> = Promise.resolve();
  const askSystem = (host: string): Promise<Address[]> => {
    const answer = lastAnswer.then(() => lookup(host, { all: true, verbatim: true })) as Promise<Address[]>;
    lastAnswer = answer.catch(() => undefined);
    return answer;
  };
  return async (host) => {
    if (!host.replace(/\.$/, '').includes('.')) return askSystem(host);
    try {
      return await askNameServers(servers, host);
    } catch (error) {
      if (NOT_IN_DNS.has((error as NodeJS.ErrnoException).code ?? '')) return askSystem(host);
      throw error;
    }
  };
}

/** Returns the addresses of both families. Without any, rejects with the servers' error: one that did not answer comes before one that knows no such name. */
async function askNameServers(servers: NameServers, host: string): Promise<Address[]> {
  const [four, six] = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)]);
  const addresses: Address[] = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 as const })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 as const })),
  ];
  const failures = [four, six].flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (addresses.length > 0 || failures.length === 0) return addresses;
  throw failures.find(({ code }) => !NOT_IN_DNS.has(code)) ?? failures[0];
}
