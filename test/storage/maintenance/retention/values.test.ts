import { randomBytes } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../../../storage/limits.js';
import { DROPS, ELSEWHERE, inSlice } from '../../../../storage/maintenance/removal.js';
import { takeTurn, throughSince_s } from '../../../../storage/maintenance/retention/turn.js';
import { lookOf, requestedLooks, requestLook, storeLook } from '../../../../storage/operations/looks.js';
import { findOperations } from '../../../../storage/operations/operations.js';
import type { Database, Sql } from '../../../../storage/postgres/database.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { startTestEdge } from '../../../server/edge-fixture.js';
import { eraseAll, insertOld, letTurn, nextTurn, onlyDays } from './fixture.js';

/** Of all operations, by their keys: whether each has its input, and its result. */
async function values(db: Sql): Promise<Record<string, string>> {
  const rows = await db.query<{ idempotency_key: string; input: boolean; result: boolean }>(
    'testValues',
    `select idempotency_key, num_nonnulls(input, input_sealed) = 1 as input, num_nonnulls(result, result_sealed) = 1 as result from operation`,
  );
  return Object.fromEntries(
    rows.map(({ idempotency_key, input, result }) => [
      idempotency_key,
      [input && 'input', result && 'result'].filter(Boolean).join(),
    ]),
  );
}

/** What was passed by is looked at again. */
const later = (db: Sql) =>
  db.query('testLater', `update retention_passed set looked_at = looked_at - interval '1 day'`, []);

const looked = (db: Sql, id: string) =>
  db.query('testLooked', `update operation set evidence_look = '{"found": "none"}' where id = $1`, [id]);

t.test('inputs and results go, operations stay, and what may still be needed stays as it is', async (t) => {
  const { db, call, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const [done] = [await insertOld(db, id, 'succeeded', 40)];
  for (const status of ['failed', 'skipped', 'queued', 'running', 'waiting_user'] as const)
    await insertOld(db, id, status, 40);
  const unknown = await insertOld(db, id, 'outcome_unknown', 40);
  await insertOld(db, id, 'succeeded', 40, 2);
  await insertOld(db, id, 'failed', 3);
  const before = await values(db);
  const untouched = ['queued-40', 'running-40', 'waiting_user-40', 'succeeded-2', 'failed-3'];

  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 3 });
  const inputs = { ...before, 'succeeded-40': 'result', 'failed-40': 'result', 'skipped-40': 'result' };
  t.strictSame(await values(db), inputs);
  t.strictSame(await eraseAll(db, { results: 30 }), { results: 1 }, 'of those that have one');
  t.strictSame(await values(db), { ...inputs, 'succeeded-40': '' });
  for (const key of untouched) t.equal((await values(db))[key], before[key], key);

  const read = await call('GET', `/v1/operations/${done}`);
  t.match(read, { status: 200, json: { status: 'succeeded', result: null } });
  t.match(await call('GET', `/v1/operations/${done}/input`), { status: 410, json: { code: 'erased' } });
  t.match(await call('GET', '/v1/operations'), { status: 200 });
  t.equal((await db.query('testAttention', 'select from unknown_outcome')).length, 0, 'nobody is told of it anew');

  t.equal(await requestLook(db, unknown), 'requested');
  await looked(db, unknown);
  await later(db);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 0 }, 'while a look is asked for it stays');
  await db.query('testLookEnds', 'delete from look_request', []);
  await later(db);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 1 });
  t.equal(await requestLook(db, unknown), 'erased');
  t.match(await call('POST', `/v1/operations/${unknown}/reconcile`), { status: 410, json: { code: 'erased' } });
  await db.query(
    'testEnd',
    `update operation set status = 'canceled', updated_at = now() where idempotency_key = 'queued-40'`,
    [],
  );
  await later(db);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 0 }, 'it ended lately');
  await db.query(
    'testEnded',
    `update operation set updated_at = now() - interval '31 days' where idempotency_key = 'queued-40'`,
  );
  await later(db);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 1 }, 'and is not forgotten');
});

