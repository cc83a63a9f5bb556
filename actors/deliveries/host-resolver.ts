import { lookup, Resolver } from 'node:dns/promises';
import { NAME_QUERY_ms, NAME_QUERY_tries } from './limits.js';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Gives every address of a host, of both families. Rejects when there is none. */
export type ResolveHost = (host: string) => Promise<Address[]>;

/** Of a name server, what is asked here. */
type NameServers = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** What the name servers say when they have nothing, or when none is configured: the hosts file may still know. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

const resolver = () => new Resolver({ timeout: NAME_QUERY_ms, tries: NAME_QUERY_tries });

/**
 * The resolver of an installation. With `dnsServers` (`CALLBACK_DNS_SERVERS`: `address` or `address:port`) these alone
 * are asked, so that what the machine's hosts file and search domains know is nothing a callback could name.
 */
export function callbackResolver(dnsServers: string[] | null): ResolveHost {
  if (dnsServers === null) return hostResolver();
  const servers = resolver();
  servers.setServers(dnsServers);
  return (host) => askNameServers(servers, host);
}

/**
 * Resolves callback hosts. Name servers are asked directly: the system's resolver would hold one of the process's
 * four pool threads for as long as a dead name server keeps it, and with them every other callback. Names without a
 * dot, and names that are not in DNS, are left to the system's resolver (hosts file, search domains), which is given
 * one name at a time for the same reason.
 */
export function hostResolver(servers: NameServers = resolver()): ResolveHost {
  let systemTurn: Promise<unknown> = Promise.resolve();
  const askSystem = (host: string): Promise<Address[]> => {
    const answer = systemTurn.then(() => lookup(host, { all: true, verbatim: true })) as Promise<Address[]>;
    systemTurn = answer.catch(() => undefined);
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

/** The addresses of both families. Without any, rejects with what a server said; that it did not answer counts first. */
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
