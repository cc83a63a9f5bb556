import t from 'tap';
import { recoverPartition } from '../../../../storage/partitions/recovery.js';
import { eventually } from '../../../fixture/eventually.js';
import { jobState } from '../../../fixture/jobs.js';
import { operationsThread } from '../thread.js';

/**
 * The commit of a closing takes longer than its client waits (a synchronous standby is away, a disk stalls): the mailbox counts as open again
 * in memory, an operation is stored for it, and then the commit deletes its job. The slow commit is a deferred trigger, which runs within it.
 */
t.test('a closing that commits after its answer was given up takes no job from what was stored since', async (t) => {
  const gate = Promise.withResolvers<void>();
  const acted: string[] = [];
  const { db, thread, connection, partition, submit, ended, reconciled } = await operationsThread(
    t,
    async (execution) => {
      if (execution.capability.kind === 'write') {
        await execution.boundary();
        acted.push(execution.operationId);
        await gate.promise;
      }
      return { status: 'succeeded', result: {} };
    },
  );
  t.teardown(() => gate.resolve());
  const run = (text: string) => db.query(`test ${text.slice(0, 40)}`, text);
  await run('create table commit_hold (id int)');
  await run(`create function hold_commit() returns trigger language plpgsql as $$
    begin
      while exists (select from commit_hold) loop perform pg_sleep(0.005); end loop;
      return null;
    end $$`);
  await run(`create constraint trigger hold_commit after delete on pgboss.job_common deferrable initially deferred
    for each row execute function hold_commit()`);
  const given = Promise.withResolvers<unknown>();
  const query = thread.query;
  thread.query = (name, ...statement) => {
    const answer = query<never>(name, ...statement);
    if (name === 'closeMailboxes') answer.catch((error) => given.resolve(error));
    return answer;
  };
  await submit('known');
  await run('insert into commit_hold values (1)');
  await ended('known');
  const error = await given.promise;
  t.equal((error as Error).name, 'AnswerLost');
  await new Promise(setImmediate);
  t.equal(await jobState(db, connection.id), 'active', 'its commit is still under way');
  const outcome = await submit('write', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' }).catch((e) => e);
  await run('delete from commit_hold'); // within the second after which the server looks for its client
  t.comment(
    `the submission: ${JSON.stringify(outcome?.kind ?? String(outcome))}, taken again ${reconciled.length} times`,
  );
  if (outcome?.kind === 'created') {
    await eventually(
      'the write is past its boundary',
      () => acted.length,
      (count) => count === 1,
    );
    await eventually(
      'the commits are over',
      () => jobState(db, connection.id),
      (state) => state !== 'created',
      30,
    ).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    t.ok(await jobState(db, connection.id), 'its mailbox has a job while it runs (I1)');
    partition.drop();
    await db.transaction(async (tx) => {
      await tx.query('testTake', 'update partition set epoch = epoch + 1 where id = $1', [partition.id]);
      await recoverPartition(tx, partition.id);
    });
    const [row] = await db.query<{ status: string }>(
      'testStatus',
      `select status from operation where idempotency_key = 'write'`,
    );
    t.equal(row?.status, 'outcome_unknown', 'recovery finds it when the node has died');
  } else t.pass('it was refused');
});
