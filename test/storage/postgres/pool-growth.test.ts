import { EventEmitter } from 'node:events';
import type pg from 'pg';
import t from 'tap';
import { openDatabase } from '../../../storage/postgres/database.js';
import { PoolGrowth } from '../../../storage/postgres/pool-growth.js';
import { freshDatabase } from '../../fixture/database.js';

/** Statements that each hold a connection until all of so many are at work. */
function barrier(count: number) {
  const all = Promise.withResolvers<void>();
  let at = 0;
  return async () => {
    if (++at === count) all.resolve();
    await all.promise;
  };
}

t.test('a pool opens as many connections as work needs at once, and no more than its bound', async (t) => {
  const { db } = await freshDatabase(t);
  await db.query('one', 'select 1');
  t.equal(db.pool.totalCount, 1);
  const together = barrier(8);
  const work = Array.from({ length: 11 }, (_, i) => db.transaction(async () => i < 8 && together()));
  t.equal(db.stats().waiting, 11, 'all wait as they ask, and are counted');
  await Promise.all(work);
  t.equal(db.pool.totalCount, 8);
  t.equal(db.stats().waiting, 0);
});

t.test('what waits for a connection when its pool is closed is still done', async (t) => {
  const { url } = await freshDatabase(t);
  const db = openDatabase({ url, maxConnections: 2, applicationName: 'test' });
  await db.query('one', 'select 1');
  const held = Promise.withResolvers<void>();
  const first = db.transaction(() => held.promise);
  const second = db.query<{ two: number }>('two', 'select 2 as two');
  const closed = db.close();
  t.strictSame(await second, [{ two: 2 }]);
  await t.rejects(db.query('three', 'select 3'), 'what comes later is refused, and waits for nothing');
  held.resolve();
  await Promise.all([first, closed]);
});

t.test('statements wait, in their order, for what is given back, and open one a period where nothing is', async (t) => {
  const counts = { totalCount: 2, idleCount: 0, waitingCount: 0, options: { max: 4 } };
  const pool = Object.assign(new EventEmitter(), counts);
  const growth = new PoolGrowth(pool as unknown as pg.Pool);
  const asked: number[] = [];
  const opened = [0, 1, 2, 3].map((n) => growth.turn()?.then(() => asked.push(n)));
  t.notOk(opened.includes(undefined), 'all wait');

  pool.emit('release');
  pool.idleCount = 1;
  await opened[0];
  t.strictSame(asked, [0], 'one took what was given back');
  t.ok(growth.turn() instanceof Promise, 'who comes later stands behind those that wait');

  pool.idleCount = 0;
  await opened[1];
  t.strictSame(asked, [0, 1], 'nothing was: one is opened');
  pool.totalCount = 4;
  await Promise.all(opened);
  t.strictSame(asked, [0, 1, 2, 3], 'of a full pool they are its own to wait for');
  await growth.close();
});

t.test('at once goes who finds one idle, or no connection at all', async (t) => {
  const pool = Object.assign(new EventEmitter(), { totalCount: 0, idleCount: 0, waitingCount: 0, options: { max: 4 } });
  const growth = new PoolGrowth(pool as unknown as pg.Pool);
  t.equal(growth.turn(), undefined);
  Object.assign(pool, { totalCount: 1, idleCount: 1 });
  t.equal(growth.turn(), undefined);
  pool.waitingCount = 1;
  t.ok(growth.turn() instanceof Promise, 'the idle one is another’s');
  await growth.close();
});

t.test('nobody waits for longer than the pool takes to become full', async (t) => {
  const pool = Object.assign(new EventEmitter(), { totalCount: 1, idleCount: 0, waitingCount: 0, options: { max: 3 } });
  const growth = new PoolGrowth(pool as unknown as pg.Pool);
  const asked: number[] = [];
  await Promise.all(Array.from({ length: 9 }, (_, n) => growth.turn()?.then(() => asked.push(n))));
  t.strictSame(asked, [0, 1, 2, 3, 4, 5, 6, 7, 8], 'although none is opened and none given back');
  await growth.close();
});
