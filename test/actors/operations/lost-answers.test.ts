import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { cancelOperation } from '../../../storage/operations/operations.js';
import { eventually } from '../../fixture/eventually.js';
import { jobIds, jobState } from '../../fixture/jobs.js';
import { operationsThread } from './thread.js';

/** What each statement of an execution does when its answer is lost after its commit: the link is deaf, then cut. */
const succeeded = async () => ({ status: 'succeeded', result: {} }) as const;

t.test('an answer lost at any statement of an execution loses nothing and runs nothing twice', async (t) => {
  // What to lose: the answer to the statement that is under way when the operation's row shows this.
  for (const [name, shows] of [
    ['start', "status = 'running'"],
    ['boundary', "attempts -> -1 ->> 'phase' = 'dispatching'"],
    ['end', "status = 'succeeded'"],
  ] as const) {
    await t.test(name, async (t) => {
      const acted: string[] = [];
      const { link, db, submit, ended, connection, partition, context } = await operationsThread(
        t,
        async (execution) => {
          if (name === 'boundary' && acted.length === 0) link.deaf();
          await execution.boundary();
          acted.push(execution.operationId);
          if (name === 'end' && acted.length === 1) link.deaf();
          return { status: 'succeeded', result: {} };
        },
      );
      if (name === 'start')
        context.onActorState = (_, kind) => kind === 'starting' && acted.length === 0 && link.deaf();
      t.match(await submit('one', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' }), { kind: 'created' });
      await eventually(
        `the row shows it`,
        () =>
          db.query('testShows', `select 1 as one from operation where connection_id = $1 and ${shows}`, [
            connection.id,
          ]),
        (rows) => rows.length > 0,
      );
      link.pass(); // cuts what was deaf
      t.match(await ended('one'), { status: 'succeeded' });
      t.equal(acted.length, 1, 'once');
      await submit('two', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' });
      link.pass();
      t.match(await ended('two'), { status: 'succeeded' }, 'and the connection goes on');
      t.strictSame(await jobIds(db, 'operation'), []);
      t.strictSame(partition.inHand, []);
    });
  }
});

t.test('a submission that was stored as handed over runs, although its answer was lost', async (t) => {
  const { link, db, submit, ended, partition, reconciled } = await operationsThread(t, succeeded);
  t.equal(partition.direct, true);
  link.deaf();
  const lost = submit('key');
  await eventually(
    'it is stored',
    () => jobIds(db, 'operation'),
    (ids) => ids.length === 1,
  );
  link.pass();
  await t.rejects(lost, 'nothing is promised');
  t.match(await submit('key'), { kind: 'replayed' }, 'the client repeats it');
  await ended('key');
  t.equal(reconciled.length, 1);
  await eventually('it is handed over again', () => partition.direct, Boolean);
  await submit('next');
  await ended('next');
});

t.test('a fetch whose answer was lost forgets nothing, and keeps the order', async (t) => {
  const { link, db, submit, ended, attempts, partition } = await operationsThread(t, succeeded);
  partition.queueGrew(); // from now on what is submitted waits in the queue
  link.stall('up');
  const answers = ['a', 'b', 'c'].map((key) => submit(key).catch(() => submit(key)));
  link.pass();
  await Promise.all(answers);
  for (const key of ['a', 'b', 'c']) await ended(key);
  // Now a fetch that takes jobs while the link is deaf.
  await eventually('quiet', () => partition.inHand.length === 0 && partition.comparable, Boolean);
  link.deaf();
  const lost = ['d', 'e', 'f'].map((key) => submit(key).catch(() => undefined));
  await eventually(
    'stored',
    () => jobIds(db, 'operation'),
    (ids) => ids.length === 3,
  );
  link.pass();
  await Promise.all(lost);
  for (const key of ['d', 'e', 'f']) await ended(key);
  t.strictSame([...attempts].sort(), attempts, 'in the order of their acceptance');
});

t.test('a cancel that arrives while a transient failure is being stored is not forgotten', async (t) => {
  let canceled: Promise<unknown> = Promise.resolve();
  const { db, submit, ended, attempts } = await operationsThread(t, async ({ operationId }) => {
    canceled = cancelOperation(db, operationId);
    await canceled;
    return { status: 'failed', failure: { code: 'proxy_error' }, transient: true };
  });
  await submit('one');
  t.match(await ended('one'), { status: 'canceled', cancel_requested: true });
  t.equal(attempts.length, 1);
  t.strictSame(await jobIds(db, 'operation'), []);
});

t.test('an operation that rows show as fetched and nobody has in hand is found by comparing them', async (t) => {
  const { db, connection, submit, ended, sweep, reconciled, partition } = await operationsThread(t, succeeded);
  await submit('known');
  await ended('known');
  // As a fetch that arrived late, after its connection was given up, would leave it.
  const id = uuidv7();
  await db.transaction(async (tx) => {
    await tx.query(
      'testOperation',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
       select $1, workspace_id, id, partition, 'social.identity.get', 'queued', 'lost', '', '{}' from connection where id = $2`,
      [id, connection.id],
    );
    await tx.query(
      'testJob',
      `insert into pgboss.job_common (id, name, state, started_on) values ($1, 'operation-' || $2::smallint, 'active', now())`,
      [id, connection.partition],
    );
  });
  await eventually(
    'the sweep has looked twice',
    async () => {
      await sweep.look();
      return reconciled.length;
    },
    (count) => count === 1,
    20_000,
  );
  t.match(await ended('lost'), { status: 'succeeded' });
  t.equal(await jobState(db, id), undefined);
  t.equal(partition.epoch, 2);
});
