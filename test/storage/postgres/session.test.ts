import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type Database, openDatabase, type Sql } from '../../../storage/postgres/database.js';
import {
  AnswerLost,
  isLockTimeout,
  isRefusedForNow,
  isUnreachable,
  NotCommitted,
  NotSent,
  outcomeUnknown,
} from '../../../storage/postgres/liveness.js';
import type { TimeLimits } from '../../../storage/postgres/time-limits.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { linkTo } from '../../fixture/link.js';

const SHORT: TimeLimits = { connect_ms: 2_000, statement_ms: 1_000, lock_ms: 200, idle_transaction_ms: 60_000 };

/** A pool behind a faulty link, beside one that reaches the same database directly. */
async function linked(t: Test, limits: Partial<TimeLimits> = {}) {
  const { url, db: direct } = await freshDatabase(t);
  const { link, url: through } = await linkTo(t, url);
  const db = openDatabase({
    ...{ url: through, maxConnections: 2, applicationName: 'linked', limits: { ...SHORT, ...limits } },
    onError: () => {},
  });
  t.teardown(() => db.close());
  await direct.query('testTable', 'create table note (text text primary key)');
  return { db, direct, link };
}

const insert = (sql: Sql, text: string) => sql.query('testInsert', 'insert into note values ($1)', [text]);
const notes = async (sql: Sql) =>
  (await sql.query<{ text: string }>('testNotes', 'select text from note order by text')).map(({ text }) => text);
/** What the table holds, once the database can be reached. */
const found = (db: Database) =>
  eventually(
    'the database is found again',
    () => notes(db).catch(() => undefined),
    (list) => list !== undefined,
  );
const backend = async (sql: Sql) =>
  (await sql.query<{ pid: number }>('testBackend', 'select pg_backend_pid() as pid'))[0]?.pid;
const sessions = (direct: Database) =>
  direct.query<{ state: string }>(
    'testSessions',
    `select state from pg_stat_activity where application_name = 'linked' and datname = current_database()`,
  );

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

t.test('a connection that dies inside a transaction ends no process, and the pool goes on', async (t) => {
  const { db, direct, link } = await linked(t);
  const terminated = await failure(
    db.transaction(async (tx) => {
      await insert(tx, 'terminated');
      await direct.query('testTerminate', 'select pg_terminate_backend($1)', [await backend(tx)]);
      await eventually(
        'the backend is gone',
        () => sessions(direct),
        (rows) => rows.length === 0,
      );
      await insert(tx, 'after it');
    }),
  );
  t.ok(isUnreachable(terminated));
  t.notOk(outcomeUnknown(terminated), 'a transaction without a commit has no effect');
  const cut = await failure(
    db.transaction(async (tx) => {
      await insert(tx, 'cut');
      link.cut();
      await insert(tx, 'after it');
    }),
  );
  t.ok(cut instanceof NotCommitted || cut instanceof NotSent);
  t.notOk(outcomeUnknown(cut));
  await insert(db, 'fine');
  t.strictSame(await notes(direct), ['fine']);
});

t.test('a statement whose answer never comes ends at its limit, and its outcome is unknown', async (t) => {
  const { db, direct, link } = await linked(t);
  await notes(db);
  link.deaf();
  const error = await failure(insert(db, 'stored'));
  t.ok(error instanceof AnswerLost);
  t.ok(isUnreachable(error) && outcomeUnknown(error));
  t.strictSame(await notes(direct), ['stored'], 'as it had to be supposed');
  link.pass();
  t.strictSame(await found(db), ['stored'], 'the next statement has a connection of its own');
});

t.test('a commit whose answer is lost leaves its outcome unknown', async (t) => {
  const { db, direct, link } = await linked(t);
  const error = await failure(
    db.transaction(async (tx) => {
      await insert(tx, 'committed');
      link.deaf();
    }),
  );
  t.ok(error instanceof AnswerLost);
  t.ok(outcomeUnknown(error));
  await eventually(
    'it is stored',
    () => notes(direct),
    (found) => found.includes('committed'),
  );
});

t.test('a rollback on a stalled link does not hang, and its locks are free once the link is back', async (t) => {
  const { db, direct, link } = await linked(t);
  await insert(direct, 'one');
  const thrown = new Error('thrown by the work');
  const error = await failure(
    db.transaction(async (tx) => {
      await tx.query('testLock', 'select * from note for update');
      link.stall('both');
      throw thrown;
    }),
  );
  t.equal(error, thrown);
  link.pass();
  await direct.query('testLock', 'select * from note for update');
  t.strictSame(await found(db), ['one']);
});

