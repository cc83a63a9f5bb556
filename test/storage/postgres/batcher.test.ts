import t from 'tap';
import { Batcher, Full } from '../../../storage/postgres/batcher.js';
import { stall } from '../../fixture/measures.js';

const plain = { maxItems: 10, linger_ms: 0, concurrency: 1, bound: 100 };

t.test('nothing is added while the oldest item waits for too long', async (t) => {
  const gate = Promise.withResolvers<void>();
  const batcher = new Batcher<number, number>({
    ...plain,
    wait_ms: 20,
    flush: async (items) => {
      await gate.promise;
      return items;
    },
  });
  const first = batcher.add(1);
  await new Promise(setImmediate);
  const second = batcher.add(2);
  const third = batcher.add(3);
  stall(25);
  await t.rejects(batcher.add(4), { message: new Full().message });
  gate.resolve();
  t.strictSame(await Promise.all([first, second, third]), [1, 2, 3], 'what was taken in is kept');
  t.equal(await batcher.add(5), 5, 'and there is room again');
});

t.test('a flush is bounded by what its items weigh, and an item that weighs more goes alone', async (t) => {
  const flushed: number[][] = [];
  const batcher = new Batcher<number, number>({
    ...plain,
    weigh: (item) => item,
    maxWeight: 10,
    flush: async (items) => {
      flushed.push(items);
      return items;
    },
  });
  const items = [1, 2, 8, 5, 5, 25, 3, 10, 1, 1];
  t.strictSame(await Promise.all(items.map((item) => batcher.add(item))), items);
  t.strictSame(flushed, [[1, 2], [8], [5, 5], [25], [3], [10], [1, 1]]);
});
