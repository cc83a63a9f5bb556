import t, { type Test } from 'tap';
import { mapConcurrent } from '../../bench/kit/map-concurrent.js';
import { type CanaryHits, canaryListener, NO_HITS } from '../fixture/canary-listener.js';
import { authority } from '../fixture/certificates.js';
import type { Client } from '../fixture/client.js';
import { type Receiver, receiver } from '../fixture/https-receiver.js';
import { type NameServer, nameServer, type ZoneRecord } from '../fixture/name-server.js';
import { answerWithPayload, REDIRECT_PAYLOADS } from '../fixture/redirect-payloads.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { attempts, connect, emit, subscribe, trusting } from '../fixture/webhooks.js';
import { HOSTILE, hostileZone } from './hostile-urls.js';

/** The one address of this machine that counts as public in this file. Callbacks must not reach any other. */
const OPEN = '127.10.0.1';
const GOOD = 'good.hooks.test';
const certificates = await authority();
const certificate = await certificates.issue({ host: '*.hooks.test' });

/** What all tests of this file use. */
interface HostileFixture {
  service: ServiceFixture;
  client: Client;
  names: NameServer;
  hook: Receiver;
  canary: CanaryHits;
}

/** The service as its own process, resolving by a name server of this test; its proxy variables lead to the canary listener. */
async function hostileFixture(t: Test): Promise<HostileFixture> {
  const names = await nameServer(t);
  for (const [name, entry] of hostileZone(OPEN)) names.zone.set(name, entry);
  const hook = await receiver(t, certificate, answerWithPayload, OPEN);
  const canary = await canaryListener(t, hook.port);
  const service = await serviceFixture(t, {
    ...(await trusting(t, certificates.ca)),
    CALLBACK_ALLOWED_NETWORKS: `${OPEN}/32`,
    CALLBACK_DNS_SERVERS: names.address,
    DESTINATION_SUBSCRIPTIONS: '1000',
    HTTPS_PROXY: `http://127.0.0.1:${hook.port}`,
    NODE_USE_ENV_PROXY: '1',
  });
  const { client } = await startService(t, service);
  return { service, client, names, hook, canary };
}

const fixture = await hostileFixture(t);
const { client, names, hook } = fixture;
t.jobs = 4; // most of the time is spent waiting for name servers and retries

/** The requests that have come to these paths. */
const cameTo = (paths: string[]) => hook.received.filter(({ path }) => paths.includes(path));

t.test(
  `${HOSTILE.length} hostile callbacks are refused at creation, and blocked when they are stored all the same`,
  { buffered: true },
  async (t) => {
    const connection = await connect(client);
    const rows = HOSTILE.map((row) => ({ ...row, url: row.url.replaceAll('{port}', String(hook.port)) }));
    const answers = await Promise.all(
      rows.map(({ url }) =>
        client.send('POST', `/v1/connections/${connection}/subscriptions`, {
          event_types: ['message_received'],
          callback_url: url,
        }),
      ),
    );
    for (const [i, { status, body }] of answers.entries()) {
      const { code, errors } = body as { code: string; errors?: { path: string }[] };
      t.strictSame(
        [status, code, errors?.map(({ path }) => path)],
        [400, 'validation_error', ['body.callback_url']],
        JSON.stringify(rows[i]!.url.slice(0, 80)),
      );
    }
    const listed = await client.send('GET', `/v1/connections/${connection}/subscriptions`);
    t.strictSame(listed.body.subscriptions, [], 'nothing is left of them');

    const good = `https://${GOOD}:${hook.port}/hook`;
    const control = await subscribe(client, connection, good);
    // A few at a time: creations on one connection take turns, and more would be refused on a busy machine.
    const subscribed = async ({ url, error }: (typeof rows)[number]) => {
      return { url, error, id: await subscribe(client, connection, good) };
    };
    const stored = await mapConcurrent(rows, subscribed);
    for (const { id, url } of stored) {
      await fixture.service.db.query(
        'testCallback',
        'update subscription set callback_url = $2, callback_url_sealed = null, destination = null where id = $1',
        [id, url.replace('\0', '%00')],
      );
    }
    await emit(client, connection);
    t.match(await attempts(client, control), [{ outcome: 'delivered' }], 'the one that is public is called');
    for (const { id, url, error } of stored) {
      const [first] = await attempts(client, id);
      t.match(
        first,
        { outcome: 'failed', status_code: null, error: error ?? 'blocked' },
        JSON.stringify(url.slice(0, 80)),
      );
    }
    t.equal(cameTo(['/hook']).length, 1);
    t.strictSame(fixture.canary, NO_HITS, 'not a connection, not a byte');
  },
);

