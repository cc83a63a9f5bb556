import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SCOPES } from '../../storage/model/records.js';
import { openDatabase } from '../../storage/postgres/database.js';
import { connectDatabase } from '../../storage/postgres/embedded/embedded.js';
import { migrate } from '../../storage/schema/migrate.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createWorkspace } from '../../storage/workspaces/workspaces.js';
import type { Answer, Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { linkTo } from '../fixture/link.js';
import { type RunningService, type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { sized } from '../fixture/size.js';

// Each has a database of its own, or a link, and mostly waits.
t.jobs = 3;

const CLIENTS = 8;

const simulated = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
const quiet = { ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false', LOG_LEVEL: 'warn' };

/** What clients saw that repeat each submission with its key until it is accepted. */
interface Seen {
  accepted: Set<string>;
  answers: { client: string; status: number; retryAfter: unknown }[];
  stop(): Promise<void>;
}

async function keepSubmitting(client: Client): Promise<Seen> {
  const connections = await Promise.all(
    Array.from({ length: CLIENTS }, (_, n) => client.connect(simulated(`at-${n}`))),
  );
  const accepted = new Set<string>();
  const answers: Seen['answers'] = [];
  let over = false;
  const submitOnce = async (connection: string, key: string): Promise<Answer> => {
    const answer = await client.submit(connection, 'social.profile.get', { profile_id: 'ada-lovelace' }, key);
    answers.push({ client: connection, status: answer.status, retryAfter: answer.headers['retry-after'] });
    return answer;
  };
  const work = connections.map(async (connection) => {
    while (!over) {
      const key = randomUUID();
      let answer = await submitOnce(connection, key);
      while (answer.status === 503) {
        await delay(100);
        answer = await submitOnce(connection, key);
      }
      accepted.add(String(answer.body.id));
      await delay(20);
    }
  });
  return {
    accepted,
    answers,
    stop: async () => {
      over = true;
      await Promise.all(work);
    },
  };
}

/** Every read that was accepted has succeeded. */
async function allSucceeded(t: Test, { db }: ServiceFixture, { accepted }: Seen): Promise<void> {
  const ended = () =>
    db.query<{ status: string; count: number }>(
      'testStatuses',
      'select status, count(*)::int as count from operation group by status',
    );
  const rows = await eventually(
    'everything has ended',
    () => ended().catch(() => []), // it still recovers
    (found) => found.length > 0 && found.every(({ status }) => !/queued|running|waiting/.test(status)),
  );
  t.strictSame(rows, [{ status: 'succeeded', count: accepted.size }]);
}

const health = async (client: Client) => (await client.send('GET', '/healthz')).status;

/** What a supervisor is told, by the port of the metrics and that of the API. */
async function probes({ client, metricsUrl }: RunningService) {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  return {
    ready: [(await fetch(`${metricsUrl}/readyz`)).status, (await client.send('GET', '/readyz')).status],
    alive: [(await fetch(`${metricsUrl}/livez`)).status, (await client.send('GET', '/livez')).status],
    nodeReady: /^connection_service_node_ready (\d)$/m.exec(metrics)?.[1],
    reachable: /^connection_service_database_reachable (\d)$/m.exec(metrics)?.[1],
  };
}

/** A node that drains, which a request without its body holds up, is not ready at once, and alive to the end. */
async function showsDraining(t: Test, running: RunningService): Promise<void> {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  const head = `Host: x\r\nAuthorization: Bearer ${running.client.key}\r\nContent-Length: 9`;
  socket.write(`POST /v1/connections HTTP/1.1\r\n${head}\r\n\r\n`);
  await once(socket, 'connect');
  t.equal(await health(running.client), 200, 'what came before is read by now');
  running.process.kill('SIGTERM');
  await eventually(
    'it drains',
    () => probes(running),
    ({ ready }) => ready.includes(503),
  );
  t.match(await probes(running), { ready: [503, 503], alive: [200, 200], nodeReady: '0' });
  socket.destroy();
  t.equal(await running.stop(), 0);
}

/** The lines of an outage: one at its begin and one at its end, whoever runs into it. */
function checkLog(t: Test, stderr: string): void {
  const lines = stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { level: number; msg: string; lasted_ms?: number; err?: unknown });
  const told = lines.filter(({ msg }) => !/^(?:no browser found|DATABASE_URL: (?:fsync|autovacuum))/.test(msg)); // of the start, on the suite's server
  t.strictSame(
    told.map(({ level, msg }) => [level, msg]),
    [
      [50, 'database: it cannot be reached'],
      [40, 'database: it can be reached again'],
    ],
    'an outage is told in two lines',
  );
  t.ok(Number(told.at(-1)?.lasted_ms) > 0, 'and how long it lasted');
}

for (const trouble of sized(['deaf'] as const, ['refuse', 'stall', 'deaf'] as const)) {
  t.test(
    `a database that is gone for ten seconds (${trouble}) is answered 503, and everything goes on by itself`,
    async (t) => {
      const fixture = await serviceFixture(t, quiet);
      const { link, url } = await linkTo(t, fixture.databaseUrl);
      fixture.env.DATABASE_URL = url;
      const running = await startService(t, fixture);
      const { client, process: service, stderr } = running;
      const seen = await keepSubmitting(client);
      await eventually(
        'operations are accepted',
        async () => seen.accepted.size,
        (count) => count > 20,
      );
      const known = [...seen.accepted][0];

      if (trouble === 'stall') link.stall('both');
      else link[trouble]();
      await eventually(
        'health is told',
        () => health(client),
        (status) => status === 503,
      );
      for (let asked = 0; asked < 8; asked++) {
        const read = await client.send('GET', `/v1/operations/${known}`);
        t.equal(read.status, 503, 'while it is gone');
        t.equal(read.headers['retry-after'], '1');
        await delay(1_000);
      }
      t.equal(await health(client), 503);
      t.strictSame(await probes(running), { ready: [503, 503], alive: [200, 200], nodeReady: '0', reachable: '0' });
      const refusedMeanwhile = seen.answers.filter(({ status }) => status === 503);
      if (trouble === 'refuse') link.accept();
      else link.pass();
      const before = seen.accepted.size;
      await eventually(
        'submissions are accepted again',
        async () => seen.accepted.size,
        (count) => count > before + CLIENTS,
      );
      // It asks on connections of its own, which find the database for themselves.
      await eventually(
        'health is well again',
        () => health(client),
        (status) => status === 200,
      );
      await seen.stop();

      const refused = seen.answers.filter(({ status }) => status === 503);
      t.ok(refused.length > 0);
      t.ok(refused.every(({ retryAfter }) => retryAfter === '1'));
      const clients = new Set(refusedMeanwhile.map(({ client }) => client));
      t.equal(clients.size, CLIENTS, 'every client is answered while the database is gone');
      t.ok(refusedMeanwhile.length > 2 * CLIENTS, `again and again: ${refusedMeanwhile.length} answers`);
      t.strictSame(
        [...new Set(seen.answers.map(({ status }) => status))].sort(),
        [200, 202, 503].filter((s) => seen.answers.some(({ status }) => status === s)),
      );
      await allSucceeded(t, fixture, seen);
      t.equal(service.exitCode, null);
      await eventually('its end is told', stderr, (text) => text.includes('can be reached again'));
      checkLog(t, stderr());
      await eventually(
        'the node is ready again',
        () => probes(running),
        ({ ready }) => ready.every((status) => status === 200),
      );
      t.strictSame(await probes(running), { ready: [200, 200], alive: [200, 200], nodeReady: '1', reachable: '1' });

      if (trouble === 'refuse') await showsDraining(t, running);
    },
  );
}

/** A fixture on a PostgreSQL of its own, which may be hurt: the others' tests share theirs. */
async function fixtureOfItsOwn(t: Test): Promise<ServiceFixture> {
  const dataDir = await mkdtemp(join(tmpdir(), 'outage-'));
  const server = await connectDatabase({
    dataDir: join(dataDir, 'database'),
    exclusive: true,
    settings: ['fsync=off'],
  });
  await migrate(server.url);
  const db = openDatabase({ url: server.url, maxConnections: 4, applicationName: 'test', onError: () => {} });
  t.teardown(async () => {
    await db.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const workspace = await createWorkspace(db, 'test');
  const created = await createKey(db, { workspaceId: workspace.id, name: 'test', scopes: SCOPES, expiresAt: null });
  const env = {
    ...{ DATABASE_URL: server.url, DATA_DIR: dataDir, PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json' },
    ...{ ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`, ...quiet },
  };
  return { databaseUrl: server.url, db, dataDir, workspaceId: workspace.id, key: created?.key ?? '', env };
}

t.test('a database that crashes and recovers with everything at work costs nobody a process or a thread', async (t) => {
  const fixture = await fixtureOfItsOwn(t);
  const { client, process: service, stderr } = await startService(t, fixture);
  const seen = await keepSubmitting(client);
  for (let crash = 1; crash <= 2; crash++) {
    const before = seen.accepted.size;
    await eventually(
      'operations are accepted',
      async () => seen.accepted.size,
      (count) => count > before + 40,
    );
    // PostgreSQL ends all its sessions when one of its processes is killed, and recovers as after a loss of power.
    const backends = () =>
      fixture.db
        .query<{ pid: number }>(
          'testBackends',
          `select pid from pg_stat_activity where application_name like '%actors-0'`,
        )
        .catch(() => undefined); // it recovers
    const found = await eventually('a thread is connected', backends, (rows) => rows?.[0] !== undefined);
    const { pid } = found![0]!;
    process.kill(pid, 'SIGKILL');
    await eventually('the database has recovered', backends, (rows) => rows?.every((row) => row.pid !== pid) === true);
  }
  await seen.stop();
  await allSucceeded(t, fixture, seen);
  t.equal(service.exitCode, null);
  t.equal(service.signalCode, null);
  t.notMatch(stderr(), /thread: it died/);
  t.equal(await health(client), 200);
});

t.test('slow requests of one workspace delay no lease: each ends in time, and is answered 503', async (t) => {
  const fixture = await serviceFixture(t, quiet);
  const { client } = await startService(t, fixture);
  const connection = await client.connect(simulated('locked'));
  const leases = async () => {
    const [row] = await fixture.db.query<{ valid: number; epochs: number }>(
      'testLease',
      `select count(*) filter (where lease_until > now())::int as valid, sum(epoch)::int as epochs from partition`,
    );
    return row!;
  };
  const before = await leases();
  const held = Promise.withResolvers<void>();
  const locked = fixture.db.transaction(async (tx) => {
    await tx.query('testLock', 'select id from connection where id = $1 for update', [connection]);
    await held.promise;
  });
  let looking = true;
  const slow = Array.from({ length: 20 }, async () => {
    const answers: Answer[] = [];
    while (looking) answers.push(await client.send('POST', `/v1/connections/${connection}/disconnect`));
    return answers;
  });
  const healthy: boolean[] = [];
  // For longer than a lease lasts.
  for (let look = 0; look < 40; look++) {
    t.strictSame(await leases(), before, 'every lease is valid, and of the same owner');
    healthy.push((await health(client)) === 200);
    await delay(250);
  }
  looking = false;
  held.resolve();
  await locked;
  const answers = (await Promise.all(slow)).flat();
  // One may be late for want of a processor; if it waited for the requests, all would be.
  t.ok(healthy.filter(Boolean).length >= healthy.length * 0.9, 'health waits for no request');
  const refused = answers.filter(({ status }) => status === 503);
  t.ok(refused.length >= slow.length, `${refused.length} refused`);
  const codes = ['unavailable', 'overloaded']; // its statement reached its limit, or it could not even begin
  t.ok(refused.every(({ headers, body }) => headers['retry-after'] === '1' && codes.includes(String(body.code))));
  t.equal(answers.filter(({ status }) => status >= 500 && status !== 503).length, 0);
  t.equal((await client.send('POST', `/v1/connections/${connection}/disconnect`)).status, 200);
});
