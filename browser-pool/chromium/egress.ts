import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Where traffic of no session goes: a proxy that does not exist. */
const NOWHERE = 'http://nowhere.invalid:1';

/** What addresses end in. No top-level domain ends in a digit, so that these patterns let no name through. */
const DIGITS = [...'0123456789'];

/**
 * The arguments that leave a browser no way out but its contexts' proxies: what a page does over UDP (WebRTC, QUIC) or asks
 * a resolver for would show the address of this machine to whoever it chooses, and what went to loopback would reach the
 * service's own ports. `names` are the hosts that the browser resolves itself.
 */
export function egressArguments(names: Iterable<string>): string[] {
  const excluded = [...DIGITS.map((digit) => `*.*.*.*${digit}`), '*:*', ...names];
  return [
    `--proxy-server=${NOWHERE}`,
    '--proxy-bypass-list=<-loopback>',
    // Chromium takes `^NOTFOUND` for "no such host"; the older `~NOTFOUND` is a name to it that it asks the resolver for.
    `--host-resolver-rules=${['MAP * ^NOTFOUND', ...excluded.map((pattern) => `EXCLUDE ${pattern}`)].join(' , ')}`,
    // The first is the headless shell's and older Chromium's, the second that of newer Chromium.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
  ];
}

/** The host that the browser itself has to resolve for this proxy: one that has to prove its name over TLS. Else null. */
export function nameToResolve(server: string): string | null {
  const { protocol, hostname } = new URL(server);
  return protocol === 'https:' && !isAddress(hostname) ? hostname : null;
}

/** The proxy's server with its address for its name, unless the browser resolves it. Rejects when it has none. */
export async function resolvedProxy(server: string): Promise<string> {
  const { protocol, hostname, port } = new URL(server);
  if (isAddress(hostname) || nameToResolve(server) !== null) return server;
  const { address, family } = await lookup(hostname, { order: 'ipv4first' });
  return `${protocol}//${family === 6 ? `[${address}]` : address}${port && `:${port}`}`;
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
