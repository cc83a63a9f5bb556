import t from 'tap';
import { fillHistory } from '../../bench/kit/history.js';
import { Removals } from '../../storage/maintenance/removals.js';
import type { Sql } from '../../storage/postgres/database.js';
import { eventually } from '../fixture/eventually.js';
import { jobIds } from '../fixture/jobs.js';
import { insertSimulated } from '../fixture/rows.js';
import { sized } from '../fixture/size.js';
import { type EdgeUnderTest, startTestEdge } from '../server/edge-fixture.js';
import { insertQueue } from '../server/rows.js';

/** Each of them with three more rows that go with it. */
const OPERATIONS = sized(5_000, 50_000);
const QUEUED = OPERATIONS / 10;

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

t.test(`${4 * OPERATIONS} rows go without anybody waiting for it, and go on going after a crash`, async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = await insertSimulated(db, edge.workspaceId, 'ann');
  const kept = await insertSimulated(db, edge.workspaceId, 'kept');
  await fillHistory(db, id, OPERATIONS);
  await insertQueue(db, id, QUEUED);
  const { json: one } = await submit(edge, kept.id, 'one');

  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
  t.equal(await operationsOf(db, id), OPERATIONS + QUEUED, 'the request has waited for none of them');

  let going = true;
  let rounds = 0;
  const others = (async () => {
    for (let n = 0; going; n++) {
      const { status } = await submit(edge, kept.id, `other-${n}`);
      const read = (await call('GET', `/v1/operations/${one.id}`)).status;
      const listed = (await call('GET', '/v1/operations?limit=10')).status;
      rounds++;
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
    (rows) => rows < OPERATIONS,
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
  );
  going = false;
  await others;
  t.comment(`${rounds} rounds of three requests meanwhile`);
  t.ok(rounds > 1, 'others went on');
  const [keys] = await db.query<{ rows: number }>('testKeys', 'select count(*) as rows from idempotency_tombstone');
  t.equal(keys?.rows, OPERATIONS + QUEUED, 'every used key is kept');
  t.strictSame(await jobIds(db), [kept.id], 'the mailbox of the other connection alone is left');
});
