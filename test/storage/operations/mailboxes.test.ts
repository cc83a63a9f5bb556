import { createHash, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { closeMailboxes, openMailboxes, readLong, readQueued } from '../../../storage/operations/mailboxes.js';
import { type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, type OwnedPartition, renewLeases } from '../../../storage/partitions/partitions.js';
import { recoverPartition } from '../../../storage/partitions/recovery.js';
import { type Database, openDatabase, type Sql } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../fixture/database.js';
import { jobIds, jobState } from '../../fixture/jobs.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';

async function fixture(t: Test) {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 60_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const mine = owned.find((one) => one.id === connection.partition)!;
  const operation = (id = uuidv7(), of = connection): NewOperation => {
    const hash = createHash('sha256').update(id).digest();
    return {
      ...{ id, workspaceId, connectionId: of.id, partition: of.partition, idempotencyKey: id, keyHash: hash },
      ...{
        capability: 'social.profile.get',
        fingerprint: hash,
        input: '{}',
        inputSealed: null,
        acceptedAt: new Date(),
      },
    };
  };
  const open = async () => (await openMailboxes(db, [mine], 10))[0]!.due;
  const read = async (first: string) =>
    (await readQueued(db, [{ partition: mine.id, connectionId: connection.id, first }], 10)).queued.map(({ id }) => id);
  const version = async () =>
    (
      await db.query<{ xmin: string }>('testVersion', 'select xmin from pgboss.job_common where id = $1', [
        connection.id,
      ])
    )[0]?.xmin ?? '1';
  /** By the owner that opened it last, unless it knows another version. */
  const close = async (from: string | null, sql: Sql = db, known?: string) => {
    const mailbox = { connectionId: connection.id, partition: mine.id, epoch: mine.epoch, from };
    return (await closeMailboxes(sql, [{ ...mailbox, version: known ?? (await version()) }]))[0]?.kind;
  };
  const end = (id: string) => db.query('testEnd', `update operation set status = 'canceled' where id = $1`, [id]);
  return { db, url, workspaceId, connection, owned, mine, node, operation, open, read, close, version, end };
}

t.test('a mailbox is opened by its first operation, taken for granted while it is open, and closed', async (t) => {
  const { db, connection, mine, operation, open, close, end } = await fixture(t);
  const [one, two] = [operation(), operation()];
  t.match(await submitOperations(db, [one], [mine]), [{ kind: 'created', handed: true }]);
  t.equal(await jobState(db, connection.id), 'active');
  t.match(await submitOperations(db, [two], [mine], [connection.id]), [{ kind: 'created', handed: true }]);
  t.strictSame(await open(), [], 'there is nothing that its owner does not know');
  t.equal(await close(one.id), 'moved');
  await end(one.id);
  await end(two.id);
  t.equal(await close(null), 'closed');
  t.strictSame(await jobIds(db, 'mailbox'), []);
  t.equal(await close(null), 'closed', 'however often it is asked');
  t.match(await submitOperations(db, [operation()], [mine], [connection.id]), [{ handed: true }], 'it is opened anew');
});

t.test('what another node stores makes it due, and is read from there on', async (t) => {
  const { db, connection, mine, operation, open, read, close } = await fixture(t);
  const [one, two, three, four] = [operation(), operation(), operation(), operation()];
  await submitOperations(db, [one], [mine]);
  t.match(await submitOperations(db, [two], []), [{ kind: 'created', handed: false }]);
  t.match(
    await submitOperations(db, [three], [mine], [connection.id]),
    [{ handed: false }],
    'nothing is handed over behind what its owner has not read',
  );
  t.equal(await close(null), 'left', 'and it is not closed');
  const [due] = await open();
  t.match(due, { connection_id: connection.id, from: one.id, new: two.id });
  t.strictSame(await read(due!.new!), [two.id, three.id]);
  t.match(await submitOperations(db, [four], [mine], [connection.id]), [{ handed: true }], 'now it is known');
  t.strictSame(await open(), []);
});

t.test('what is stored below after a mailbox was opened is read with what was stored after it', async (t) => {
  const { db, mine, operation, open, read } = await fixture(t);
  const [held, below, seen, above] = [operation(), operation(), operation(), operation()];
  await submitOperations(db, [held], [mine]);
  await submitOperations(db, [seen], []);
  const [due] = await open();
  t.equal(due!.new, seen.id);
  await submitOperations(db, [below], []); // its node took long to store it, or has a clock that is behind
  await submitOperations(db, [above], []);
  t.strictSame(await read(due!.new!), [below.id, seen.id, above.id]);
});

t.test('a long mailbox is read as it was at one moment', async (t) => {
  const { db, connection, mine, operation, open } = await fixture(t);
  const below = operation();
  const queued = Array.from({ length: 7 }, () => operation());
  const above = operation();
  await submitOperations(db, queued, []);
  const [due] = await open();
  const statements: string[] = [];
  const meanwhile = [undefined, below, above];
  const between: Database = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query: async (name, text, values) => {
            const rows = await tx.query<never>(name, text, values);
            const comes = meanwhile[statements.push(name) - 1];
            if (comes) await submitOperations(db, [comes], []);
            return rows;
          },
        }),
      ),
  };
  const mailbox = { partition: mine.id, connectionId: connection.id, first: due!.new! };
  t.strictSame(await readQueued(db, [mailbox], 3), { queued: [], long: [mailbox] });
  const rows = await readLong(between, [mailbox], 3);
  t.strictSame(
    rows.map(({ id }) => id),
    queued.map(({ id }) => id),
  );
  t.strictSame(statements, ['seeOneMoment', 'readQueued', 'readQueued', 'readQueued']);
});

