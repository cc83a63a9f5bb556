import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { until } from '../actors/deliveries/host.js';
import { type Answer, authority, type Receiver, receiver } from '../actors/deliveries/receiver.js';
import type { Client } from '../fixture/client.js';
import { type NameServer, nameServer, type ZoneRecord } from '../fixture/name-server.js';
import { type ServiceGround, serviceGround, startService } from '../fixture/service.js';
import { HOSTILE, hostileZone } from './hostile-urls.js';

/** The one address of this machine that counts as public here. Everything else is what callbacks must not reach. */
const OPEN = '127.10.0.1';
const GOOD = 'good.hooks.test';
const certificates = await authority();
const certificate = await certificates.issue({ host: '*.hooks.test' });

/** Listens on every address of the machine but the open one, on the receiver's port, and counts who comes. */
interface Trap {
  connections: string[];
  bytes: number;
}

async function trap(t: Test, port: number): Promise<Trap> {
  const caught: Trap = { connections: [], bytes: 0 };
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  // A link-local address cannot be bound without its zone.
  const addresses = own.map(({ address }) => address).filter((address) => !address.startsWith('fe80'));
  for (const address of new Set([...addresses, '127.0.0.1', '127.0.0.2', '::1'])) {
    const server = net.createServer((socket) => {
      caught.connections.push(`${socket.localAddress} from ${socket.remoteAddress}`);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        caught.bytes += chunk.length;
        socket.destroy();
      });
    });
    t.teardown(() => server.close());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve));
  }
  return caught;
}

/** What the whole file stands on. */
interface Ground {
  ground: ServiceGround;
  client: Client;
  names: NameServer;
  hook: Receiver;
  trap: Trap;
}

/** The same, and a connection of one test. */
interface Story extends Ground {
  connection: string;
}

/** The service as its own process, resolving by a name server of this test; its proxy variables lead into the trap. */
async function common(t: Test, answer: Answer): Promise<Ground> {
  const dir = await mkdtemp(join(tmpdir(), 'callbacks-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const CALLBACK_CA_FILE = join(dir, 'ca.pem');
  await writeFile(CALLBACK_CA_FILE, certificates.ca);
  const names = await nameServer(t);
  for (const [name, entry] of hostileZone(OPEN)) names.zone.set(name, entry);
  const hook = await receiver(t, certificate, answer, OPEN);
  const caught = await trap(t, hook.port);
  const ground = await serviceGround(t, {
    CALLBACK_ALLOWED_NETWORKS: `${OPEN}/32`,
    CALLBACK_CA_FILE,
    CALLBACK_DNS_SERVERS: names.address,
    BROWSER_PATH: '/bin/false',
    HTTPS_PROXY: `http://127.0.0.1:${hook.port}`,
    NODE_USE_ENV_PROXY: '1',
  });
  const { client } = await startService(t, ground);
  return { ground, client, names, hook, trap: caught };
}

/** What a receiver says to make its caller go elsewhere. `{trap}` is an origin of the trap. */
const LURES: Record<string, { status: number; headers: Record<string, string> }> = {
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
const lure: Answer = ({ path }, response) => {
  const { status, headers } = LURES[path.slice(1)] ?? { status: 204, headers: {} };
  const port = String(response.socket?.localPort);
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll('{trap}', `https://127.0.0.1:${port}`).replaceAll('{port}', port),
  ]);
  response.writeHead(status, Object.fromEntries(filled)).end();
};

const shared = await common(t, lure);
t.jobs = 4; // most of the time goes by waiting for name servers and retries

async function story(actor: string): Promise<Story> {
  const connection = await shared.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: actor },
  });
  return { ...shared, connection };
}

/** The requests that have come to these paths. */
const cameTo = ({ hook }: Ground, paths: string[]) => hook.received.filter(({ path }) => paths.includes(path));

const subscribe = ({ client, connection }: Story, callback_url: string) =>
  client.send('POST', `/v1/connections/${connection}/subscriptions`, {
    event_types: ['message_received'],
    callback_url,
  });

