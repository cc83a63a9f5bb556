import { lookup, Resolver } from 'node:dns/promises';
import { NAME_QUERY_ms, NAME_QUERY_tries } from './limits.js';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Gives every address of a host, of both families. Rejects when there is none. */
export type ResolveHost = (host: string) => Promise<Address[]>;

/** What the name servers say when they have nothing, or when none is configured: the hosts file may still know. */
const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/**
 * Resolves callback hosts. Name servers are asked directly: the system's resolver would hold one of the process's
 * four pool threads for as long as a dead name server keeps it, and with them every other callback. Names without a
 * dot, and names that are not in DNS, are left to the system's resolver (hosts file, search domains), which is given
 * one name at a time for the same reason.
 */
export function hostResolver(
  servers: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: NAME_QUERY_ms, tries: NAME_QUERY_tries }),
): ResolveHost {
  let systemTurn: Promise<unknown> = Promise.resolve();
  const askSystem = (host: string): Promise<Address[]> => {
    const answer = systemTurn.then(() => lookup(host, { all: true, verbatim: true })) as Promise<Address[]>;
    systemTurn = answer.catch(() => undefined);
    return answer;
  };
  return async (host) => {
    if (!host.replace(/\.$/, '').includes('.')) return askSystem(host);
    const [four, six] = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)]);
    const addresses: Address[] = [
      ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 as const })),
      ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (addresses.length > 0) return addresses;
    const failures = [four, six].flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    const unanswered = failures.find((failure) => !NOT_IN_DNS.has((failure as NodeJS.ErrnoException).code ?? ''));
    if (unanswered) throw unanswered;
    return askSystem(host);
  };
}