/** Names that were public when the subscription was made, and what they resolve to when it is called: all attempts end alike. */
const REBOUND: [name: string, becomes: ZoneRecord[]][] = [
  ['loopback', [{ a: '127.0.0.1' }]],
  ['loopback-six', [{ aaaa: '::1' }]],
  ['other-loopback', [{ a: '127.10.0.2' }]],
  ['added', [{ a: OPEN }, { a: '127.0.0.1' }]],
  ['added-six', [{ a: OPEN }, { aaaa: '::1' }]],
  ['mapped', [{ aaaa: '::ffff:7f00:1' }]],
  ['mapped-open', [{ aaaa: '::ffff:7f0a:1' }]],
  ['metadata', [{ a: '169.254.169.254' }]],
  ['any-address', [{ a: '0.0.0.0' }]],
  ['alias', [{ cname: 'private.hooks.test' }]],
  ['alias-mixed', [{ cname: 'mixed.hooks.test' }]],
  ['gone', []],
];

t.test(
  'a name that turns private after the subscription was made is blocked, kept connection or not',
  { buffered: true },
  async (t) => {
    const connection = await connect(client);
    const paths = REBOUND.map(([name]) => `/rebound-${name}`);
    for (const [name] of REBOUND) names.zone.set(`rebound-${name}.hooks.test`, [{ a: OPEN }]);
    const ids: string[] = [];
    for (const [name] of REBOUND)
      ids.push(await subscribe(client, connection, `https://rebound-${name}.hooks.test:${hook.port}/rebound-${name}`));
    await emit(client, connection);
    for (const [i, id] of ids.entries())
      t.match(await attempts(client, id), [{ outcome: 'delivered' }], REBOUND[i]![0]);
    t.equal(cameTo(paths).length, REBOUND.length);
    for (const [name, becomes] of REBOUND) names.zone.set(`rebound-${name}.hooks.test`, becomes);
    await emit(client, connection);
    for (const [i, id] of ids.entries()) {
      const twice = await attempts(client, id, 2);
      const [name] = REBOUND[i]!;
      const error = 'dns';
      t.match(twice[0], { sequence: 1, outcome: 'failed', status_code: null, error }, name);
      t.match(twice[1], { sequence: 2, outcome: 'failed', status_code: null, error }, `${name}, at the retry`);
    }
    t.equal(cameTo(paths).length, REBOUND.length, 'the connection that is still open is not used either');
    t.strictSame(fixture.canary, NO_HITS);
  },
);

t.test(
  'a name that answers otherwise at every question is connected to as it was checked',
  { buffered: true },
  async (t) => {
    const connection = await connect(client);
    const flipping = 'flip.hooks.test';
    names.zone.set(flipping, [{ a: OPEN }]);
    const id = await subscribe(client, connection, `https://${flipping}:${hook.port}/flip`);
    names.zone.set(flipping, (time) => [{ a: time % 2 === 0 ? OPEN : '127.0.0.1' }]);
    const seen = new Set<string>();
    while (seen.size < 2) {
      await emit(client, connection);
      for (const { error, outcome } of await attempts(client, id)) seen.add(error ?? outcome);
    }
    t.strictSame(seen, new Set(['dns', 'delivered']));
    t.ok(cameTo(['/flip']).length > 0);
    t.strictSame(fixture.canary, NO_HITS, 'the name is not asked again between the check and the connection');
  },
);

t.test('a receiver cannot redirect its caller to another place', { buffered: true }, async (t) => {
  const connection = await connect(client);
  const names = Object.keys(REDIRECT_PAYLOADS);
  const ids: string[] = [];
  for (const name of names) ids.push(await subscribe(client, connection, `https://${GOOD}:${hook.port}/${name}`));
  await emit(client, connection);
  for (const [i, id] of ids.entries()) {
    const { status } = REDIRECT_PAYLOADS[names[i] as string]!;
    const expected = status === 200 ? { outcome: 'delivered', error: null } : { outcome: 'failed', error: 'status' };
    const enough = status === 200 ? 1 : 2;
    for (const attempt of await attempts(client, id, enough))
      t.match(attempt, { ...expected, status_code: status }, names[i]!);
  }
  const came = names.map((name) => cameTo([`/${name}`]).length);
  t.ok(
    came.every((count, i) => count >= 1 && (count >= 2 || REDIRECT_PAYLOADS[names[i]!]!.status === 200)),
    'each was called itself',
  );
  t.equal(cameTo(['/', '/elsewhere', '/etc/passwd', '/latest/meta-data/']).length, 0);
  t.strictSame(fixture.canary, NO_HITS);
});
