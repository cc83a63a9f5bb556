import { isIPv6 } from 'node:net';
import { join, relative } from 'node:path';
import { demoReceiver } from './demo-receiver.js';
import type { Config } from './settings/config.js';
import { VERSION } from './version.js';

/** The addresses of a started service. */
export interface Addresses {
  url: string;
  metricsUrl: string;
  /** Null when the provider is not the stand-in network. */
  sandboxControlUrl: string | null;
}

/** Base address of a server on `host`, a name or an address; one of IPv6 is put in brackets (RFC 3986). */
export function baseAddress(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** The one line that programs read from stdout when LOG_FORMAT is json. */
export function readyLine({ url, metricsUrl, sandboxControlUrl }: Addresses): string {
  return JSON.stringify({ ready: true, url, metrics_url: metricsUrl, sandbox_control_url: sandboxControlUrl });
}

/** What a person reads instead: the addresses, the key and first requests to paste. */
export async function banner(config: Config, addresses: Addresses, demoKey: string | null): Promise<string> {
  const rows: [string, string][] = [
    ['address', addresses.url],
    ['reference', `${addresses.url}/docs`],
    ['console', `${addresses.url}/console`],
    ['metrics', addresses.metricsUrl],
  ];
  if (demoKey) {
    const file = relative(process.cwd(), join(config.dataDir, 'demo-key'));
    rows.push(['key', `${demoKey}  (kept in ${file})`]);
  }
  if (addresses.sandboxControlUrl) {
    rows.push(['network', `the stand-in network, steered at ${addresses.sandboxControlUrl}`]);
  }
  const head = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  return [
    '',
    `The service is ready (version ${VERSION}).`,
    '',
    ...head,
    '',
    ...(await story(config, addresses, demoKey)),
    '',
  ].join('\n');
}

async function story(config: Config, addresses: Addresses, demoKey: string | null): Promise<string[]> {
  if (!demoKey) {
    return [
      'Make a key for a workspace:',
      '',
      '  npm run --silent admin -- workspace create --name acme',
      '  npm run --silent admin -- key create --workspace <workspace_id> --scopes connections:read,operations:read',
    ];
  }
  const lines = [
    'Paste this into another terminal (it needs curl and node):',
    '',
    ...shell(config, addresses, demoKey),
  ];
  if (!addresses.sandboxControlUrl) return lines;
  return [...lines, ...(await firstRound(config))];
}

/**
 * Variables and three small functions, so that the requests below stay readable and ids flow from one to the next.
 * No comments among them: zsh takes none at its prompt.
 */
function shell(config: Config, addresses: Addresses, demoKey: string): string[] {
  const gateway = config.gateway
    ? ['-H "Gateway-Access-Client-Id: $GATEWAY_CLIENT_ID"', '-H "Gateway-Access-Client-Secret: $GATEWAY_CLIENT_SECRET"']
    : [];
  const headers = [...gateway, '-H "Authorization: Bearer $KEY"', "-H 'Content-Type: application/json'"].join(' ');
  return [
    `  BASE=${addresses.url}`,
    `  KEY=${demoKey}`,
    ...(addresses.sandboxControlUrl ? [`  CONTROL=${addresses.sandboxControlUrl}`] : []),
    `  api() { curl -sS ${headers} "$@"; echo; }`,
    '  field() { node -pe "JSON.parse(fs.readFileSync(0)).$1"; }',
    '  run() {',
    '    OPERATION=$(api "$BASE/v1/connections/$CONNECTION/operations" -H "Idempotency-Key: $(date +%s)-$RANDOM" \\',
    '      -d "{\\"capability\\":\\"$1\\",\\"input\\":$2}" | field id)',
    '    api "$BASE/v1/operations/$OPERATION" -H "Prefer: wait=30"',
    '  }',
    '',
    '  api "$BASE/v1/connections"',
  ];
}

async function firstRound(config: Config): Promise<string[]> {
  const receiver = await demoReceiver(config.dataDir);
  const callback = `https://${receiver.host}:${receiver.port}/callback`;
  const open =
    config.callbackAllowedEndpoints.some(({ address }) => address === receiver.host) ||
    config.callbackAllowedNetworks?.includes(`${receiver.host}/32`);
  const lines = [
    '',
    '  echo "An account of the stand-in network: any name signs in, with the password sandbox"',
    '  ACCOUNT="ada-$(date +%s)@example.com"',
    '  CONNECTION=$(api "$BASE/v1/connections" \\',
    '    -d "{\\"provider\\":\\"social\\",\\"username\\":\\"$ACCOUNT\\",\\"password\\":\\"sandbox\\",\\"region\\":\\"US\\"}" | field id)',
    "  run social.login '{}'",
    '',
    '  echo "Search people, write to the first one found"',
    '  PERSON=$(run social.people.search \'{"keywords":"engineer","count":3}\' | field "result.people[0].hash_id")',
    '  run social.message.send "{\\"recipient_actor_id\\":\\"$PERSON\\",\\"body\\":\\"Hello from the service\\"}"',
  ];
  if (!open) return lines;
  return [
    ...lines,
    '',
    '  echo "Subscribe the receiver that npm run receiver starts in a third terminal"',
    '  api "$BASE/v1/connections/$CONNECTION/subscriptions" \\',
    `    -d '{"event_types":["message_received"],"callback_url":"${callback}","secret":"${receiver.secret}"}'`,
    '',
    '  echo "Let the other account answer; the receiver shows the signed callback"',
    '  curl -sS "$CONTROL/stream" -H "Content-Type: application/json" \\',
    '    -d "{\\"account\\":\\"$ACCOUNT\\",\\"action\\":\\"emit\\",\\"type\\":\\"message_received\\",\\"data\\":{\\"body\\":\\"Hi back\\"}}"',
  ];
}
