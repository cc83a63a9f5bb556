import { pino } from 'pino';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../storage/limits.js';
import { createLogger } from '../../../../storage/log/log.js';
import { classesOf, PASS_OVER } from '../../../../storage/maintenance/retention/classes.js';
import { ageOf } from '../../../../storage/maintenance/retention/erasure.js';
import { eraseGaps } from '../../../../storage/maintenance/retention/gaps.js';
import { type RetentionStats, retention } from '../../../../storage/maintenance/retention/retention.js';
import { takeTurn, throughSince_s } from '../../../../storage/maintenance/retention/turn.js';
import type { DeliveryStatus } from '../../../../storage/model/records.js';
import { type Database, openDatabase } from '../../../../storage/postgres/database.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';

import { insertDeliveries } from '../../../server/rows.js';
import {
  daysAgo_ms,
  eraseAll,
  idsOf,
  insertAttempt,
  insertGap,
  insertSubscription,
  letTurn,
  nextTurn,
  onlyDays,
} from './fixture.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});

async function oneConnection(
  t: Test,
): Promise<{ url: string; db: Database; connectionId: string; subscriptionId: string }> {
  const { url, db } = await freshDatabase(t);
  const { id: connectionId } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  return { url, db, connectionId, subscriptionId: await insertSubscription(db, connectionId) };
}

t.test('without days nothing goes, and nothing is looked at', async (t) => {
  const { db, connectionId } = await oneConnection(t);
  const gap = await insertGap(db, connectionId, daysAgo_ms(400), daysAgo_ms(399));
  t.equal(await takeTurn(db, onlyDays({})), undefined);
  const off = retention({ db, log, days: onlyDays({}) });
  off.start();
  await off.ended;
  t.strictSame(await idsOf(db, 'listener_gap'), [gap]);
});

t.test('gaps go by when they were closed; an open one stays until it was closed for so long', async (t) => {
  const { db, connectionId } = await oneConnection(t);
  await insertGap(db, connectionId, daysAgo_ms(40), daysAgo_ms(39));
  const long = await insertGap(db, connectionId, daysAgo_ms(50), daysAgo_ms(2));
  const open = await insertGap(db, connectionId, daysAgo_ms(60), null);
  const young = await insertGap(db, connectionId, daysAgo_ms(3), daysAgo_ms(3));
  t.strictSame(await eraseAll(db, { gaps: 30 }), { gaps: 1 });
  t.strictSame(await idsOf(db, 'listener_gap'), [open, long, young]);
  await db.query('testClose', `update listener_gap set closed_at = now() - interval '31 days' where id = $1`, [open]);
  t.strictSame(await eraseAll(db, { gaps: 30 }), { gaps: 1 }, 'it was passed, and is looked at again');
  t.strictSame(await eraseAll(db, { gaps: 30 }), { gaps: 0 });
  t.strictSame(await idsOf(db, 'listener_gap'), [long, young]);
});

t.test('attempts go when they are old and their delivery has ended, and its number of attempts stays', async (t) => {
  const { db, subscriptionId } = await oneConnection(t);
  const { deliveries } = await insertDeliveries(
    db,
    subscriptionId,
    ['delivered', 'failed', 'canceled', 'pending', 'sending'],
    daysAgo_ms(40),
  );
  const old = await Promise.all(deliveries.map((id, i) => insertAttempt(db, id, 1, daysAgo_ms(39) + i)));
  const young = await insertAttempt(db, deliveries[1]!, 2, daysAgo_ms(1));
  await db.query('testCount', 'update delivery set attempt_count = 2 where id = $1', [deliveries[1]]);
  t.strictSame(await eraseAll(db, { attempts: 30 }), { attempts: 3 });
  t.strictSame(await idsOf(db, 'delivery_attempt'), [old[3], old[4], young]);
  t.equal((await idsOf(db, 'delivery')).length, 5);
  t.match(await db.query('testCounted', 'select attempt_count from delivery where id = $1', [deliveries[1]]), [
    { attempt_count: 2 },
  ]);
});