t.test('what the server ends itself is a refusal: nothing of it is stored', async (t) => {
  const { db, direct } = await linked(t);
  await insert(direct, 'one');
  const [locked, slow] = await direct.transaction(async (tx) => {
    await tx.query('testLock', 'select * from note for update');
    return [
      await failure(db.query('testUpdate', `update note set text = 'two'`)),
      await failure(db.query('testSleep', 'select pg_sleep(5)')),
    ];
  });
  t.ok(isLockTimeout(locked) && isRefusedForNow(locked));
  t.ok(isRefusedForNow(slow) && !isLockTimeout(slow));
  for (const error of [locked, slow]) t.notOk(isUnreachable(error) || outcomeUnknown(error));
});

t.test('a session that stays idle inside a transaction loses its locks', async (t) => {
  const { db, direct } = await linked(t, { idle_transaction_ms: 300 });
  await insert(direct, 'one');
  const error = await failure(
    db.transaction(async (tx) => {
      await tx.query('testLock', 'select * from note for update');
      await direct.query('testLock', 'select * from note for update');
      await insert(tx, 'late');
    }),
  );
  t.ok(isUnreachable(error));
  t.notOk(outcomeUnknown(error));
  t.strictSame(await notes(direct), ['one']);
});

t.test('a transaction whose failed statement was passed over is not taken for committed', async (t) => {
  const { db, direct } = await linked(t);
  await t.rejects(
    db.transaction(async (tx) => {
      await insert(tx, 'one');
      await failure(insert(tx, 'one'));
    }),
    { message: /rolled back/ },
  );
  t.strictSame(await notes(direct), []);
});

t.test('values that cannot be sent fail their statement alone', async (t) => {
  const { db, direct } = await linked(t);
  const unsendable = {
    toPostgres() {
      throw new RangeError('too large');
    },
  };
  const asked = (sql: Sql) => sql.query('testInsert', 'insert into note values ($1)', [unsendable]);
  await t.rejects(asked(db), RangeError);
  await t.rejects(db.transaction(asked), RangeError);
  await insert(db, 'fine');
  t.strictSame(await notes(direct), ['fine']);
});

t.test('a database that refuses connections is known not to have been asked', async (t) => {
  const nowhere = openDatabase({ url: 'postgres://x@127.0.0.1:1/x', maxConnections: 1, applicationName: 'test' });
  t.teardown(() => nowhere.close());
  for (const error of [await failure(notes(nowhere)), await failure(nowhere.transaction(notes))]) {
    t.ok(error instanceof NotSent);
    t.ok(isUnreachable(error) && !outcomeUnknown(error));
  }
});

t.test('a pool without a free connection says so in time', async (t) => {
  const { db } = await linked(t, { connect_ms: 200 });
  const sleeping = [1, 2].map(() => failure(db.query('testSleep', 'select pg_sleep(0.6)')));
  const error = await failure(notes(db));
  t.ok(error instanceof NotSent);
  await Promise.all(sleeping);
});

/** What a backend says whose postmaster is gone. */
function fatal(): Buffer {
  const text = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeInt32BE(4 + text.length, 1);
  return Buffer.concat([head, Buffer.from(text, 'latin1')]);
}

/** The address of the database of `url` behind a relay whose first connections end in the very packet that makes them ready. */
async function endingWhenReady(t: Test, url: string, endings: number): Promise<string> {
  const ready = Buffer.from('Z\0\0\0\x05I', 'latin1');
  const sockets = new Set<Socket>();
  const server = createServer((node) => {
    const database = connect(Number(new URL(url).port), '127.0.0.1');
    for (const socket of [node, database]) sockets.add(socket.on('error', () => {}));
    node.pipe(database);
    database.on('data', (chunk: Buffer) => {
      if (endings === 0 || !chunk.subarray(-ready.length).equals(ready)) return node.write(chunk);
      endings--;
      return node.end(Buffer.concat([chunk, fatal()]));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = new URL(url);
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  address.search = '';
  return address.href;
}

t.test('a connection that dies in the moment it is made ends no process', async (t) => {
  const { url } = await freshDatabase(t);
  const pool = { maxConnections: 1, applicationName: 'test', limits: SHORT };
  const db = openDatabase({ ...pool, url: await endingWhenReady(t, url, 2) });
  t.teardown(() => db.close());
  for (const work of [() => db.query('testOne', 'select 1'), () => db.transaction(notes)]) {
    const error = await failure(work());
    t.ok(error instanceof NotSent, 'what was to be said on it is known not to have been');
  }
  const found = () => failure(db.query('testOne', 'select 1'));
  await eventually('the next one is made', found, (error) => error === undefined);
  t.ok(isUnreachable(await failure(migrate(await endingWhenReady(t, url, 1)))), 'nor one that migrates');
});
