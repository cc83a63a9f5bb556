import type { Answer } from '../actors/deliveries/receiver.js';

/** What a receiver says to make its caller go elsewhere. `{trap}` is an origin of the trap. */
export const LURES: Record<string, { status: number; headers: Record<string, string> }> = {
  metadata: { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' } },
  'metadata-tls': { status: 301, headers: { location: 'https://169.254.169.254/' } },
  loopback: { status: 307, headers: { location: '{trap}/' } },
  'loopback-plain': { status: 308, headers: { location: 'http://127.0.0.1:{port}/' } },
  'loopback-six': { status: 303, headers: { location: 'https://[::1]:{port}/' } },
  protocol: { status: 302, headers: { location: 'file:///etc/passwd' } },
  relative: { status: 302, headers: { location: '/elsewhere' } },
  choices: { status: 300, headers: { location: '{trap}/' } },
  proxy: { status: 305, headers: { location: '{trap}/' } },
  login: { status: 401, headers: { 'www-authenticate': 'Basic realm="{trap}"', location: '{trap}/' } },
  later: { status: 503, headers: { 'retry-after': '0', refresh: '0; url={trap}/' } },
  alternative: { status: 200, headers: { 'alt-svc': 'h2="127.0.0.1:{port}"; ma=3600', 'content-location': '{trap}/' } },
};

/** Answers as the lure that the path names, and 204 on any other path. */
export const lure: Answer = ({ path }, response) => {
  const { status, headers } = LURES[path.slice(1)] ?? { status: 204, headers: {} };
  const port = String(response.socket?.localPort);
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll('{trap}', `https://127.0.0.1:${port}`).replaceAll('{port}', port),
  ]);
  response.writeHead(status, Object.fromEntries(filled)).end();
};
