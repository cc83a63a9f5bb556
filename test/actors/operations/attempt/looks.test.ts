import t, { type Test } from 'tap';
import type { LookEnd, LookExecution, Outcome } from '../../../../actors/operations/attempt/execution.js';
import { UNKNOWN_PROGRESS } from '../../../../storage/model/evidence.js';
import { requestLook } from '../../../../storage/operations/looks.js';
import { findOperations } from '../../../../storage/operations/operations.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { operationsThread } from '../thread.js';

/** Looks in the turn of their connection, on a real database that may fail by halves. */

const NONE: LookEnd = { status: 'looked', look: { found: 'none', matches: [] } };
const INPUT = { recipient_actor_id: 'ACoAA1', body: 'Hello' };

/** Messages end unknown; anything else waits for the gate, and is noted with the looks in the order in which they began. */
async function thread(t: Test, look: (execution: LookExecution) => Promise<LookEnd> = async () => NONE) {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const parts = await operationsThread(
    t,
    async (execution): Promise<Outcome> => {
      if (execution.capability.name !== 'social.message.send') {
        order.push('operation');
        await gate.promise;
        return { status: 'succeeded', result: {} };
      }
      await execution.boundary();
      return { status: 'outcome_unknown', evidence: { ...UNKNOWN_PROGRESS, fault: 'connection_lost' } };
    },
    {
      look: (execution) => {
        order.push('look');
        return look(execution);
      },
    },
  );
  t.teardown(() => gate.resolve());
  const unknown = async (key: string) => {
    await parts.submit(key, 'social.message.send', INPUT);
    return (await parts.ended(key))?.id ?? '';
  };
  return { ...parts, order, unknown, open: () => gate.resolve() };
}

const requests = (db: Database) =>
  db.query<{ operation_id: string }>('testRequests', 'select operation_id from look_request');
const answered = (db: Database) =>
  eventually(
    'no look is asked for any more',
    () => requests(db),
    (rows) => rows.length === 0,
  );
const lookOf = async (db: Database, id: string) => (await findOperations(db, [id]))[0]?.evidence_look;

t.test('a look has the stored input to look for, since a little before the attempt, and is kept', async (t) => {
  const seen: LookExecution[] = [];
  const { db, unknown, looks, awaitable } = await thread(t, async (execution) => {
    seen.push(execution);
    return NONE;
  });
  const id = await unknown('one');
  const [before] = await findOperations(db, [id]);
  t.equal(await requestLook(db, id), 'requested');
  t.equal(await requestLook(db, id), 'repeated', 'asked for once');
  await looks.fetch();
  await answered(db);
  t.equal(seen.length, 1);
  t.strictSame(seen[0]?.sought, {
    ...{ kind: 'message', to: { recipient_actor_id: INPUT.recipient_actor_id } },
    ...{ body: INPUT.body, content: [] },
  });
  t.equal(seen[0]?.since_ms, Date.parse(before?.attempts[0]?.started_at ?? '') - 60_000);
  const [after] = await findOperations(db, [id]);
  t.match(after?.evidence_look, { found: 'none', reason: null, matches: [] });
  t.strictSame({ ...after, evidence_look: null }, before, 'nothing else has changed');
  await eventually(
    'who waits for it is woken',
    async () => awaitable.filter((one) => one === id).length,
    (woken) => woken === 2, // by the end of the operation, and by the look
  );
});

t.test('looks and operations of a connection take turns, however many wait', async (t) => {
  const { db, submit, unknown, looks, order, open, attempts, partition } = await thread(t);
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push(await unknown(`unknown-${n}`));
  for (const id of ids) await requestLook(db, id);
  await Promise.all(Array.from({ length: 300 }, (_, n) => submit(`queued-${n}`)));
  await eventually(
    'all are in hand',
    async () => partition.inHand.length,
    (count) => count === 300,
  );
  await looks.fetch();
  open();
  await answered(db);
  await eventually(
    'all have run',
    async () => attempts.length,
    (count) => count === 303,
  );
  const places = order.flatMap((what, place) => (what === 'look' ? place : []));
  t.equal(places.length, 3);
  t.ok(places[2]! <= 20, `after a few operations, not after all of them: ${places}`);
  for (const [n, place] of places.entries()) t.not(places[n + 1], place + 1, 'an operation between two looks');
});

