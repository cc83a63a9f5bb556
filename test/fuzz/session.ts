import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { Agent, request } from 'undici';
import type { Database } from '../../storage/postgres/database.js';
import { allTold } from '../fixture/announcements.js';
import { eventually } from '../fixture/eventually.js';
import { type RunningService, serviceFixture, startService } from '../fixture/service.js';
import { sized } from '../fixture/size.js';
import { closed } from '../fixture/sockets.js';
import { insertDeliveries } from '../server/rows.js';

/** How many inputs of each property: a modest number in the suite, more at length and with FUZZ_RUNS. FUZZ_SEED repeats a run. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? sized(6, 500));
export const SEED = Number(process.env.FUZZ_SEED ?? randomBytes(4).readUInt32BE());

export interface Reply {
  status: number;
  text: string;
}

/** A service with a row of everything in it, and what a fuzz test needs of it. */
export interface Fuzzed {
  service: RunningService;
  db: Database;
  ids: { connection: string; spare: string; operation: string; subscription: string; event: string; delivery: string };
  /** Sends these bytes; rejects when no answer came within the deadline. */
  send(method: string, path: string, body: Buffer | undefined, headers: Record<string, string>): Promise<Reply>;
  /** Writes to a socket of its own and gives what came back before it closed or `quiet_ms` passed. */
  raw(bytes: Buffer, quiet_ms: number, reset: boolean): Promise<string>;
  /** How many rows each table has, once what was accepted has ended. */
  rows(): Promise<Record<string, number>>;
  /** Nothing was logged as an unexpected failure, and the service answers. */
  well(t: Test): Promise<void>;
}

const TABLES = [
  ...['workspace', 'api_key', 'regional_proxy', 'connection', 'operation', 'idempotency_tombstone', 'subscription'],
  ...['event', 'delivery', 'delivery_attempt'],
];
const ANSWER_ms = 20_000;

/** In a service of its own, which the tests of a file share. */
export async function fuzzed(t: Test): Promise<Fuzzed> {
  const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', LOG_LEVEL: 'error' });
  const service = await startService(t, fixture);
  const ids = await insertIds(fixture.db, service);
  const agent = new Agent({ headersTimeout: ANSWER_ms, bodyTimeout: ANSWER_ms });
  t.teardown(() => agent.close());
  return {
    service,
    db: fixture.db,
    ids,
    async send(method, path, body, headers) {
      const answer = await request(service.url + path, {
        method: method as 'GET',
        dispatcher: agent,
        headers: { authorization: `Bearer ${fixture.key}`, ...headers },
        ...(body && { body }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    raw: (bytes, quiet_ms, reset) => writeRaw(new URL(service.url), bytes, quiet_ms, reset),
    rows: () => countRows(fixture.db),
    async well(t) {
      const { client } = service;
      t.equal(service.process.exitCode, null, 'the process still runs');
      t.match(await client.send('GET', '/healthz'), { status: 200, body: { status: 'ok' } }, 'it is healthy');
      t.match(await client.run(ids.connection, 'social.login'), { status: 'succeeded' }, 'a disconnect is made good');
      t.match(await client.run(ids.connection, 'social.identity.get'), { status: 'succeeded' }, 'it still works');
      t.equal(service.stderr(), '', 'nothing was logged as a failure');
    },
  };
}

/** One of everything that a path can name. */
async function insertIds(db: Database, { client }: RunningService): Promise<Fuzzed['ids']> {
  const person = (id: string) => client.connect({ provider: 'simulated', external_actor: { kind: 'person', id } });
  const [connection, spare] = [await person('ada'), await person('spare')];
  const operation = (await client.run(connection, 'social.identity.get')).id;
  const [row] = await db.query<{ id: string }>(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), workspace_id, id, partition, '{message_sent}', 'https://198.51.100.1/', false, '\\x00'
     from connection where id = $1 returning id`,
    [connection],
  );
  const subscription = row?.id ?? '';
  const { events, deliveries } = await insertDeliveries(db, subscription, ['delivered']);
  return { connection, spare, operation, subscription, event: events[0] ?? '', delivery: deliveries[0] ?? '' };
}

async function writeRaw({ port, hostname }: URL, bytes: Buffer, quiet_ms: number, reset: boolean): Promise<string> {
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  const ended = closed(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  if (reset) socket.resetAndDestroy();
  else await Promise.race([ended, delay(quiet_ms)]); // what must not come has no signal
  socket.destroy();
  await ended;
  return received;
}

const DELETED = `(select id from connection where deleted_at is not null limit 1)
  union all (select id from subscription where deleted_at is not null limit 1)`;

async function countRows(db: Database): Promise<Record<string, number>> {
  await eventually(
    'every accepted operation has ended',
    () => db.query('testLive', `select id from operation where status in ('queued', 'running') limit 1`),
    (rows) => rows.length === 0,
  );
  // Its rows go by themselves, a while after it.
  await eventually(
    'what was deleted is gone',
    () => db.query('testDeleted', DELETED),
    (rows) => rows.length === 0,
  );
  await allTold(db);
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const [count] = await db.query<{ n: number }>(`testRows_${table}`, `select count(*)::int as n from ${table}`);
    counts[table] = count?.n ?? -1;
  }
  return counts;
}
