import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../storage/limits.js';
import { requestLook } from '../../../../storage/operations/looks.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../../../server/edge-fixture.js';
import { daysAgo_ms, eraseAll, idsOf, insertOld } from './fixture.js';

const READ = { capability: 'social.profile.get', input: { profile_id: 'bob' } };

const submit = (edge: EdgeUnderTest, connectionId: string, key: string) =>
  edge.call('POST', `/v1/connections/${connectionId}/operations`, { body: READ, headers: { 'idempotency-key': key } });

async function withConnection(t: Test) {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  return { edge, db: edge.db, id };
}

/** As when the keys were noted long enough ago. */
const settle = (db: Database) =>
  db.query('testSettle', `update idempotency_tombstone set created_at = created_at - $1 * interval '1 millisecond'`, [
    LIMITS.removal_settle_ms,
  ]);

t.test('operations that ended long ago go; what has not ended, or ended lately, stays', async (t) => {
  const { db, id, edge } = await withConnection(t);
  const gone: string[] = [];
  for (const status of ['succeeded', 'failed', 'canceled', 'skipped', 'outcome_unknown'] as const)
    gone.push(await insertOld(db, id, status, 40));
  const stay: string[] = [];
  for (const status of ['queued', 'running', 'waiting_user'] as const) stay.push(await insertOld(db, id, status, 40));
  stay.push(await insertOld(db, id, 'succeeded', 40, 2));
  const lookedFor = await insertOld(db, id, 'outcome_unknown', 39, 39);
  t.equal(await requestLook(db, lookedFor), 'requested');
  stay.push(lookedFor, await insertOld(db, id, 'failed', 3));

  t.strictSame(await eraseAll(db, { operations: 30 }), { operations: 0 }, 'their keys are noted first');
  t.strictSame(await eraseAll(db, { operations: 30 }), { operations: 0 }, 'and nothing goes before that has settled');
  await settle(db);
  t.equal((await edge.call('GET', `/v1/operations/${gone[0]}`)).status, 200);
  t.strictSame(await eraseAll(db, { operations: 30 }), { operations: gone.length });
  t.strictSame(await idsOf(db, 'operation'), [...stay].sort());
  t.equal((await edge.call('GET', `/v1/operations/${gone[0]}`)).status, 404);
  t.strictSame(
    (await edge.call('GET', '/v1/operations')).json.operations.map((one) => one.id),
    [...stay].sort().toReversed(),
  );
  t.equal(await requestLook(db, gone[4]!), 'gone');
});

t.test(
  'a key answers its operation until that is gone, conflicts from then on, and is a new one once its hash is gone',
  async (t) => {
    const { db, id, edge } = await withConnection(t);
    const { json: first } = await submit(edge, id, 'once');
    const old = uuidv7({ msecs: daysAgo_ms(40) });
    await db.query(
      'testAge',
      `update operation set id = $2, status = 'succeeded', result = '{}', updated_at = now() - interval '40 days' where id = $1`,
      [first.id, old],
    );
    await eraseAll(db, { operations: 30 });
    t.equal((await submit(edge, id, 'once')).json.id, old, 'noted, and still there');
    await settle(db);
    t.strictSame(await eraseAll(db, { operations: 30, tombstones: 30 }), { operations: 1, tombstones: 0 });
    t.match(await submit(edge, id, 'once'), { status: 409, json: { code: 'idempotency_conflict' } });
    const hash = createHash('sha256').update('once').digest();
    await db.query(
      'testOldHash',
      `update idempotency_tombstone set created_at = now() - interval '31 days' where key_hash = $1`,
      [hash],
    );
    t.strictSame(await eraseAll(db, { tombstones: 30 }), { tombstones: 1 });
    t.equal((await submit(edge, id, 'once')).status, 202);
  },
);

t.test('files go with their operations, some parts at a time', async (t) => {
  const { db, id } = await withConnection(t);
  const operation = await insertOld(db, id, 'succeeded', 40);
  await db.query(
    'testFile',
    `insert into operation_file (operation_id, attempt_id, part, bytes) select $1, $1, n, '\\x00' from generate_series(0, $2::integer) n`,
    [operation, LIMITS.removal_file_parts * 2],
  );
  await eraseAll(db, { operations: 30 });
  await settle(db);
  t.strictSame(await eraseAll(db, { operations: 30 }), { operations: 1 });
  t.strictSame(await db.query('testParts', 'select from operation_file'), []);
});