async function subscribed(story: Story, url: string): Promise<string> {
  const { status, body } = await subscribe(story, url);
  if (status !== 201) throw new Error(`${url}: ${status} ${JSON.stringify(body)}`);
  return String(body.id);
}

async function emit({ client, connection }: Story): Promise<string> {
  const { body } = await client.send('POST', `/v1/connections/${connection}/simulated-events`, {
    type: 'message_received',
    data: {},
  });
  return String(body.id);
}

interface Attempt {
  sequence: number;
  outcome: string;
  status_code: number | null;
  error: string | null;
}

/** The attempts of a subscription's newest delivery, once `enough` of them are over. */
async function attempts({ client }: Story, subscription: string, enough = 1): Promise<Attempt[]> {
  const over = await until(
    async () => {
      const { body } = await client.send('GET', `/v1/subscriptions/${subscription}/deliveries`);
      const [newest] = body.deliveries as { id: string }[];
      if (!newest) return [];
      const detail = await client.send('GET', `/v1/deliveries/${newest.id}`);
      return (detail.body.attempts as Attempt[]).filter(({ outcome }) => outcome !== 'sending');
    },
    (rows) => rows.length >= enough,
  );
  return over;
}

const EMPTY: Trap = { connections: [], bytes: 0 };

t.test(
  `${HOSTILE.length} hostile callbacks are refused at creation, and blocked when they are stored all the same`,
  { buffered: true },
  async (t) => {
    const here = await story('hostile');
    const { ground, hook } = here;
    const rows = HOSTILE.map((row) => ({ ...row, url: row.url.replaceAll('{port}', String(hook.port)) }));
    const answers = await Promise.all(rows.map(({ url }) => subscribe(here, url)));
    for (const [i, { status, body }] of answers.entries()) {
      const { code, errors } = body as { code: string; errors?: { path: string }[] };
      t.strictSame(
        [status, code, errors?.map(({ path }) => path)],
        [400, 'validation_error', ['body.callback_url']],
        JSON.stringify(rows[i]!.url.slice(0, 80)),
      );
    }
    const listed = await here.client.send('GET', `/v1/connections/${here.connection}/subscriptions`);
    t.strictSame(listed.body.subscriptions, [], 'nothing is left of them');

    const good = `https://${GOOD}:${hook.port}/hook`;
    const control = await subscribed(here, good);
    const stored = await Promise.all(
      rows.map(async ({ url, error }) => ({ url, error, id: await subscribed(here, good) })),
    );
    for (const { id, url } of stored) {
      await ground.db.query('testCallback', 'update subscription set callback_url = $2 where id = $1', [
        id,
        url.replace('\0', '%00'),
      ]);
    }
    await emit(here);
    t.match(await attempts(here, control), [{ outcome: 'delivered' }], 'the one that is public is called');
    for (const { id, url, error } of stored) {
      const [first] = await attempts(here, id);
      t.match(
        first,
        { outcome: 'failed', status_code: null, error: error ?? 'blocked' },
        JSON.stringify(url.slice(0, 80)),
      );
    }
    t.equal(cameTo(here, ['/hook']).length, 1);
    t.strictSame(here.trap, EMPTY, 'not a connection, not a byte');
  },
);

/** Names that were public when the subscription was made, and what they say when it is called. */
const TURNED: [name: string, becomes: ZoneRecord[], error: string][] = [
  ['loopback', [{ a: '127.0.0.1' }], 'blocked'],
  ['loopback-six', [{ aaaa: '::1' }], 'blocked'],
  ['other-loopback', [{ a: '127.10.0.2' }], 'blocked'],
  ['added', [{ a: OPEN }, { a: '127.0.0.1' }], 'blocked'],
  ['added-six', [{ a: OPEN }, { aaaa: '::1' }], 'blocked'],
  ['mapped', [{ aaaa: '::ffff:7f00:1' }], 'blocked'],
  ['mapped-open', [{ aaaa: '::ffff:7f0a:1' }], 'blocked'],
  ['metadata', [{ a: '169.254.169.254' }], 'blocked'],
  ['any-address', [{ a: '0.0.0.0' }], 'blocked'],
  ['alias', [{ cname: 'private.hooks.test' }], 'blocked'],
  ['alias-mixed', [{ cname: 'mixed.hooks.test' }], 'blocked'],
  ['gone', [], 'dns'],
];