t.test('deliveries go with their attempts by the age of their event, unless they have not ended', async (t) => {
  const { db, subscriptionId } = await oneConnection(t);
  const { deliveries } = await insertDeliveries(
    db,
    subscriptionId,
    ['delivered', 'pending', 'failed', 'sending', 'canceled'],
    daysAgo_ms(40),
  );
  const young = await insertDeliveries(db, subscriptionId, ['delivered', 'failed']);
  for (const id of [deliveries[0]!, deliveries[2]!]) await insertAttempt(db, id, 1, daysAgo_ms(39));
  t.strictSame(await eraseAll(db, { deliveries: 30 }), { deliveries: 3 });
  t.strictSame(await idsOf(db, 'delivery'), [deliveries[1], deliveries[3], ...young.deliveries].sort());
  t.strictSame(await idsOf(db, 'delivery_attempt'), []);
  t.equal((await idsOf(db, 'event')).length, 7, 'events stay');
  await db.query('testEnd', `update delivery set status = 'failed' where id = $1`, [deliveries[1]]);
  t.strictSame(await eraseAll(db, { deliveries: 30 }), { deliveries: 1 }, 'what has ended since is found again');
});

t.test('events take their deliveries along; one that is still to be delivered stays with its place', async (t) => {
  const { db, subscriptionId } = await oneConnection(t);
  const other = await insertSubscription(db, (await insertSimulated(db, await insertWorkspace(db), 'bob')).id);
  const statuses = Array.from(
    { length: LIMITS.retention_rows + 10 },
    (_, i): DeliveryStatus => (i % 100 === 7 ? 'pending' : 'delivered'),
  );
  const old = await insertDeliveries(db, subscriptionId, statuses, daysAgo_ms(40));
  const others = await insertDeliveries(db, other, ['failed', 'canceled'], daysAgo_ms(40));
  const young = await insertDeliveries(db, subscriptionId, ['delivered']);
  const kept = old.events.filter((_, i) => statuses[i] === 'pending');
  const gone = old.events.length + others.events.length - kept.length;
  t.strictSame(await eraseAll(db, { events: 30, deliveries: 365 }), { deliveries: gone, events: gone });
  t.strictSame(await idsOf(db, 'event'), [...kept, ...young.events]);
  const places = await db.query<{ event_id: string; rank: number }>(
    'testPlaces',
    'select event_id, rank from event_position order by rank',
  );
  t.strictSame(
    places.map(({ event_id }) => event_id),
    [...kept, ...young.events],
  );
  t.strictSame(
    places.map(({ rank }) => rank),
    [...kept.map((_, i) => i * 100 + 8), old.events.length + 1],
  );
  await db.query('testEnd', `update delivery set status = 'canceled', next_attempt_at = null where event_id = $1`, [
    kept[0],
  ]);
  t.strictSame(await eraseAll(db, { events: 30 }), { deliveries: 1, events: 1 });
});

t.test('a class is through although rows become too old all the time, and the next one has its turn', async (t) => {
  const { db, subscriptionId } = await oneConnection(t);
  const { deliveries } = await insertDeliveries(db, subscriptionId, ['delivered'], daysAgo_ms(40));
  let sequence = 0;
  const attempt = (at_ms: number) => insertAttempt(db, deliveries[0]!, ++sequence, at_ms);
  for (let n = 0; n < 3; n++) await attempt(daysAgo_ms(31));
  const days = onlyDays({ attempts: 30, events: 365 });
  t.match(await nextTurn(db, days), { class: 'attempts', erased: 3 });
  for (let turns = 1; ; turns++) {
    await attempt(daysAgo_ms(30) - LIMITS.id_clock_ms); // too old from now on, and not when the class was begun
    const turn = await nextTurn(db, days);
    if (turn?.class !== 'attempts') break;
    t.equal(turn.erased, 0);
    if (!t.ok(turns < 3, 'it goes on to the next class')) break;
  }
  t.match(await eraseAll(db, { attempts: 30 }), { attempts: sequence - 3 }, 'the next round has them');
});