t.test('what its owner adds to a mailbox that another node has made hides nothing of it', async (t) => {
  const { db, connection, mine, operation, open } = await fixture(t);
  const [one, two] = [operation(), operation()];
  await submitOperations(db, [one], []);
  // Its owner takes it for open: the answer to its closing came late.
  t.match(await submitOperations(db, [two], [mine], [connection.id]), [{ handed: false }]);
  t.match(await open(), [{ from: one.id, new: one.id }]);
});

t.test('an operation below the mark lowers it, whoever stores it', async (t) => {
  const { db, connection, mine, operation, open, close, end } = await fixture(t);
  const early = operation();
  const earlier = [operation(), operation()];
  const late = operation();
  await submitOperations(db, [late], [mine]);
  t.match(await submitOperations(db, [earlier[0]!], [mine], [connection.id]), [{ handed: false }]);
  t.match(await open(), [{ from: earlier[0]!.id, new: earlier[0]!.id }]);
  await end(earlier[0]!.id);
  t.equal(await close(late.id), 'moved');
  await submitOperations(db, [early], []);
  t.match(await open(), [{ from: early.id, new: early.id }]);
});

t.test('a closing that comes late finds another opening, and changes nothing', async (t) => {
  const { db, connection, mine, operation, open, close, version, end } = await fixture(t);
  const [one, two] = [operation(), operation()];
  await submitOperations(db, [one], [mine]);
  const first = await version();
  await end(one.id);
  await submitOperations(db, [two], []);
  const [due] = await open();
  t.equal(due!.version, await version(), 'its owner knows the version that it opened');
  t.equal(await close(null, db, first), 'left');
  t.equal(await close(two.id, db, first), 'left');
  t.equal(await close(two.id, db, due!.version), 'moved');
  t.equal(await close(null, db, due!.version), 'left', 'one whose answer was lost moved the mark');
  t.equal(await jobState(db, connection.id), 'active');
});

t.test('a mailbox that somebody stores into is neither opened nor closed meanwhile', async (t) => {
  const { db, mine, operation, open, read, close, end } = await fixture(t);
  const [one, two] = [operation(), operation()];
  await submitOperations(db, [one], [mine]);
  await end(one.id);
  await db.transaction(async (tx) => {
    await submitOperations(tx, [two], []);
    t.equal(await close(null), 'left');
    t.strictSame(await open(), []);
  });
  t.equal(await close(null), 'left');
  const [due] = await open();
  t.strictSame(await read(due!.new!), [two.id]);
});

