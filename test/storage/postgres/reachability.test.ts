import t, { type Test } from 'tap';
import { openDatabase } from '../../../storage/postgres/database.js';
import { NotSent, outcomeUnknown, pingDatabase } from '../../../storage/postgres/liveness.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { linkTo } from '../../fixture/link.js';
import { turnsOf } from '../../fixture/measures.js';

const LIMITS = { connect_ms: 500, statement_ms: 500, lock_ms: 0, idle_transaction_ms: 60_000 };

/** A pool behind a faulty link that notes what it is told of outages. */
async function watched(t: Test, maxConnections = 4) {
  const { link, url } = await linkTo(t, (await freshDatabase(t)).url);
  const told: string[] = [];
  const lost: Error[] = [];
  const db = openDatabase({
    ...{ url, maxConnections, applicationName: 'watched', limits: LIMITS },
    onError: (error) => lost.push(error),
    outage: { began: () => told.push('began'), ended: () => told.push('ended') },
  });
  t.teardown(() => db.close());
  const back = () =>
    eventually(
      'it is found again',
      async () => told.at(-1),
      (last) => last === 'ended',
    );
  return { db, link, told, lost, back };
}

for (const trouble of ['stall', 'deaf', 'refuse'] as const) {
  t.test(`a link that fails (${trouble}) is noticed once, and found again without a statement`, async (t) => {
    const { db, link, told, back } = await watched(t);
    await Promise.all([1, 2, 3].map(() => pingDatabase(db)));
    if (trouble === 'stall') link.stall('both');
    else link[trouble]();
    while (told.length === 0) await pingDatabase(db).catch(() => {});
    const asked = Promise.all(
      Array.from({ length: 100 }, () => pingDatabase(db).then(String, (error: unknown) => error)),
    );
    const turns = await turnsOf(asked);
    const errors = await asked;
    t.ok(turns < 100, `nobody waits for what cannot come: ${turns} turns of the event loop`);
    t.ok(errors.every((error) => error instanceof NotSent && !outcomeUnknown(error)));
    if (trouble === 'refuse') link.accept();
    else link.pass();
    await back();
    await pingDatabase(db);
    t.strictSame(told, ['began', 'ended']);
  });
}

t.test('what fails is counted by how it did, a connection that does not come as well', async (t) => {
  const { db } = await watched(t);
  await t.rejects(db.query('testRefused', 'select 1 / 0'), { code: '22012' });
  await t.rejects(db.query('testNotNow', `do $$ begin raise 'not now' using errcode = '55P03'; end $$`));
  await t.rejects(
    db.transaction(() => Promise.reject(new Error('its own'))),
    { message: 'its own' },
  );
  t.strictSame(db.stats().failures, { no_connection: 0, answer_lost: 0, refused_for_now: 1, refused: 1 });
  const away = await watched(t);
  away.link.refuse();
  for (let n = 0; n < 2; n++) await t.rejects(pingDatabase(away.db), NotSent);
  t.strictSame(away.db.stats().failures, { no_connection: 2, answer_lost: 0, refused_for_now: 0, refused: 0 });
});

t.test('a full pool is no outage', async (t) => {
  const { db, told } = await watched(t, 1);
  await pingDatabase(db); // what takes long to connect on a busy machine is another matter
  const sleeping = db.query('testSleep', 'select pg_sleep(0.1)');
  const queue = await Promise.allSettled(
    Array.from({ length: 8 }, () => db.query('testSleep', 'select pg_sleep(0.1)')),
  );
  t.ok(queue.some(({ status }) => status === 'rejected'));
  await sleeping;
  t.strictSame(told, []);
});

t.test('the loss of all idle connections is told once, and costs nobody a statement', async (t) => {
  const { db, link, told, lost } = await watched(t);
  await Promise.all([1, 2, 3, 4].map(() => pingDatabase(db)));
  link.cut();
  await eventually(
    'the loss is told',
    async () => lost.length,
    (count) => count > 0,
  );
  await pingDatabase(db);
  t.equal(lost.length, 1);
  t.strictSame(told, []);
});