t.test('what a look found goes by the age of the look, and nobody is told of its operation anew', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id, partition } = await insertSimulated(db, workspaceId, 'ann');
  await db.query('testOwn', 'update partition set epoch = 3 where id = $1', [partition]);
  const unknown = await insertOld(db, id, 'outcome_unknown', 40);
  await db.query('testUntold', 'delete from unknown_outcome');
  const lookAgain = async (found: string) => {
    t.equal(await requestLook(db, unknown), 'requested');
    const [request] = await requestedLooks(db, [partition], []);
    t.equal(await storeLook(db, request!, { id: partition, epoch: 3 }, { found }), true);
    await later(db);
  };
  const kept = async () => lookOf(db, (await findOperations(db, [unknown]))[0]!);
  const age = () =>
    db.query('testLookAge', `update operation set looked_at = now() - interval '31 days' where id = $1`, [unknown]);

  t.strictSame(await eraseAll(db, { results: 30 }), { results: 0 });
  for (const found of ['one', 'none']) {
    await lookAgain(found);
    t.strictSame(await eraseAll(db, { results: 30 }), { results: 0 }, 'the operation is old, the look is not');
    t.strictSame(await kept(), { found });
    await age();
    await later(db);
    t.strictSame(await eraseAll(db, { results: 30 }), { results: 1 });
    t.equal(await kept(), null);
  }
  t.strictSame(await db.query('testPassed', 'select from retention_passed'), [], 'nothing of it is looked at again');
  t.strictSame(await db.query('testAttention', 'select from unknown_outcome'), []);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 1 }, 'somebody has looked, though it is not kept');
});

t.test('what errors repeat of an input goes with it', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const details = (error: object) => ({
    retryable: false,
    reason: 'r',
    errors: [error, { path: 'input.b', expected: 'B' }],
  });
  const failed = await insertOld(db, id, 'failed', 40);
  const error = { path: 'input.a', expected: 'A', value: 'Ada' };
  await db.query('testDetails', 'update operation set error_details = $2 where id = $1', [failed, details(error)]);
  t.strictSame(await eraseAll(db, { inputs: 30 }), { inputs: 1 });
  const [row] = await findOperations(db, [failed]);
  t.strictSame(row?.error_details, details({ path: 'input.a', expected: 'A' }));
});

t.test('a repeat of what was erased answers its operation', async (t) => {
  const { db, call, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const submit = (profile: string) =>
    call('POST', `/v1/connections/${id}/operations`, {
      body: { capability: 'social.profile.get', input: { profile_id: profile } },
      headers: { 'idempotency-key': 'once' },
    });
  const { json: first } = await submit('bob');
  await db.query(
    'testAge',
    `update operation set status = 'succeeded', result = '{}', updated_at = now() - interval '40 days',
       id = (lpad(to_hex((extract(epoch from now() - interval '40 days') * 1000)::bigint), 12, '0') || '70008000000000000001')::uuid
     where id = $1`,
    [first.id],
  );
  await eraseAll(db, { inputs: 30, results: 30 });
  t.match(await submit('bob'), { status: 200, json: { status: 'succeeded', result: null } });
  t.match(await submit('eve'), { status: 409, json: { code: 'idempotency_conflict' } });
});

t.test('files go with the results, some parts at a time, and what a crash cuts off is repeated', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const operation = await insertOld(db, id, 'succeeded', 40);
  await db.query(
    'testFile',
    `insert into operation_file (operation_id, attempt_id, part, bytes) select $1, $1, n, '\\x00' from generate_series(0, $2::integer) n`,
    [operation, LIMITS.removal_file_parts * 2],
  );
  const cut = {
    ...db,
    transaction: <T>(work: (tx: never) => Promise<T>) =>
      db.transaction(async (tx) => {
        await work(tx as never);
        throw new Error('crashed');
      }),
  } as Database;
  t.match(await nextTurn(cut, onlyDays({ results: 30 })), { erased: 0, failure: { message: 'crashed' } });
  t.strictSame(await eraseAll(db, { results: 30 }), { results: 1 });
  t.strictSame(await db.query('testParts', 'select from operation_file'), []);
  t.strictSame(await values(db), { 'succeeded-40': 'input' });
});

t.test('what was passed by is forgotten once it has nothing left, whoever erased it', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  for (let n = 0; n < LIMITS.retention_passed_rows; n++) await insertOld(db, id, 'canceled', 40 + n);
  await db.query('testErased', 'update operation set input = null, result = null, input_erased_at = now()');
  await insertOld(db, id, 'failed', 39);
  await db.query(
    'testPassedBy',
    `insert into retention_passed (class, operation_id, looked_at)
     select class, id, now() - interval '1 day' - (status = 'canceled')::int * interval '1 day'
     from operation cross join unnest('{input,result}'::text[]) class`,
  );
  await db.query(
    'testMarks',
    `update retention_turn set marks = (select jsonb_build_object('inputs', i.id, 'results', i.id) from (select max(id::text) as id from operation) i)`,
  );
  t.strictSame(await eraseAll(db, { inputs: 30, results: 30 }), { inputs: 1, results: 0 });
  t.strictSame(await db.query('testPassed', 'select from retention_passed'), []);
});

