import { randomUUID } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../../storage/limits.js';
import { findOperations } from '../../../storage/operations/operations.js';
import { claimPartitions } from '../../../storage/partitions/partitions.js';
import { recoverPartition } from '../../../storage/partitions/recovery.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../fixture/database.js';
import { JOBS } from '../../fixture/jobs.js';
import { insertSimulated, insertWorkspace, newIds } from '../../fixture/rows.js';

t.test('a partition whose owner held a large backlog is taken, each statement within its limit', async (t) => {
  const { db, url } = await freshDatabase(t);
  const jobs = 40_000;
  await db.query(
    'testBacklog',
    `insert into pgboss.job_common (id, name, state, started_on, data)
     select gen_random_uuid(), 'mailbox-7', 'active', now(), jsonb_build_object('from', id) from unnest($1::uuid[]) id`,
    [newIds(jobs)],
  );
  const control = openDatabase({ url, maxConnections: 1, applicationName: 'test', limits: TIME_LIMITS.control });
  t.teardown(() => control.close());
  const [taken] = await control.transaction((tx) => claimPartitions(tx, randomUUID(), 1, 8_000, [7]));
  t.equal(taken?.id, 7);
  const states = await db.query<{ state: string; jobs: number }>(
    'testStates',
    `select state, count(*)::int as jobs from ${JOBS} j group by state`,
  );
  t.strictSame(states, [{ state: 'created', jobs }]);
});

t.test(
  'a code that went with its worker ends the operation as lost: another attempt would ask for another one',
  async (t) => {
    const { db } = await freshDatabase(t);
    const workspace = await insertWorkspace(db);
    const connection = await insertSimulated(db, workspace, 'ada');
    const id = randomUUID();
    await db.query(
      'testTaken',
      `with stored as (
       insert into operation (id, workspace_id, connection_id, partition, epoch, capability, status, idempotency_key, fingerprint, input,
         attempts, timeline)
       values ($1, $2, $3, $4, 1, 'social.login', 'running', 'login', '\\x00', '{}',
         '[{"number":1,"status":"running","phase":"preparing"}]',
         '[{"from":"waiting_user","to":"running","reason":"code_received","at":"2026-01-01T00:00:00.000Z"}]')
     )
     insert into pgboss.job_common (id, name, state, started_on, data)
     values ($3, 'mailbox-' || $4::smallint, 'active', now(), jsonb_build_object('from', $1::uuid))`,
      [id, workspace, connection.id, connection.partition],
    );
    const recovered = await db.transaction((tx) => recoverPartition(tx, connection.partition));
    t.match(recovered, { failed: 1, queued: 0 });
    const ended = { id, workspace_id: workspace, connection_id: connection.id, capability: 'social.login' };
    t.match(recovered.ended, [
      { ...ended, status: 'failed', error_code: 'worker_lost', attempts: 1, request_id: null },
    ]);
    const [lost] = await findOperations(db, [id]);
    t.match(lost, { status: 'failed', error_code: 'worker_lost', error_details: { retryable: true } });
    t.match(lost!.attempts, [{ status: 'abandoned' }]);
  },
);

t.test(
  'an operation that loses worker after worker ends as lost, and a write past its boundary as unknown',
  async (t) => {
    const { db } = await freshDatabase(t);
    const workspace = await insertWorkspace(db);
    const connection = await insertSimulated(db, workspace, 'ada');
    const id = randomUUID();
    await db.query(
      'testRunning',
      `with stored as (
       insert into operation (id, workspace_id, connection_id, partition, epoch, capability, status, idempotency_key, fingerprint, input)
       values ($1, $2, $3, $4, 1, 'social.message.send', 'queued', 'k', '\\x00', '{}')
     )
     insert into pgboss.job_common (id, name, state, started_on, data)
     values ($3, 'mailbox-' || $4::smallint, 'active', now(), jsonb_build_object('from', $1::uuid))`,
      [id, workspace, connection.id, connection.partition],
    );
    const start = (phase: string) =>
      db.query(
        'testStart',
        `update operation set status = 'running', evidence = null, attempts = attempts || jsonb_build_object('status', 'running', 'phase', $2::text) where id = $1`,
        [id, phase],
      );
    const recover = (inHand?: string[]) => db.transaction((tx) => recoverPartition(tx, connection.partition, inHand));
    for (let lost = 1; lost < LIMITS.lost_attempts; lost++) {
      await start('preparing');
      t.match(await recover(), { queued: 1, failed: 0 }, `${lost} lost`);
      await start('preparing');
      t.match(await recover([]), { queued: 1, failed: 0 }, 'a start whose answer was lost took no worker with it');
    }
    await start('dispatching');
    t.match(await recover(), { outcome_unknown: 1, failed: 0 }, 'nobody knows what a write past its boundary has done');
    await start('preparing');
    t.match(await recover(), { queued: 0, failed: 1 });
    const [ended] = await findOperations(db, [id]);
    t.match(ended, { status: 'failed', error_code: 'worker_lost', error_details: { retryable: true } });
  },
);