t.test(
  'a name that turns private after the subscription was made is blocked, kept connection or not',
  { buffered: true },
  async (t) => {
    const here = await story('turned');
    const { names, hook } = here;
    const paths = TURNED.map(([name]) => `/turned-${name}`);
    for (const [name] of TURNED) names.zone.set(`turned-${name}.hooks.test`, [{ a: OPEN }]);
    const ids = await Promise.all(
      TURNED.map(([name]) => subscribed(here, `https://turned-${name}.hooks.test:${hook.port}/turned-${name}`)),
    );
    await emit(here);
    for (const [i, id] of ids.entries()) t.match(await attempts(here, id), [{ outcome: 'delivered' }], TURNED[i]![0]);
    t.equal(cameTo(here, paths).length, TURNED.length);
    for (const [name, becomes] of TURNED) names.zone.set(`turned-${name}.hooks.test`, becomes);
    await emit(here);
    for (const [i, id] of ids.entries()) {
      const twice = await attempts(here, id, 2);
      const [name, , error] = TURNED[i]!;
      t.match(twice[0], { sequence: 1, outcome: 'failed', status_code: null, error }, name);
      t.match(twice[1], { sequence: 2, outcome: 'failed', status_code: null, error }, `${name}, at the retry`);
    }
    t.equal(cameTo(here, paths).length, TURNED.length, 'the connection that is still open is not used either');
    t.strictSame(here.trap, EMPTY);
  },
);

t.test(
  'a name that answers otherwise at every question is connected to as it was checked',
  { buffered: true },
  async (t) => {
    const here = await story('flipping');
    const { names, hook } = here;
    const flipping = 'flip.hooks.test';
    names.zone.set(flipping, (time) => [{ a: time % 2 === 1 ? OPEN : '127.0.0.1' }]);
    const id = await subscribed(here, `https://${flipping}:${hook.port}/flip`);
    const before = names.asked(flipping);
    await emit(here);
    const log = await attempts(here, id, 2);
    t.match(log, [
      { outcome: 'failed', error: 'blocked', status_code: null },
      { outcome: 'delivered', status_code: 204 },
    ]);
    t.equal(names.asked(flipping) - before, 2, 'one question an attempt, none between the check and the connection');
    t.equal(cameTo(here, ['/flip']).length, 1);
    t.strictSame(here.trap, EMPTY);
  },
);

t.test('a receiver cannot lead its caller to another place', { buffered: true }, async (t) => {
  const here = await story('lured');
  const { hook } = here;
  const names = Object.keys(LURES);
  const ids = await Promise.all(names.map((name) => subscribed(here, `https://${GOOD}:${hook.port}/${name}`)));
  await emit(here);
  for (const [i, id] of ids.entries()) {
    const { status } = LURES[names[i] as string]!;
    const said = status === 200 ? { outcome: 'delivered', error: null } : { outcome: 'failed', error: 'status' };
    const enough = status === 200 ? 1 : 2;
    for (const attempt of await attempts(here, id, enough))
      t.match(attempt, { ...said, status_code: status }, names[i]!);
  }
  const came = names.map((name) => cameTo(here, [`/${name}`]).length);
  t.ok(
    came.every((count, i) => count >= 1 && (count >= 2 || LURES[names[i]!]!.status === 200)),
    'each was called itself',
  );
  t.equal(cameTo(here, ['/', '/elsewhere', '/etc/passwd', '/latest/meta-data/']).length, 0);
  t.strictSame(here.trap, EMPTY);
});