t.test('a round is through when all that was passed by is looked at, however much that is', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const COUNT = 2.5 * LIMITS.retention_passed_rows;
  for (let n = 0; n < COUNT; n++) await insertOld(db, id, 'succeeded', 31 + n / COUNT, 29 + n / COUNT / 2);
  const days = { inputs: 30, results: 30 };
  t.strictSame(await eraseAll(db, days), { inputs: 0, results: 0 });
  await later(db);
  t.strictSame(await eraseAll(db, days), { inputs: 0, results: 0 }, 'and each is looked at once in a round');
  await db.query('testOlder', `update operation set updated_at = now() - interval '31 days'`);
  await later(db);
  t.strictSame(await eraseAll(db, days), { inputs: COUNT, results: COUNT });
});

t.test('a slice erases bounded bytes, and a class that fails does not keep the next one from its turn', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const large = randomBytes(LIMITS.removal_bytes / 2);
  /** Four, every other one with an input and a result of half of what a slice erases; the oldest one is small. */
  const fill = async (name: string) => {
    const { id } = await insertSimulated(db, workspaceId, name);
    for (let n = 0; n < 4; n++) {
      const operation = await insertOld(db, id, name === 'ann' ? 'succeeded' : 'failed', 40 + n);
      const values = [operation, n % 2 === 0 ? large : ''];
      await db.query(
        'testLarge',
        'update operation set input = null, input_sealed = $2, result = null, result_sealed = $2 where id = $1',
        values,
      );
    }
    return id;
  };
  await fill('ann');
  await db.query(
    'testFails',
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
  );
  await db.query(
    'testRefuse',
    'create trigger refuse before update of input_erased_at on operation for each row execute function refuse()',
  );
  const round = async (days: Parameters<typeof onlyDays>[0]) => {
    const turns: [string, number][] = [];
    for (let through = false; !through; ) {
      const turn = await nextTurn(db, onlyDays(days));
      if (turn) turns.push([turn.class, turn.erased]);
      through = turn?.last ?? true;
    }
    return turns;
  };
  const inSlices = (name: string) => [3, 1].map((count) => [name, count]);
  // Slices of 200, 100, 50, 25, 12, 6 and 3, and of one as often as one may fail, and once more.
  const failed = Array(7 + LIMITS.retention_failures + 1).fill(['inputs', 0]);
  t.strictSame(await round({ inputs: 30, results: 30 }), [...failed, ...inSlices('results')]);
  t.strictSame(Object.keys(await throughSince_s(db)), ['results'], 'the other one is told to be behind');
  await db.query('testBefore', `update retention_turn set round_at = now() - interval '1 hour'`);
  const both = onlyDays({ inputs: 30, results: 30 });
  t.match(await nextTurn(db, both), { class: 'inputs', last: false, failure: { message: 'refused' } });
  const [pace] = await db.query<{ came_ms: number }>('testPace', 'select came_ms from retention_turn');
  t.ok(Math.abs((pace?.came_ms ?? 0) - 60 * 60_000) < 60_000, 'a round is begun by a slice that fails, too');
  await eraseAll(db, both);
  await db.query('testAllow', 'drop trigger refuse on operation');
  t.strictSame(await round({ operations: 30 }), Array(2).fill(['operations', 0]), 'keys are noted');
  await db.query('testSettle', `update idempotency_tombstone set created_at = created_at - interval '1 hour'`);
  t.strictSame(await round({ operations: 30 }), [...inSlices('operations'), ['operations', 0]]);

  const deleted = await fill('bob');
  const [operations] = DROPS;
  const left: number[] = [];
  for (let after: string | null = operations!.from; after !== null; ) {
    const done = await inSlice(db, deleted, operations!.drop, after);
    after = done === ELSEWHERE ? null : done.last;
    left.push(Object.keys(await values(db)).length);
  }
  t.strictSame(left, [3, 2, 1, 0, 0], 'with both values each takes a slice');
});

t.test('rounds go on where the last one was, however many operations there are', async (t) => {
  const { db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const COUNT = 20_000;
  await db.query(
    'fillOld',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result, updated_at)
     select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, c.workspace_id, c.id, c.partition,
       'social.profile.get', case when n % 100 = 0 then 'queued' else 'succeeded' end, n, '\\x00', '{}', case when n % 100 > 0 then '{}'::jsonb end,
       timestamptz '2024-01-01'
     from connection c, generate_series(1, ${COUNT}::bigint) n where c.id = $1`,
    [id],
  );
  for (const name of ['inputs', 'results'] as const) {
    t.strictSame(await eraseAll(db, { [name]: 30 }), { [name]: COUNT * 0.99 });
    for (let n = 0; n < 5; n++) {
      await later(db);
      await letTurn(db);
      const { given, scanned, found } = await db.transaction((tx) =>
        rowsRead(tx, 'operation', () => takeTurn({ ...db, transaction: (work) => work(tx) }, onlyDays({ [name]: 30 }))),
      );
      t.equal(given?.erased, 0);
      t.equal(scanned, 0, 'by index');
      t.ok(found <= 4 * LIMITS.retention_passed_rows, `${found} rows, none of those that are through`);
    }
  }
});
