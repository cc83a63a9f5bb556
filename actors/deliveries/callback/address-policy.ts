import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../../storage/process/cache-size.js';
import { LIMITS } from '../limits.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [base: Ip, bits: number];

/** One address and port of the operator's own. */
export interface Endpoint {
  address: string;
  port: number;
}

/** Ports of public addresses that callbacks may use when nothing else is said. */
export const CALLBACK_PORTS: readonly number[] = [443, 8443];

/** What is exempt from having to be public, and from the ports. */
export interface Exemptions {
  /** CIDRs: every port of theirs is exempt. */
  networks: readonly string[];
  endpoints?: readonly Endpoint[] | undefined;
}

export type Verdict = 'allowed' | 'port' | 'not_public';

/**
 * What `ipaddr.js` takes for ordinary unicast and a callback must not reach. IPv6 outside 2000::/3 is not routed on
 * the public internet, and holds the forms that embed an IPv4 address (mapped, compatible, translated), the discard
 * and the segment routing prefixes. ipaddr.js itself refuses, by the name of the range: this network, loopback,
 * private, carrier-grade NAT, link-local, protocol assignments, documentation, benchmarking, 6to4 relays, multicast,
 * reserved and broadcast; for IPv6 Teredo, ORCHID, documentation and 6to4 inside 2000::/3.
 */
const NOT_PUBLIC: readonly [cidr: string, why: string][] = [
  ['168.63.129.16/32', "a cloud's own control address, reachable from every virtual machine in it"],
  ['::/3', 'unspecified, loopback, embedded IPv4, NAT64, discard'],
  ['4000::/2', 'unallocated, segment routing'],
  ['8000::/1', 'unallocated, unique local, link-local, site-local, multicast'],
];
/** Parsed when it is first asked for: no start asks, and the first parse takes 10 ms of each thread that loads this. */
let notPublic: readonly Network[] | undefined;

/** True when `text` is an address on the public internet: unicast, and not reserved for another purpose. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && !notPublicNetworks().some((network) => within(address, network));
}

function notPublicNetworks(): readonly Network[] {
  notPublic ??= NOT_PUBLIC.map(([cidr]) => ipaddr.parseCIDR(cidr));
  return notPublic;
}

/**
 * Decides which addresses callbacks may connect to, on which ports: the public ones on `ports`, and what is exempt (EVT-2). The kind of an
 * address never changes, and the same receivers are called again and again, so that is cached.
 */
export class AddressPolicy {
  readonly #allowed: readonly Network[];
  readonly #endpoints: ReadonlySet<string>;
  readonly #ports: ReadonlySet<number>;
  readonly #kinds = new LRUCache<string, 'exempt' | 'public' | 'neither'>(atMost(LIMITS.verdict_cache_addresses));

  constructor({ networks, endpoints = [] }: Exemptions, ports: readonly number[] = CALLBACK_PORTS) {
    this.#allowed = networks.map((cidr) => ipaddr.parseCIDR(cidr));
    this.#endpoints = new Set(endpoints.map(({ address, port }) => `${address} ${port}`));
    this.#ports = new Set(ports);
  }

  /** Whether a callback may connect to this port of this address, or what stands against it. Text that is no address is not public. */
  judge(text: string, port: number): Verdict {
    const kind = this.#kinds.get(text) ?? this.#kindOf(text);
    this.#kinds.set(text, kind);
    if (kind === 'exempt' || this.#endpoints.has(`${text} ${port}`)) return 'allowed';
    if (kind === 'neither') return 'not_public';
    return this.#ports.has(port) ? 'allowed' : 'port';
  }

  #kindOf(text: string): 'exempt' | 'public' | 'neither' {
    if (!ipaddr.isValid(text)) return 'neither';
    const address = ipaddr.parse(text);
    if (this.#allowed.some((network) => within(address, network))) return 'exempt';
    return isPublic(text) ? 'public' : 'neither';
  }
}

function within(address: Ip, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match([base, bits] as [ipaddr.IPv4 & ipaddr.IPv6, number]);
}
