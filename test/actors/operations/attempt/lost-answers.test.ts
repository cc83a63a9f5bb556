import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../actors/limits.js';
import { UNKNOWN_PROGRESS } from '../../../../storage/model/evidence.js';
import { cancelOperation } from '../../../../storage/operations/operations.js';
import { recoverPartition } from '../../../../storage/partitions/recovery.js';
import { NotSent } from '../../../../storage/postgres/liveness.js';
import { eventually } from '../../../fixture/eventually.js';
import { jobIds, jobState } from '../../../fixture/jobs.js';
import { operationsThread, WORKER } from '../thread.js';

/** What each statement of an execution does when its answer is lost after its commit: the link is deaf, then cut. */
const succeeded = async () => ({ status: 'succeeded', result: {} }) as const;

/** The rows end before the partition has let go of what it did. */
const nothingInHand = (partition: { readonly inHand: readonly string[] }) =>
  eventually(
    'nothing is left in hand',
    () => partition.inHand,
    (left) => left.length === 0,
  );

t.test('an answer lost at any statement of an execution loses nothing and runs nothing twice', async (t) => {
  // What to lose: the answer to the statement that is under way when the operation's row shows this.
  for (const [name, shows] of [
    ['start', "status = 'running'"],
    ['boundary', "attempts -> -1 ->> 'phase' = 'dispatching'"],
    ['end', "status = 'succeeded'"],
  ] as const) {
    await t.test(name, async (t) => {
      const acted: string[] = [];
      const { link, db, submit, storeElsewhere, ended, connection, partition, context } = await operationsThread(
        t,
        async (execution) => {
          if (name === 'boundary' && acted.length === 0) link.deaf();
          await execution.boundary();
          acted.push(execution.operationId);
          if (name === 'end' && acted.length === 1) link.deaf();
          return { status: 'succeeded', result: {} };
        },
      );
      context.onActorState = (_, kind) => kind === 'starting' && acted.length === 0 && link.deaf();
      const store = name === 'start' ? storeElsewhere : submit; // what is stored here starts with its acceptance
      await store('one', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' });
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
      // One that finds no connection yet was not sent: its client sends it again.
      const notSent = (error: unknown) => error instanceof NotSent || Promise.reject(error);
      await eventually(
        'another one is taken',
        () => submit('two', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' }).catch(notSent),
        (answer) => answer !== true,
      );
      link.pass();
      t.match(await ended('two'), { status: 'succeeded' }, 'and the connection goes on');
      await eventually(
        'no job is left, not even one that was made due meanwhile',
        () => jobIds(db, 'mailbox'),
        (jobs) => jobs.length === 0,
      );
      await nothingInHand(partition);
    });
  }
});

t.test(
  'an answer lost at an end with which the next operation started loses neither, and runs nothing twice',
  async (t) => {
    const second = Promise.withResolvers<void>();
    const { link, db, submit, ended, attempts, partition } = await operationsThread(t, async ({ operationId }) => {
      if (attempts.length === 1) {
        await second.promise; // now the next one waits behind it
        link.deaf();
      }
      return { status: 'succeeded', result: { operationId } };
    });
    await submit('one');
    await submit('two');
    await submit('three');
    second.resolve();
    await eventually(
      'the next one runs in the rows',
      () =>
        db.query<{ idempotency_key: string }>(
          'testRuns',
          `select idempotency_key from operation where status = 'running'`,
        ),
      ([row]) => row?.idempotency_key === 'two',
    );
    t.equal(attempts.length, 1, "and is in nobody's hand yet");
    link.pass();
    for (const key of ['one', 'two', 'three']) {
      const operation = await ended(key);
      t.match(operation?.attempts, [{ number: 1, status: 'succeeded' }]);
      t.equal(operation?.attempts.length, 1);
    }
    t.equal(attempts.length, 3);
    await nothingInHand(partition);
  },
);

t.test('a partition that is given up leaves what started with an end to the next owner', async (t) => {
  const waiting = Promise.withResolvers<void>();
  const { db, submit, connection, partition, attempts, context } = await operationsThread(t, async () => {
    await waiting.promise;
    return { status: 'succeeded', result: {} };
  });
  await submit('one');
  await submit('two');
  context.onActorState = (_, kind) => kind === 'finishing' && setImmediate(() => void partition.quiesce());
  waiting.resolve();
  await eventually(
    'nothing runs here',
    () => partition.running,
    (running) => running === 0,
  );
  await nothingInHand(partition);
  await db.transaction((tx) => recoverPartition(tx, partition.id));
  const rows = await db.query<{ status: string; attempts: object[] }>(
    'testRows',
    'select status, attempts from operation where connection_id = $1 order by id',
    [connection.id],
  );
  t.match(rows, [{ status: 'succeeded' }, { status: 'queued' }]);
  t.ok(attempts.length <= 2);
});

t.test('evidence whose answer was lost is stored once, with the boundary that was passed first', async (t) => {
  const request = { sent: 'yes', at: new Date().toISOString() } as const;
  const evidence = { request, answer: null, fault: 'connection_lost' } as const;
  const { link, db, thread, submit, ended, context } = await operationsThread(t, async (execution) => {
    link.deaf();
    await execution.boundary();
    // The end finds a connection, whatever else takes one: a deaf link makes none.
    const connected = () => thread.query('testConnected', 'select pg_sleep(0.05)').catch(() => {});
    await Promise.all(Array.from({ length: 4 }, connected));
    link.deaf();
    return { status: 'outcome_unknown', evidence };
  });
  let finishing = 0;
  context.onActorState = (_, kind) => kind === 'finishing' && finishing++;
  await submit('one', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' });
  const attempt = () =>
    db.query<{ status: string; boundary: object | null }>(
      'testAttempt',
      `select status, attempts -> -1 -> 'boundary' as boundary from operation`,
    );
  const [passed] = await eventually('the boundary is durable', attempt, ([row]) => Boolean(row?.boundary));
  link.pass();
  await eventually('the end is stored', attempt, ([row]) => row?.status === 'outcome_unknown');
  link.pass();
  const operation = await ended('one');
  t.strictSame(operation?.evidence, evidence);
  t.strictSame(
    operation?.attempts.map(({ boundary }) => boundary),
    [passed?.boundary],
  );
  t.match(passed?.boundary, WORKER);
  t.match(operation?.attempts, [{ phase: 'dispatching', status: 'outcome_unknown' }], 'no answer came');
  t.equal(operation?.timeline.filter(({ to }) => to === 'outcome_unknown').length, 1);
  t.equal(finishing, 1);
});

t.test('what is canceled past its boundary and stays in question keeps its evidence', async (t) => {
  const evidence = { ...UNKNOWN_PROGRESS, fault: 'upstream_timeout' } as const;
  const { db, submit, ended } = await operationsThread(t, async (execution) => {
    await execution.boundary();
    await db.transaction((tx) => cancelOperation(tx, execution.operationId));
    return { status: 'outcome_unknown', evidence };
  });
  await submit('one', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' });
  t.match(await ended('one'), { status: 'outcome_unknown', cancel_requested: true, evidence });
});

t.test('a submission that was stored as handed over runs, although its answer was lost', async (t) => {
  const { link, db, submit, ended, partition, reconciled } = await operationsThread(t, succeeded);
  t.equal(partition.direct, true);
  link.deaf();
  const lost = submit('key');
  await eventually(
    'it is stored, and runs',
    () => db.query<{ status: string }>('testStatus', 'select status from operation'),
    ([row]) => row?.status === 'running',
  );
  link.pass();
  await t.rejects(lost, 'nothing is promised');
  t.match(await submit('key'), { kind: 'replayed' }, 'the client repeats it');
  t.match(
    (await ended('key'))?.attempts,
    [{ status: 'abandoned' }, { status: 'succeeded' }],
    'nobody knew of the first',
  );
  t.equal(reconciled.length, 1);
  await eventually('it is handed over again', () => partition.direct, Boolean);
  await submit('next');
  await ended('next');
});

t.test('what starts with its acceptance overtakes nothing that is being fetched', async (t) => {
  const { link, connection, partition, storeElsewhere, submit, ended, attempts, db } = await operationsThread(
    t,
    succeeded,
  );
  await submit('first');
  await ended('first');
  for (let round = 0; round < 5; round++) {
    link.stall('up');
    const late = submit(`late ${round}`); // the actor has nothing in hand, and is reserved for it
    await new Promise(setImmediate);
    await storeElsewhere(`early ${round}`);
    void partition.fetch();
    link.pass();
    t.match(await late, { kind: 'created' });
    for (const key of [`early ${round}`, `late ${round}`]) await ended(key);
  }
  const rows = await db.query<{ id: string; idempotency_key: string }>(
    'testKeys',
    'select id, idempotency_key from operation where connection_id = $1',
    [connection.id],
  );
  const keys = new Map(rows.map((row) => [row.id, row.idempotency_key]));
  const inOrder = Array.from({ length: 5 }, (_, round) => [`early ${round}`, `late ${round}`]).flat();
  t.strictSame(
    attempts.map((id) => keys.get(id)),
    ['first', ...inOrder],
  );
});

t.test('what is stored while a mailbox is being read overtakes nothing, whatever clocks show', async (t) => {
  const { connection, context, partition, storeElsewhere, ended, attempts } = await operationsThread(t, succeeded);
  const { query } = context.db;
  const behind = uuidv7();
  const [ahead, further] = [uuidv7({ msecs: Date.now() + 60_000 }), uuidv7({ msecs: Date.now() + 60_001 })];
  const store = (key: string, id: string) => storeElsewhere(key, 'social.identity.get', {}, connection.id, id);
  context.db.query = async (name, ...statement) => {
    if (name === 'readQueued' && attempts.length === 0) {
      context.db.query = query;
      await store('second', behind);
      await store('third', further);
    }
    return query(name, ...statement) as never;
  };
  await store('first', ahead);
  await partition.fetch();
  await ended('third');
  t.strictSame(attempts, [ahead, behind, further]);
});

t.test('what is handed to an actor while it is reserved runs, whatever it was reserved for', async (t) => {
  const { connection, workspaceId, submit, ended, partition, attempts } = await operationsThread(t, succeeded);
  await submit('known');
  await ended('known');
  const refused = submit('known', 'social.identity.get', { other: 'input' }); // the actor is reserved for it
  const next = submit('next');
  t.match(await refused, { kind: 'conflict' });
  t.match(await next, { kind: 'created' });
  await ended('next');
  t.equal(attempts.length, 2);
  // The operation has ended before its actor has heard so.
  await eventually(
    'the actor has put it away',
    () => partition.inHand,
    ({ length }) => length === 0,
  );
  t.equal(partition.actor(connection.id)?.workspaceId ?? workspaceId, workspaceId);
});

t.test('a fetch whose answer was lost forgets nothing, and keeps the order', async (t) => {
  const { link, db, storeElsewhere, submit, connection, ended, attempts, partition } = await operationsThread(
    t,
    succeeded,
  );
  await eventually('quiet', () => partition.comparable, Boolean);
  for (const key of ['a', 'b', 'c']) await storeElsewhere(key);
  link.deaf();
  void partition.fetch();
  await eventually(
    'the mailbox was opened',
    () => jobState(db, connection.id),
    (state) => state === 'active',
  );
  await storeElsewhere('d');
  link.pass();
  const last = submit('e').catch(() => submit('e'));
  for (const key of ['a', 'b', 'c', 'd']) await ended(key);
  await last;
  await ended('e');
  t.strictSame([...attempts].sort(), attempts, 'in the order of their acceptance');
  t.equal(new Set(attempts).size, 5);
});

t.test('a cancel that arrives while a transient failure is being stored is not forgotten', async (t) => {
  let canceled: Promise<unknown> = Promise.resolve();
  const { db, submit, ended, attempts } = await operationsThread(t, async ({ operationId }) => {
    canceled = db.transaction((tx) => cancelOperation(tx, operationId));
    await canceled;
    return { status: 'failed', failure: { code: 'proxy_error' }, transient: true };
  });
  await submit('one');
  t.match(await ended('one'), { status: 'canceled', cancel_requested: true });
  t.equal(attempts.length, 1);
  await eventually(
    'its mailbox is closed',
    () => jobIds(db, 'mailbox'),
    (jobs) => jobs.length === 0,
  );
});

t.test('a mailbox that rows show as open and nobody has in hand is found by comparing them', async (t) => {
  const { db, connection, storeElsewhere, submit, ended, sweep, reconciled, partition } = await operationsThread(
    t,
    succeeded,
  );
  await submit('known');
  await ended('known');
  await eventually(
    'its mailbox is closed',
    () => jobIds(db, 'mailbox'),
    (jobs) => jobs.length === 0,
  );
  // As an opening that arrived late, after its connection to the database was given up, would leave it.
  await db.transaction(async (tx) => {
    await tx.query('testLockPartition', 'select 1 as one from partition where id = $1 for update', [partition.id]); // nothing is opened
    await storeElsewhere('lost');
    await eventually(
      'it stands there as open',
      () =>
        db.query(
          'testOpened',
          `update pgboss.job_common set state = 'active', started_on = now() where id = $1 returning id`,
          [connection.id],
        ),
      (rows) => rows.length === 1,
    );
  });
  await eventually(
    'the sweep has looked twice',
    async () => {
      await sweep.look();
      return reconciled.length;
    },
    (count) => count === 1,
  );
  t.match(await ended('lost'), { status: 'succeeded' });
  t.equal(partition.epoch, 2);
});

t.test('a mailbox that is long in use is read from where its work stands', async (t) => {
  const { db, connection, submit, ended } = await operationsThread(t, succeeded);
  const keys = Array.from({ length: LIMITS.mailbox_ended + 10 }, (_, n) => `${n}`);
  const busy = setInterval(() => void submit(`more ${performance.now()}`).catch(() => {}), 50);
  t.teardown(() => clearInterval(busy));
  await Promise.all(keys.map((key) => submit(key)));
  const first = await ended('0');
  await ended(keys.at(-1) ?? '');
  const [mark] = await eventually(
    'its mark was moved',
    () =>
      db.query<{ mark: string }>('testMark', `select data ->> 'from' as mark from pgboss.job_common where id = $1`, [
        connection.id,
      ]),
    ([row]) => row !== undefined && row.mark > (first?.id ?? ''),
  );
  t.ok(mark);
  clearInterval(busy);
});
