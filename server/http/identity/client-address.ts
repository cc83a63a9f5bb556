import ipaddr from 'ipaddr.js';

/** Where a request comes from, as its connection and the proxies before it tell. */
export interface AddressParts {
  /** The other end of the connection, as text; '' once it went away. */
  peer: string;
  /** The header of that name; each proxy appends whom it got the request from, some of them with the port. */
  forwardedFor: string;
}

/** The client's address: IPv4 in four numbers, IPv6 in eight groups in full; '' when it is not known, which is in no network. */
export type ClientAddress = (parts: AddressParts) => string;

/**
 * Of proxies that are trusted (`TRUSTED_PROXIES`) what they say counts, from the last one back to the first that is not: a client can
 * write whatever it likes in front of that. When a trusted proxy names no address, it is not known: a proxy's own would open keys
 * that are bound to the network in which the proxies are.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = trustedProxies.map((network) => ipaddr.parseCIDR(network));
  const isTrusted = (address: Address) => isWithin(address, trusted);
  return ({ peer, forwardedFor }) => {
    const told = forwardedFor === '' ? [] : forwardedFor.split(',');
    let client = parsed(peer);
    for (let next = told.pop(); next !== undefined && client && isTrusted(client); next = told.pop()) {
      client = parsed(withoutPort(next.trim()));
    }
    return client ? written(client) : '';
  };
}

/** Whether a text names a network, as `isInNetworks` takes them. */
export const isNetwork = (text: string): boolean => ipaddr.isValidCIDR(text);

/** Whether an address, as `ClientAddress` gives it, is in one of these networks. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const client = parsed(address);
  return (
    client !== undefined &&
    isWithin(
      client,
      networks.map((network) => ipaddr.parseCIDR(network)),
    )
  );
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** `198.51.100.7:4711` and `[2001:db8::7]:4711` are what some proxies write. */
function withoutPort(text: string): string {
  const { groups } = /^(?:(?<v4>[\d.]+)|\[(?<v6>[^\]]+)\])(?::\d+)?$/.exec(text) ?? {};
  return groups?.v4 ?? groups?.v6 ?? text;
}

/** An address of IPv4 that is written as one of IPv6 is that of IPv4. */
function parsed(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function written(address: Address): string {
  if (!('parts' in address)) return address.toString();
  return address.parts.map((group) => group.toString(16).padStart(4, '0')).join(':');
}

function isWithin(address: Address, networks: readonly [Address, number][]): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}
