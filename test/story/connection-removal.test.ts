import t from 'tap';
import { fillHistory } from '../../bench/lists/history.js';
import { Removals } from '../../storage/connections/removals.js';
import type { Sql } from '../../storage/postgres/database.js';
import { eventually } from '../fixture/eventually.js';
import { jobIds } from '../fixture/jobs.js';
import { insertSimulated } from '../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../server/edge-fixture.js';
import { insertQueue } from '../server/rows.js';

const READ = { capability: 'social.profile.get', input: { profile_id: 'bob' } };

const submit = (edge: EdgeUnderTest, connectionId: string, key: string) =>
  edge.call('POST', `/v1/connections/${connectionId}/operations`, { body: READ, headers: { 'idempotency-key': key } });

async function operationsOf(db: Sql, connectionId: string): Promise<number> {
  const [row] = await db.query<{ rows: number }>(
    'testOperations',
    'select count(*) as rows from operation where connection_id = $1',
    [connectionId],
  );
  return row?.rows ?? 0;
}

t.test('200,000 rows go without anybody waiting for it, and go on going after a crash', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = await insertSimulated(db, edge.workspaceId, 'ann');
  const kept = await insertSimulated(db, edge.workspaceId, 'kept');
  await fillHistory(db, id, 50_000);
  await insertQueue(db, id, 5_000);
  const { json: one } = await submit(edge, kept.id, 'one');

  const deletedAt = performance.now();
  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
  const delete_ms = performance.now() - deletedAt;
  t.ok(delete_ms < 1_000, `DELETE took ${Math.round(delete_ms)} ms`);
  t.equal(await operationsOf(db, id), 55_000);

  let going = true;
  const waits: number[] = [];
  const others = (async () => {
    for (let n = 0; going; n++) {
      const from = performance.now();
      const { status } = await submit(edge, kept.id, `other-${n}`);
      const read = (await call('GET', `/v1/operations/${one.id}`)).status;
      const listed = (await call('GET', '/v1/operations?limit=10')).status;
      waits.push(performance.now() - from);
      if (status !== 202 || read !== 200 || listed !== 200) t.fail(`answered ${status}, ${read}, ${listed}`);
      const locked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      if ((await db.query('testLocks', locked)).length > 0) t.fail('somebody waits for a lock');
    }
  })();
  const first = new Removals({ db, log: edge.system.log, settle_ms: 50 });
  first.start();
  await eventually(
    'rows are going',
    () => operationsOf(db, id),
    (rows) => rows < 50_000,
    60_000,
  );
  await first.stop();
  t.ok((await operationsOf(db, id)) > 0, 'it was stopped in the middle');
  const second = new Removals({ db, log: edge.system.log, settle_ms: 50 });
  t.teardown(() => second.stop());
  second.start();
  await eventually(
    'the connection is removed',
    () => db.query('testConnection', 'select from connection where id = $1', [id]),
    (rows) => rows.length === 0,
    120_000,
  );
  going = false;
  await others;
  waits.sort((a, b) => a - b);
  t.comment(
    `${waits.length} rounds of three requests, the median ${waits[waits.length >> 1]} ms, the longest ${waits.at(-1)} ms`,
  );
  t.ok(waits.at(-1)! < 2_000, `no request waited: ${Math.round(waits.at(-1)!)} ms for three`);
  const [keys] = await db.query<{ rows: number }>('testKeys', 'select count(*) as rows from idempotency_tombstone');
  t.equal(keys?.rows, 55_000, 'every used key is kept');
  t.strictSame(await jobIds(db), [kept.id], 'the mailbox of the other connection alone is left');
});
