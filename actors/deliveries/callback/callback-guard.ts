import { isIP } from 'node:net';
import { Deadline } from '../../../storage/process/deadline.js';
import { LIMITS } from '../limits.js';
import { AddressPolicy, type Endpoint } from './address-policy.js';
import { type Address, hostResolver, type ResolveHost } from './host-resolver.js';

/**
 * Which addresses a callback may lead to (contract: "Subscription callback"; EVT-2). The host is resolved when a
 * subscription is created and again at every attempt, and the attempt connects to the addresses returned here and to no
 * others: a name that resolves differently between the check and the connection reaches nothing new.
 */
export interface CallbackPolicy {
  /** CIDRs that are exempt from having to be public, and from the ports (`CALLBACK_ALLOWED_NETWORKS`). */
  allowedNetworks: string[];
  /** Single ports of single addresses that are exempt as well. */
  allowedEndpoints?: readonly Endpoint[] | undefined;
  /** Of public addresses (`CALLBACK_PORTS`); 443 and 8443 by default. */
  ports?: readonly number[] | undefined;
  /** How hosts are resolved; by default through the machine's name servers. */
  resolve?: ResolveHost;
}

/**
 * One answer for a name without an address and one that leads inside, here and in attempts: which names exist inside is nothing for whoever may
 * create subscriptions.
 */
const NO_PUBLIC_HOST = 'must name a host that can be resolved, to public addresses only';

/** Why a callback is refused, with the words for the caller. */
export const CALLBACK_REFUSALS = {
  invalid: 'must be an absolute URL',
  not_https: 'must begin with https://',
  userinfo: 'must not carry a user name or password',
  query: 'must not have a query',
  fragment: 'must not have a fragment',
  unresolvable: NO_PUBLIC_HOST,
  not_public: NO_PUBLIC_HOST,
  port: 'must lead to a port that callbacks may use',
} as const;
export type CallbackRefusal = keyof typeof CALLBACK_REFUSALS;

/** A callback that may be called: its URL and every address its host has now, all of them checked. */
export interface CallbackTarget {
  url: URL;
  addresses: Address[];
}

type Refused = { ok: false; reason: CallbackRefusal };

const HTTPS_PORT = 443;
const throughNameServers = hostResolver();
const addressPolicies = new WeakMap<CallbackPolicy, AddressPolicy>();

/**
 * Checks a callback and returns the addresses an attempt may connect to. Never rejects. Takes as long as its resolver does: the
 * caller has the deadline.
 */
export async function resolveCallback(
  text: string,
  policy: CallbackPolicy,
): Promise<{ ok: true; target: CallbackTarget } | Refused> {
  const parsed = parseCallback(text);
  if (!parsed.ok) return parsed;
  const { url } = parsed;
  const addresses = await addressesOf(url.hostname, policy.resolve ?? throughNameServers);
  if (addresses.length === 0) return { ok: false, reason: 'unresolvable' };
  const addressPolicy = addressPolicyOf(policy);
  // Every address must be allowed: the connection may take any of them.
  const port = Number(url.port || HTTPS_PORT);
  const verdicts = addresses.map(({ address }) => addressPolicy.judge(address, port));
  const refused =
    verdicts.find((verdict) => verdict === 'not_public') ?? verdicts.find((verdict) => verdict === 'port');
  if (!refused) return { ok: true, target: { url, addresses } };
  return { ok: false, reason: refused === 'not_public' && !literalOf(url.hostname) ? 'unresolvable' : refused };
}

/** Checks a callback when a subscription is created. Never rejects; returns within `creation_lookup_ms`. */
export async function checkCallback(text: string, policy: CallbackPolicy): Promise<{ ok: true } | Refused> {
  try {
    const checked = await Deadline.within(LIMITS.creation_lookup_ms, resolveCallback(text, policy));
    return checked.ok ? { ok: true } : checked;
  } catch {
    return { ok: false, reason: 'unresolvable' };
  }
}

/** What the text alone shows. The raw text is tested where the URL parser forgives: an empty query, a stray tab. */
function parseCallback(text: string): { ok: true; url: URL } | Refused {
  if (text.length > LIMITS.callback_url_characters || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    return { ok: false, reason: 'invalid' };
  }
  if (!/^https:\/\//i.test(text)) return { ok: false, reason: 'not_https' };
  if (text.includes('#')) return { ok: false, reason: 'fragment' };
  if (text.includes('?')) return { ok: false, reason: 'query' };
  if (/^https:\/\/[^/]*@/i.test(text)) return { ok: false, reason: 'userinfo' };
  return { ok: true, url: new URL(text) };
}

/** All addresses of a host; none when it cannot be resolved. IP literals arrive in the URL parser's normal form, whatever notation they had. */
async function addressesOf(hostname: string, resolve: ResolveHost): Promise<Address[]> {
  const literal = literalOf(hostname);
  if (literal) return [literal];
  try {
    return await resolve(hostname);
  } catch {
    return [];
  }
}

function literalOf(hostname: string): Address | undefined {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family === 0 ? undefined : { address, family: family === 4 ? 4 : 6 };
}

/** Made once a policy, so that its verdict cache lasts. */
function addressPolicyOf(policy: CallbackPolicy): AddressPolicy {
  const { allowedNetworks: networks, allowedEndpoints: endpoints, ports } = policy;
  const made = addressPolicies.get(policy) ?? new AddressPolicy({ networks, endpoints }, ports);
  addressPolicies.set(policy, made);
  return made;
}