t.test('a slice that is cut in the middle is repeated, and meanwhile no other node runs one', async (t) => {
  const { url, db, subscriptionId } = await oneConnection(t);
  const second = openDatabase({ url, maxConnections: 2, applicationName: 'second node', onError: () => {} });
  t.teardown(() => second.close());
  const { events } = await insertDeliveries(db, subscriptionId, ['delivered', 'failed'], daysAgo_ms(40));
  const days = onlyDays({ events: 30 });
  t.match(await nextTurn(db, days), { class: 'deliveries', erased: 2 });
  t.match(await nextTurn(db, days), { class: 'deliveries', erased: 0 }, 'they are through');
  const waiting = () =>
    db.query<{ pid: number }>(
      'testWaiting',
      `select pid from pg_stat_activity
      where datname = current_database() and application_name = 'second node' and wait_event_type = 'Lock'`,
    );
  await db.transaction(async (tx) => {
    await tx.query('testHold', 'select from event where id = $1 for update', [events[1]]);
    await letTurn(db);
    const failed = t.rejects(takeTurn(second, days), 'its session is ended');
    const [session] = await eventually('the slice waits for the event', waiting, (rows) => rows.length > 0);
    t.equal(await nextTurn(db, days), undefined, 'another node leaves it alone');
    await db.query('testEndSession', 'select pg_terminate_backend($1)', [session?.pid]);
    await failed;
  });
  t.equal((await idsOf(db, 'event')).length, 2, 'nothing of it is gone');
  t.match(await nextTurn(db, days), { class: 'events', erased: 2 }, 'and it is repeated from where it began');
  t.strictSame(await db.query('testErased', 'select deliveries from erased_deliveries'), [{ deliveries: 2 }]);
});

t.test('two nodes erase everything once', async (t) => {
  const { db, connectionId, subscriptionId } = await oneConnection(t);
  const rows = LIMITS.retention_rows * 3 + 1;
  await insertDeliveries(db, subscriptionId, Array(rows).fill('delivered'), daysAgo_ms(40));
  await insertGap(db, connectionId, daysAgo_ms(40), daysAgo_ms(40));
  const last = new Map<number, RetentionStats>();
  const nodes = [0, 1].map((n) =>
    retention({ db, log, days: onlyDays({ events: 30, gaps: 30 }), stats: (stats) => void last.set(n, stats) }),
  );
  for (const node of nodes) node.start();
  await eventually(
    'the old events are gone',
    () => idsOf(db, 'event'),
    (ids) => ids.length === 0,
  );
  for (const node of nodes) await node.stop();
  t.strictSame(await idsOf(db, 'listener_gap'), []);
  t.strictSame(await idsOf(db, 'delivery'), []);
  t.strictSame(await db.query('testErased', 'select deliveries from erased_deliveries'), [{ deliveries: rows }]);
  const told = [...last.values()];
  t.equal(
    told.reduce((sum, { erased }) => sum + (erased.events ?? 0), 0),
    rows,
    'each counts what it erased itself',
  );
  for (const { behind_s } of told) t.match(Object.keys(behind_s), ['gaps', 'deliveries', 'events']);
});

