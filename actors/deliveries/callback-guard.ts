import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { type Address, hostResolver, type ResolveHost } from './host-resolver.js';
import { CALLBACK_URL_characters, CREATION_LOOKUP_ms, VERDICT_CACHE_addresses } from './limits.js';

/**
 * Which addresses a callback may lead to (contract: "Subscription callback"; EVT-2). The host is resolved when a
 * subscription is created and again at every attempt, and the attempt connects to the addresses given here and to no
 * others: a name that changes its mind between the check and the connection gains nothing.
 */
export interface CallbackPolicy {
  /** CIDRs that are exempt from having to be public (`CALLBACK_ALLOWED_NETWORKS`). */
  allowedNetworks: string[];
  /** How hosts are resolved; by default through the machine's name servers. */
  resolve?: ResolveHost;
}

/** Why a callback is refused, with the words for the caller. */
export const CALLBACK_REFUSALS = {
  invalid: 'must be an absolute URL',
  not_https: 'must begin with https://',
  userinfo: 'must not carry a user name or password',
  query: 'must not have a query',
  fragment: 'must not have a fragment',
  unresolvable: 'must name a host that can be resolved',
  not_public: 'must lead to public addresses only',
} as const;
export type CallbackRefusal = keyof typeof CALLBACK_REFUSALS;

/** A callback that may be called: its URL and every address its host has now, all of them checked. */
export interface CallbackTarget {
  url: URL;
  addresses: Address[];
}

type Refused = { ok: false; reason: CallbackRefusal };

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
const notPublic = NOT_PUBLIC.map(([cidr]) => ipaddr.parseCIDR(cidr));

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match([base, bits] as [ipaddr.IPv4 & ipaddr.IPv6, number]);
}

/** True when `text` is an address on the public internet: unicast, and reserved for nothing. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && !notPublic.some((network) => within(address, network));
}

/** What each policy says of an address never changes, and the same receivers are called over and over. */
const judged = new WeakMap<CallbackPolicy, LRUCache<string, boolean>>();

function allowed(text: string, policy: CallbackPolicy): boolean {
  const known = judged.get(policy) ?? new LRUCache<string, boolean>({ max: VERDICT_CACHE_addresses });
  judged.set(policy, known);
  const verdict = known.get(text) ?? judge(text, policy);
  known.set(text, verdict);
  return verdict;
}

function judge(text: string, policy: CallbackPolicy): boolean {
  if (isPublic(text)) return true;
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return policy.allowedNetworks.some((cidr) => within(address, ipaddr.parseCIDR(cidr)));
}

/** What the text alone tells. The raw text is looked at where the URL parser forgives: an empty query, a stray tab. */
function parseCallback(text: string): { ok: true; url: URL } | Refused {
  if (text.length > CALLBACK_URL_characters || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    return { ok: false, reason: 'invalid' };
  }
  if (!/^https:\/\//i.test(text)) return { ok: false, reason: 'not_https' };
  if (text.includes('#')) return { ok: false, reason: 'fragment' };
  if (text.includes('?')) return { ok: false, reason: 'query' };
  if (/^https:\/\/[^/]*@/i.test(text)) return { ok: false, reason: 'userinfo' };
  return { ok: true, url: new URL(text) };
}

const throughNameServers = hostResolver();

/**
 * Checks a callback and gives the addresses an attempt may connect to. Takes as long as its resolver does: the caller
 * has the deadline. IP literals arrive normalised by the URL parser, whatever notation they were written in.
 */
export async function resolveCallback(
  text: string,
  policy: CallbackPolicy,
): Promise<{ ok: true; target: CallbackTarget } | Refused> {
  const parsed = parseCallback(text);
  if (!parsed.ok) return parsed;
  const { url } = parsed;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  let addresses: Address[];
  const family = isIP(literal);
  if (family !== 0) {
    addresses = [{ address: literal, family: family === 4 ? 4 : 6 }];
  } else {
    try {
      addresses = await (policy.resolve ?? throughNameServers)(url.hostname);
    } catch {
      return { ok: false, reason: 'unresolvable' };
    }
  }
  if (addresses.length === 0) return { ok: false, reason: 'unresolvable' };
  // One public address among private ones is no excuse: the connection might take any of them.
  if (!addresses.every(({ address }) => allowed(address, policy))) return { ok: false, reason: 'not_public' };
  return { ok: true, target: { url, addresses } };
}

/** Checks a callback when a subscription is created. Never throws; answers within `CREATION_LOOKUP_ms`. */
export async function checkCallback(text: string, policy: CallbackPolicy): Promise<{ ok: true } | Refused> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Refused>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: 'unresolvable' }), CREATION_LOOKUP_ms);
  });
  const checked = await Promise.race([resolveCallback(text, policy), late]);
  clearTimeout(timer);
  return checked.ok ? { ok: true } : checked;
}
