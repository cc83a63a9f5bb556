import { randomBytes } from 'node:crypto';
import t from 'tap';
import { v4 as uuidv4 } from 'uuid';
import { LIMITS } from '../../../../actors/limits.js';
import { partitionOf } from '../../../../storage/model/records.js';
import { cancelOperation } from '../../../../storage/operations/operations.js';
import { LARGE_INPUT_bytes } from '../../../../storage/operations/submission.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { operationsThread } from '../thread.js';

const LARGE = { recipient_actor_id: 'ada', data_base64: randomBytes(2 * LARGE_INPUT_bytes).toString('base64') }; // which nothing compresses
const MORE = 3;

/** Connections of the workspace in this partition. */
async function connections(db: Database, workspaceId: string, partition: number, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const id = uuidv4();
    if (partitionOf(id) === partition) ids.push(id);
  }
  await db.query(
    'testConnectionsOf',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select id, $2, $3, 'simulated', id, 'person', id, 'ready' from unnest($1::uuid[]) id`,
    [ids, workspaceId, partition],
  );
  return ids;
}

t.test('a bounded number of attempts with large inputs is in memory, and small ones go by them', async (t) => {
  const gate = Promise.withResolvers<void>();
  let large = 0;
  let most = 0;
  const { db, workspaceId, connection, submit, storeElsewhere, ended, attempts, partition } = await operationsThread(
    t,
    async ({ input }) => {
      if (!('data_base64' in input)) return { status: 'succeeded', result: {} };
      t.equal(input.data_base64, LARGE.data_base64);
      most = Math.max(most, ++large);
      await gate.promise;
      large--;
      return { status: 'succeeded', result: {} };
    },
  );
  const on = await connections(db, workspaceId, connection.partition, LIMITS.workspace_large_attempts + MORE);
  const send = 'social.attachment.send';
  for (const [n, id] of on.slice(0, -1).entries())
    t.match(await submit(`large-${n}`, send, LARGE, id), { kind: 'created' });
  await eventually(
    'as many run as may',
    () => large,
    (running) => running === LIMITS.workspace_large_attempts,
  );
  const waiting = on.length - 2;
  const [cancelled] = await db.query<{ id: string }>(
    'testCancelled',
    `select id from operation where idempotency_key = $1 and status = 'queued'`,
    [`large-${waiting}`],
  );
  t.ok(cancelled, 'what has no turn stays queued');
  t.match(await db.transaction((tx) => cancelOperation(tx, cancelled!.id)), { id: cancelled!.id, status: 'canceled' });
  // What is read from the rows is known as large too.
  await storeElsewhere('fetched', send, LARGE, on.at(-1));
  for (let n = 0; n < 3; n++) {
    await submit(`small-${n}`);
    t.match(await ended(`small-${n}`), { status: 'succeeded' });
  }
  t.equal(large, LIMITS.workspace_large_attempts);
  gate.resolve();
  for (let n = 0; n < waiting; n++) t.match(await ended(`large-${n}`), { status: 'succeeded' });
  t.match(await ended('fetched'), { status: 'succeeded' });
  t.match(await ended(`large-${waiting}`), { status: 'canceled' });
  t.equal(most, LIMITS.workspace_large_attempts);
  t.equal(attempts.length, on.length - 1 + 3);
  t.equal(partition.waiting, 0);
});

t.test('a partition that is given up does not wait for turns', async (t) => {
  const { db, workspaceId, connection, submit, attempts, partition } = await operationsThread(
    t,
    ({ signal }) => new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason))),
  );
  const on = await connections(db, workspaceId, connection.partition, LIMITS.workspace_large_attempts + MORE);
  for (const [n, id] of on.entries()) await submit(`large-${n}`, 'social.attachment.send', LARGE, id);
  await eventually(
    'as many run as may',
    () => attempts.length,
    (running) => running === LIMITS.workspace_large_attempts,
  );
  await partition.quiesce();
  t.equal(attempts.length, LIMITS.workspace_large_attempts, 'nothing more was started');
  t.equal(partition.running, 0);
});