t.test('a round is spread over its time; a backlog makes it work half of the time, and no more', async (t) => {
  const { db } = await oneConnection(t);
  const days = onlyDays({ gaps: 30, events: 30 });
  interface Pace {
    came_ms: number | null;
    worked_ms: number;
    share: number | null;
    due_in_ms: number;
  }
  const paceOf = async (): Promise<Pace> => {
    const [pace] = await db.query<Pace>(
      'testPace',
      'select came_ms, worked_ms, share, (extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as due_in_ms from retention_turn',
    );
    return pace!;
  };
  const about = (given: number, wanted: number) => t.ok(Math.abs(given / wanted - 1) < 0.05, `${given}, not ${wanted}`);
  const round_ms = LIMITS.retention_round_ms;
  for (const [worked_ms, came_ms, share, times] of [
    [0, null, null, 9],
    [0, round_ms, 0.001, 9],
    [0, round_ms, 0.2, 4],
    [0, 2 * round_ms, 0.2, 1.5],
    [round_ms / 4, round_ms, 0.001, 3],
    [0, round_ms, 100, 1],
  ] as const) {
    await db.query(
      'testWorked',
      `update retention_turn set class = 'gaps', round_at = now(), due_at = now() + interval '50 milliseconds', worked_ms = $1, came_ms = $2, share = $3`,
      [worked_ms, came_ms, share],
    );
    const pause_ms = (await takeTurn(db, days))?.pause_ms ?? 0;
    const pace = await paceOf();
    about(pause_ms / (pace.worked_ms - worked_ms), times);
    t.ok(pace.due_in_ms <= pause_ms, 'the next one is due behind it');
  }
  await db.query(
    'testLate',
    `update retention_turn set class = 'gaps', round_at = now(), due_at = now() - interval '1 second', worked_ms = 0, came_ms = $1, share = 0.2`,
    [round_ms],
  );
  const short_ms = (await takeTurn(db, days))?.pause_ms ?? 0;
  about(short_ms / (await paceOf()).worked_ms, 1);

  await db.query(
    'testBegun',
    `update retention_turn set class = 'gaps', round_at = now() - interval '1 minute', came_ms = $1, worked_ms = 0, share = null`,
    [4 * round_ms],
  );
  t.strictSame(Object.keys(await eraseAll(db, { gaps: 30, events: 30 })), ['gaps', 'deliveries', 'events']);
  const { worked_ms, share, due_in_ms } = await paceOf();
  about(worked_ms / (share ?? 0), 4 * round_ms);
  t.ok(due_in_ms < round_ms / 2 && due_in_ms > round_ms / 4, `it rests for what is left: ${due_in_ms} ms`);
  t.match(await nextTurn(db, days), { class: 'gaps' });
  about((await paceOf()).came_ms ?? 0, round_ms / 2);
});

