import t, { type Test } from 'tap';
import type { Execution, Outcome } from '../../../actors/operations/attempt/execution.js';
import { firstIdAt } from '../../../storage/model/id-time.js';
import { newId } from '../../../storage/model/new-id.js';
import { eventually } from '../../fixture/eventually.js';
import { jobState } from '../../fixture/jobs.js';
import { operationsThread } from './thread.js';

const succeeded = async (): Promise<Outcome> => ({ status: 'succeeded', result: {} });

/** A thread whose rows a test makes such as no sound system has. */
async function fixture(t: Test, provider: (execution: Execution) => Promise<Outcome> = succeeded) {
  const thread = await operationsThread(t, provider);
  const { db, connection, orphans, sweep, context } = thread;
  const found = () => context.counters.counted().orphans;
  /** An operation that has stood there for a minute, and that no mailbox covers. */
  const insertOrphan = (key: string, status: 'queued' | 'running', attempts: object[] = []) =>
    db.query(
      'testOrphan',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, epoch, attempts)
       select $1, workspace_id, id, partition, 'social.identity.get', $3, $4, '', '{}', 1, $5 from connection where id = $2`,
      [firstIdAt(Date.now() - 60_000), connection.id, status, key, JSON.stringify(attempts)],
    );
  const lookUntil = (what: string, isFound: () => boolean, nets = [orphans, sweep]) =>
    eventually(
      what,
      async () => {
        for (const net of nets) await net.look();
        return isFound();
      },
      Boolean,
    );
  return { ...thread, found, insertOrphan, lookUntil };
}

t.test('a queued operation that no mailbox covers is found, told, and run', async (t) => {
  const { insertOrphan, lookUntil, found, ended } = await fixture(t);
  await insertOrphan('lost', 'queued');
  await lookUntil('it is found', () => found().operation > 0);
  t.match(await ended('lost'), { status: 'succeeded' });
  t.strictSame(found(), { operation: 1, row: 0, memory: 0 });
});

t.test('a write past its boundary that nobody runs, and that no mailbox covers, ends as unknown', async (t) => {
  const { insertOrphan, lookUntil, found, ended } = await fixture(t);
  const attempt = {
    id: newId(),
    number: 1,
    status: 'running',
    phase: 'dispatching',
    started_at: new Date().toISOString(),
  };
  await insertOrphan('lost', 'running', [attempt]);
  await lookUntil('it is found', () => found().operation > 0);
  t.match(await ended('lost'), { status: 'outcome_unknown' });
});

t.test('an operation in hand whose mailbox has lost its job gets one again', async (t) => {
  const gate = Promise.withResolvers<Outcome>();
  const { db, connection, submit, ended, lookUntil, found, sweep } = await fixture(t, () => gate.promise);
  await submit('long');
  await db.query('testLoseJob', 'delete from pgboss.job_common where id = $1', [connection.id]);
  await lookUntil('it is found', () => found().memory > 0, [sweep]); // the look at operations would find it as well
  await eventually(
    'its mailbox is open again',
    () => jobState(db, connection.id),
    (state) => state === 'active',
  );
  gate.resolve(await succeeded());
  t.match(await ended('long'), { status: 'succeeded', attempts: { length: 1 } });
});

t.test('where all is well nothing is found', async (t) => {
  const { submit, ended, storeElsewhere, partition, orphans, sweep, found } = await fixture(t);
  for (const key of ['one', 'two', 'three']) {
    await submit(key);
    await storeElsewhere(`${key} of another node`);
    void partition.fetch();
    await orphans.look();
    await sweep.look();
  }
  t.match(await ended('three of another node'), { status: 'succeeded' });
  t.strictSame(found(), { operation: 0, row: 0, memory: 0 });
});