t.test('under a stale epoch nothing is handed over, opened or closed', async (t) => {
  const { db, connection, mine, operation, open, close, end } = await fixture(t);
  const one = operation();
  await submitOperations(db, [one], [mine]);
  await end(one.id);
  await db.transaction(async (tx) => {
    await tx.query('testNextEpoch', 'update partition set epoch = epoch + 1 where id = $1', [mine.id]);
    await recoverPartition(tx, mine.id);
  });
  t.match(await submitOperations(db, [operation()], [mine], [connection.id]), [{ handed: false }]);
  t.strictSame(await open(), []);
  t.equal(await close(null), 'left');
  t.equal(await jobState(db, connection.id), 'created');
});

t.test('the mailbox of a connection that is gone is told as such', async (t) => {
  const { db, connection, mine, operation, open, close } = await fixture(t);
  await submitOperations(db, [operation()], []);
  await db.query('testGone', 'delete from connection where id = $1', [connection.id]);
  t.match(await open(), [{ connection_id: connection.id, workspace_id: null }]);
  t.equal(await close(null), 'closed');
  t.ok(mine);
});

t.test('a recovery finds what runs in mailboxes that were made due while it ran', async (t) => {
  const { db, connection, mine, operation } = await fixture(t);
  const [one, two] = [operation(), operation()];
  await submitOperations(db, [one], [mine]);
  await db.query('testRuns', `update operation set status = 'running', epoch = $2, attempts = $3 where id = $1`, [
    one.id,
    mine.epoch,
    JSON.stringify([{ id: uuidv7(), number: 1, status: 'running', phase: 'dispatching' }]),
  ]);
  await submitOperations(db, [two], []);
  t.equal(await jobState(db, connection.id), 'created');
  t.match(await db.transaction((tx) => recoverPartition(tx, mine.id)), { outcome_unknown: 1 });
});

/** A connection in each of so many partitions, with what its owner knows of the partition. */
async function inPartitions(
  { db, workspaceId, owned }: Pick<Awaited<ReturnType<typeof fixture>>, 'db' | 'workspaceId' | 'owned'>,
  count: number,
) {
  const found = new Map<number, { id: string; partition: number }>();
  while (found.size < count) {
    const connection = await insertSimulated(db, workspaceId, randomUUID());
    found.set(connection.partition, connection);
  }
  return [...found.values()].map((connection) => ({
    connection,
    partition: owned.find(({ id }) => id === connection.partition) as OwnedPartition,
  }));
}

t.test('a mailbox that is left out is told of when it is due, and opened later', async (t) => {
  const { db, connection, mine, operation } = await fixture(t);
  const but = [connection.id];
  const open = async (...left: string[]) => (await openMailboxes(db, [{ ...mine, but: left }], 10))[0]!;
  t.strictSame(await open(...but), { due: [], passedBy: [] });
  await submitOperations(db, [operation()], []);
  t.strictSame(await open(...but), { due: [], passedBy: but });
  t.match(await open(uuidv7()), { due: [{ connection_id: connection.id }], passedBy: [] });
  t.strictSame(await open(...but), { due: [], passedBy: [] });
});

