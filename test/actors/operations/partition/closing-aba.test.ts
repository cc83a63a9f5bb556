import t, { type Test } from 'tap';
import { lockIdleConnection } from '../../../../storage/connections/connection-changes.js';
import { recoverPartition } from '../../../../storage/partitions/recovery.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { jobState } from '../../../fixture/jobs.js';
import { operationsThread } from '../thread.js';

/**
 * A backend that closes a mailbox is slow between the moment that its statement sees and its lock on the job: meanwhile somebody stores an
 * operation (which makes the mailbox due) and the owner opens it again. The job is `active` as before, but is another opening's.
 *
 * The slowness is made by a row policy on `partition` that waits in the closing statement alone: as a backend that is not scheduled, or that
 * looks through the operations of 500 mailboxes.
 */
async function slowClosing(db: Database) {
  const run = (text: string) => db.query(`test ${text.slice(0, 40)}`, text);
  await run('create table close_hold (id int)');
  await run(`create function hold_close() returns boolean language plpgsql volatile as $$
    begin
      if current_query() like '%i(id, partition, epoch, version, mark)%' then
        while exists (select from close_hold) loop perform pg_sleep(0.005); end loop;
      end if;
      return true;
    end $$`);
  await run('create policy held on partition using (hold_close()) with check (true)');
  await run('alter table partition enable row level security');
  await run('alter table partition force row level security');
  const held = () =>
    db.query(
      'testHeld',
      `select 1 as one from pg_stat_activity where datname = current_database() and state = 'active'
         and wait_event = 'PgSleep' and query like '%i(id, partition, epoch, version, mark)%' and pid <> pg_backend_pid()`,
    );
  return {
    hold: () => run('insert into close_hold values (1)'),
    held: () => eventually('the closing is held', held, (rows) => rows.length > 0),
    go: async () => {
      await run('delete from close_hold');
      await eventually('the closing is over', held, (rows) => rows.length === 0);
    },
  };
}

async function scenario(t: Test, stored: 'by its owner' | 'by another node') {
  const gate = Promise.withResolvers<void>();
  const acted: string[] = [];
  const { db, connection, partition, submit, storeElsewhere, ended } = await operationsThread(t, async (execution) => {
    if (execution.capability.kind === 'write') {
      await execution.boundary();
      acted.push(execution.operationId);
      await gate.promise;
    }
    return { status: 'succeeded', result: {} };
  });
  t.teardown(() => gate.resolve());
  const closing = await slowClosing(db);
  await submit('known');
  await closing.hold();
  await ended('known');
  await closing.held();
  const input = { recipient_actor_id: 'ACoAA1' };
  if (stored === 'by its owner') t.match(await submit('write', 'social.invitation.send', input), { kind: 'created' });
  else {
    await storeElsewhere('write', 'social.invitation.send', input);
    void partition.fetch();
  }
  await eventually(
    'the write is past its boundary',
    () => acted.length,
    (count) => count === 1,
  );
  t.equal(await jobState(db, connection.id), 'active', 'its mailbox is open');
  await closing.go();
  t.equal(await jobState(db, connection.id), 'active', 'and stays so while it runs (I1)');
  const idle = await db.transaction((tx) => lockIdleConnection(tx, connection.id));
  t.equal(idle, 'busy', 'so that PATCH, disconnect and delete are refused');
  // The node dies: the next owner takes the partition.
  partition.drop();
  const { ended: over } = await db.transaction(async (tx) => {
    await tx.query('testTake', 'update partition set epoch = epoch + 1 where id = $1', [partition.id]);
    return recoverPartition(tx, partition.id);
  });
  t.match(over, [{ status: 'outcome_unknown' }], 'recovery finds the write');
  const [row] = await db.query<{ status: string }>(
    'testStatus',
    `select status from operation where idempotency_key = 'write'`,
  );
  t.equal(row?.status, 'outcome_unknown', 'and its caller learns it');
}

t.test('an operation that its owner stores while its mailbox is being closed', (t) => scenario(t, 'by its owner'));
t.test('an operation that another node stores while its mailbox is being closed', (t) =>
  scenario(t, 'by another node'),
);

/** No crash: the partition is levelled out, or the node is restarted, while such an operation runs. One that is submitted behind it does not help. */
t.test('an operation that was stored while its mailbox was being closed outlives a hand-over', async (t) => {
  const { db, partition, submit, ended, context } = await operationsThread(t, async (execution) => {
    if (execution.input.long !== true) return { status: 'succeeded', result: {} };
    await new Promise((_, reject) => execution.signal.addEventListener('abort', () => reject(execution.signal.reason)));
    return { status: 'succeeded', result: {} };
  });
  const closing = await slowClosing(db);
  await submit('known');
  await closing.hold();
  await ended('known');
  await closing.held();
  let running = 0;
  context.onAttemptState = () => running++;
  await submit('long', 'social.identity.get', { long: true });
  const starts = db.query.bind(db);
  await eventually(
    'it runs',
    () => starts<{ status: string }>('testRuns', `select status from operation where idempotency_key = 'long'`),
    ([row]) => row?.status === 'running',
  );
  await closing.go();
  await submit('behind');
  await partition.quiesce();
  await db.transaction(async (tx) => {
    await tx.query('testTake', 'update partition set epoch = epoch + 1 where id = $1', [partition.id]);
    await recoverPartition(tx, partition.id);
  });
  const rows = await db.query<{ idempotency_key: string; status: string }>(
    'testRows',
    `select idempotency_key, status from operation where idempotency_key <> 'known' order by id`,
  );
  t.strictSame(rows, [
    { idempotency_key: 'long', status: 'queued' },
    { idempotency_key: 'behind', status: 'queued' },
  ]);
  const [job] = await db.query<{ from: boolean }>(
    'testMark',
    `select (data ->> 'from')::uuid <= (select id from operation where idempotency_key = 'long') as from from pgboss.job_common`,
  );
  t.equal(job?.from, true, 'its mailbox is read from it on');
});