t.test('a node takes the next slice when it is due, and not when it looks for those of others', async (t) => {
  const { db, connectionId } = await oneConnection(t);
  const SLICES = 30;
  const many = Array.from({ length: SLICES * LIMITS.retention_rows }, (_, n) => daysAgo_ms(40) - n);
  const ids = many.map((msecs) => uuidv7({ msecs }));
  await db.query(
    'testGaps',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at)
     select id, $1, 'stream_closed', at, at from unnest($2::uuid[], $3::timestamptz[]) one(id, at)`,
    [connectionId, ids, many.map((at_ms) => new Date(at_ms))],
  );
  await db.query('testBehind', 'update retention_turn set round_at = now(), class = $1, came_ms = 1, share = $2', [
    ...['gaps', LIMITS.retention_round_ms],
  ]); // the shortest pauses
  const dueIn = (ms: number) =>
    db.query('testDueIn', `update retention_turn set due_at = clock_timestamp() + $1 * interval '1 millisecond'`, [ms]);
  await dueIn(60_000);
  t.equal(await takeTurn(db, onlyDays({ gaps: 30 })), undefined, 'it is not due');
  await dueIn(LIMITS.retention_early_ms * 0.9);
  t.match(await takeTurn(db, onlyDays({ gaps: 30 })), { class: 'gaps' }, 'a moment before is soon enough');
  const pauses_ms: number[] = [];
  const write = (line: string) => void pauses_ms.push(JSON.parse(line).pause_ms);
  const node = retention({ db, log: pino({ level: 'debug' }, { write }), days: onlyDays({ gaps: 30 }) });
  node.start();
  await eventually(
    'the old gaps are gone',
    async () => (await idsOf(db, 'listener_gap')).length,
    (left) => left === 0,
  );
  await node.stop();
  const soon = pauses_ms.filter((pause_ms) => pause_ms < LIMITS.retention_poll_ms);
  t.ok(
    soon.length > SLICES / 2,
    `after ${soon.length} of ${SLICES} slices it came back before it looks for those of others`,
  );
});

t.test('what goes no sooner than what it belongs to is not gone through for itself', async (t) => {
  const all = { gaps: 9, attempts: 9, deliveries: 9, events: 9, inputs: 9, results: 9, operations: 9, tombstones: 9 };
  t.strictSame(classesOf(all), ['gaps', 'deliveries', 'events', 'operations', 'tombstones']);
  t.strictSame(classesOf({ ...all, attempts: 8, inputs: 8, results: 10 }), [
    ...['gaps', 'attempts', 'deliveries', 'events', 'inputs', 'operations', 'tombstones'],
  ]);
  t.strictSame(classesOf(onlyDays({ attempts: 9, events: 9, results: 9 })), ['deliveries', 'events', 'results']);
});

t.test('a row that cannot be erased keeps none of the others', async (t) => {
  const { db, connectionId, subscriptionId } = await oneConnection(t);
  const gaps = [40, 41, 42, 43, 44].map((days) => insertGap(db, connectionId, daysAgo_ms(days), daysAgo_ms(days)));
  const [, bad = ''] = await Promise.all(gaps);
  const { deliveries } = await insertDeliveries(db, subscriptionId, ['delivered', 'failed'], daysAgo_ms(40));
  await db.query(
    'testFails',
    `create function refuse() returns trigger language plpgsql as $$ begin
       if old.id = any('{${bad},${deliveries[0]}}') then raise 'refused'; end if;
       return old; end $$`,
  );
  for (const table of ['listener_gap', 'delivery']) {
    await db.query(
      `testRefuse.${table}`,
      `create trigger refuse before delete on ${table} for each row execute function refuse()`,
    );
  }
  const days = { gaps: 30, deliveries: 30, events: 30 };
  await eraseAll(db, days);
  t.strictSame(await idsOf(db, 'listener_gap'), [bad]);
  t.strictSame(await idsOf(db, 'delivery'), deliveries.toSorted(), 'of a subscription the rest is left as well');
  t.strictSame(Object.keys(await throughSince_s(db)), ['events'], 'the classes are told to be behind');
  for (const table of ['listener_gap', 'delivery'])
    await db.query(`testAllow.${table}`, `drop trigger refuse on ${table}`);
  await eraseAll(db, days);
  for (const table of ['listener_gap', 'delivery', 'event']) t.strictSame(await idsOf(db, table), [], table);
  t.strictSame(Object.keys(await throughSince_s(db)).sort(), ['deliveries', 'events', 'gaps']);
});

t.test('where no row is left to be passed over, no class passes one', async (t) => {
  const { db } = await freshDatabase(t);
  for (const [name, pass] of Object.entries(PASS_OVER)) {
    t.equal(await db.transaction((tx) => pass(tx, null, ageOf(Date.now(), 0))), null, name);
  }
});

t.test('what takes a slice too long is erased in smaller ones', async (t) => {
  const { db, connectionId } = await oneConnection(t);
  const ids = Array.from({ length: 150 }, (_, n) => uuidv7({ msecs: daysAgo_ms(40) - n }));
  await db.query(
    'testGaps',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at)
     select id, $1, 'stream_closed', $3, $3 from unnest($2::uuid[]) one(id)`,
    [connectionId, ids, new Date(daysAgo_ms(40))],
  );
  await db.query(
    'testSlow',
    `create function slow() returns trigger language plpgsql as $$ begin
       if (select count(*) > 20 from gone) then
         raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
       end if;
       return null; end $$`,
  );
  await db.query(
    'testTrap',
    'create trigger trap after delete on listener_gap referencing old table as gone for each statement execute function slow()',
  );
  const sizes: number[] = [];
  const days = onlyDays({ gaps: 30 });
  for (let turn = await nextTurn(db, days); turn; turn = turn.last ? undefined : await nextTurn(db, days)) {
    sizes.push(turn.failure ? 0 : turn.erased);
  }
  t.strictSame(sizes, [0, 0, ...Array(12).fill(12), 6, 0], 'a quarter of a quarter at a time');
  t.match(await throughSince_s(db), { gaps: Number });
});

t.test('a slice ends at its last row, so that the next one begins behind it', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  const old_ms = daysAgo_ms(9);
  const gaps: string[] = [];
  for (let i = 0; i < 5; i++) gaps.push(await insertGap(db, id, old_ms + i, old_ms + i));
  const age = ageOf(Date.now(), 1);
  t.match(await db.transaction((tx) => eraseGaps(tx, null, age, 2)), { erased: 2, last: gaps[1] });
  t.match(await db.transaction((tx) => eraseGaps(tx, gaps[1]!, age, 2)), { erased: 2, last: gaps[3] });
  t.strictSame(await idsOf(db, 'listener_gap'), [gaps[4]]);
});