t.test('mailboxes of several partitions are opened and read together, each under its epoch', async (t) => {
  const given = await fixture(t);
  const { db, operation } = given;
  const [one, two, stale, empty] = await inPartitions(given, 4);
  const store = async (connection: { id: string; partition: number }, count: number) => {
    const operations = Array.from({ length: count }, () => operation(undefined, connection));
    await submitOperations(db, operations, []);
    return operations.map(({ id }) => id);
  };
  const of = { one: await store(one!.connection, 1), two: await store(two!.connection, 5) };
  await store(stale!.connection, 1);
  const former = { ...stale!.partition, epoch: stale!.partition.epoch - 1 };
  const opened = await openMailboxes(db, [empty!.partition, two!.partition, former, one!.partition], 10);
  t.strictSame(
    opened.map(({ due }) => due.map(({ connection_id }) => connection_id)),
    [[], [two!.connection.id], [], [one!.connection.id]],
  );
  t.equal(await jobState(db, stale!.connection.id), 'created');
  const unread = [one!, two!].map(({ connection: { id: connectionId, partition } }, i) => ({
    ...{ partition, connectionId },
    first: [of.one, of.two][i]![0]!,
  }));
  const whole = await readQueued(db, unread, 10);
  t.strictSame(new Set(whole.queued.map(({ id }) => id)), new Set([...of.one, ...of.two]));
  t.strictSame(whole.long, []);
  const paged = await readQueued(db, unread, 3);
  t.strictSame(
    paged.queued.map(({ id }) => id),
    of.one,
  );
  t.strictSame(paged.long, [unread[1]], 'nothing of a long one is given');
  const long = await readLong(db, paged.long, 3);
  t.strictSame(
    long.map(({ id }) => id),
    of.two,
  );
});

t.test('mailboxes that are due are found among many that are not, and each partition has its share', async (t) => {
  const parts = await fixture(t);
  const { db, url, operation, owned } = parts;
  await db.query(
    'testManyMailboxes',
    `insert into pgboss.job_common (id, name, state, started_on, data)
     select gen_random_uuid(), 'mailbox-' || n % 64, 'active', now(), jsonb_build_object('from', gen_random_uuid())
     from generate_series(1, 30000) n`,
  );
  await db.query('testAnalyze', 'analyze');
  const places = await inPartitions(parts, 32);
  for (const { connection } of places) await submitOperations(db, [operation(undefined, connection)], []);
  const thread = openDatabase({
    url,
    maxConnections: 1,
    applicationName: 'test',
    limits: TIME_LIMITS.thread,
    indexedPlans: true,
  });
  t.teardown(() => thread.close());
  await thread.transaction(async (tx) => {
    const { given, scanned, found } = await rowsRead(tx, 'job_common', async () => {
      const opened = await openMailboxes(tx, owned, 8);
      const unread = opened.flatMap(({ due }, i) =>
        due.map(({ connection_id: connectionId, from: first }) => ({ partition: owned[i]!.id, connectionId, first })),
      );
      return { unread, ...(await readQueued(tx, unread, 10)) };
    });
    t.strictSame(
      given.unread.map(({ connectionId }) => connectionId).sort(),
      places.map(({ connection }) => connection.id).sort(),
    );
    t.equal(given.queued.length, places.length);
    t.equal(scanned, 0, 'no job was read in search of them');
    t.ok(found < 6 * places.length, `${found} jobs were found by an index`);
  });
  const [crowded] = places;
  for (let n = 0; n < 5; n++) {
    const connection = {
      ...(await insertSimulated(db, parts.workspaceId, randomUUID())),
      partition: crowded!.partition.id,
    };
    await submitOperations(db, [operation(undefined, connection)], []);
  }
  await submitOperations(db, [operation(undefined, places[1]!.connection)], []);
  const opened = await openMailboxes(thread, [crowded!.partition, places[1]!.partition], 3);
  t.strictSame(
    opened.map(({ due }) => due.length),
    [3, 1],
  );
});

t.test('where the clock of the database goes back, an operation stays behind those before it', async (t) => {
  const { db, mine, operation } = await fixture(t);
  const [one, two] = [operation(), operation()];
  const [first] = await submitOperations(db, [one], [mine]);
  const ahead = (first as { place: number }).place + 3_600e6; // the server before was an hour ahead
  t.match(await submitOperations(db, [two], [mine], [], undefined, ahead), [{ kind: 'created', place: ahead }]);
  const [row] = await db.query<{ place: number }>(
    'testPlace',
    `select (extract(epoch from created_at) * 1000000)::float8 as place from operation where id = $1`,
    [two.id],
  );
  t.equal(row!.place, ahead, 'to the microsecond, for who reads it from its row');
});