t.test('nothing is looked at while another operation runs, nor of one that is not unknown', async (t) => {
  const { db, submit, ended, unknown, open, order } = await thread(t);
  const id = await unknown('one');
  await submit('two');
  await eventually(
    'it runs',
    async () => order.length,
    (length) => length > 0,
  );
  t.equal(await requestLook(db, id), 'busy');
  open();
  t.equal(await requestLook(db, (await ended('two'))?.id ?? ''), 'gone');
  await db.query('testHealth', `update connection set health = 'needs_login'`);
  t.equal(await requestLook(db, id), 'not_ready');
  t.strictSame(await requests(db), []);
});

t.test('a connection that is no longer ready ends the request without a look', async (t) => {
  const { db, unknown, looks, order } = await thread(t);
  const id = await unknown('one');
  await requestLook(db, id);
  await db.query('testHealth', `update connection set health = 'needs_login'`);
  await looks.fetch();
  await answered(db);
  t.strictSame(order, []);
  t.equal(await lookOf(db, id), null);
});

for (const lost of ['the opening of a look', 'its end'] as const) {
  t.test(`an answer lost at ${lost} loses nothing and stores once`, async (t) => {
    const { db, link, unknown, looks, order, context } = await thread(t, async () => {
      if (lost === 'its end') link.deaf();
      return NONE;
    });
    const id = await unknown('one');
    await requestLook(db, id);
    if (lost === 'the opening of a look') context.onActorState = (_, kind) => kind === 'looking' && link.deaf();
    await looks.fetch();
    context.onActorState = () => {};
    if (lost === 'its end') await answered(db);
    link.pass(); // cuts what was deaf
    await answered(db);
    t.match(await lookOf(db, id), { found: 'none' });
    t.strictSame(order, ['look']);
  });
}

t.test('a read that fails for a moment is looked at again, three times in all', async (t) => {
  let tries = 0;
  const { db, unknown, looks } = await thread(t, async () => {
    tries++;
    return { status: 'failed', failure: { code: 'proxy_error', details: {} }, transient: true };
  });
  const id = await unknown('one');
  await requestLook(db, id);
  await looks.fetch();
  await answered(db);
  t.equal(tries, 3);
  t.match(await lookOf(db, id), { found: null, reason: 'proxy_error', matches: [] });
});

for (const [state, code] of [
  ['refuses for now', '55P03'],
  ['goes away', '57P01'],
] as const) {
  t.test(`a look whose provider asks a database that ${state} is tried again`, async (t) => {
    let tries = 0;
    const parts = await thread(t, async () => {
      if (++tries === 1)
        await parts.thread.query('testRead', `do $$ begin raise 'not now' using errcode = '${code}'; end $$`);
      return NONE;
    });
    const id = await parts.unknown('one');
    await requestLook(parts.db, id);
    await parts.looks.fetch();
    await answered(parts.db);
    t.equal(tries, 2);
    t.match(await lookOf(parts.db, id), { found: 'none', reason: null });
  });
}

t.test('a look of an owner that lost its partition stores nothing, and stays asked for', async (t) => {
  const looking = Promise.withResolvers<void>();
  const { db, unknown, looks, partition } = await thread(t, async ({ signal }) => {
    looking.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  const id = await unknown('one');
  await requestLook(db, id);
  await looks.fetch();
  await looking.promise;
  partition.drop();
  await partition.quiesce();
  t.match(await requests(db), [{ operation_id: id }]);
  t.equal(await lookOf(db, id), null);
});

t.test('a look that ends under a former epoch stores nothing; the next one does', async (t) => {
  const { db, unknown, looks, order, connection, partition } = await thread(t, async () => {
    if (order.length === 1)
      await db.query('testTaken', 'update partition set epoch = epoch + 1 where id = $1', [connection.partition]);
    return NONE;
  });
  const id = await unknown('one');
  await requestLook(db, id);
  await looks.fetch();
  await eventually(
    'it has looked, and has no look in hand',
    async () => order.length - partition.looking.length,
    (ended) => ended === 1,
  );
  await db.query('testBack', 'update partition set epoch = epoch - 1 where id = $1', [connection.partition]);
  t.match(await requests(db), [{ operation_id: id }]);
  await looks.fetch();
  await answered(db);
  t.match(await lookOf(db, id), { found: 'none' });
});
