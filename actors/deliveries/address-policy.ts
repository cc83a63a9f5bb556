import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { LIMITS } from './limits.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [base: Ip, bits: number];

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
const notPublic: readonly Network[] = NOT_PUBLIC.map(([cidr]) => ipaddr.parseCIDR(cidr));

/** True when `text` is an address on the public internet: unicast, and not reserved for another purpose. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && !notPublic.some((network) => within(address, network));
}

/**
 * Decides which addresses callbacks may connect to: the public ones, and those of `allowedNetworks` (EVT-2). The verdict on an
 * address never changes, and the same receivers are called again and again, so verdicts are cached.
 */
export class AddressPolicy {
  readonly #allowed: readonly Network[];
  readonly #verdicts = new LRUCache<string, boolean>({ max: LIMITS.verdict_cache_addresses });

  /** `allowedNetworks`: CIDRs that are exempt from having to be public. */
  constructor(allowedNetworks: readonly string[]) {
    this.#allowed = allowedNetworks.map((cidr) => ipaddr.parseCIDR(cidr));
  }

  /** True when a callback may connect to this address. False also for text that is no address. */
  allows(text: string): boolean {
    const verdict = this.#verdicts.get(text) ?? this.#judge(text);
    this.#verdicts.set(text, verdict);
    return verdict;
  }

  #judge(text: string): boolean {
    if (isPublic(text)) return true;
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    return this.#allowed.some((network) => within(address, network));
  }
}

function within(address: Ip, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match([base, bits] as [ipaddr.IPv4 & ipaddr.IPv6, number]);
}
