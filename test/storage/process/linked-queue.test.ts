import fc from 'fast-check';
import t from 'tap';
import { LinkedQueue } from '../../../storage/process/linked-queue.js';

t.test('it goes on as a set that is taken from at its head', async (t) => {
  const items = Array.from({ length: 6 }, (_, n) => ({ n }));
  const step = fc.record({ does: fc.constantFrom('add', 'delete', 'take'), n: fc.nat(items.length - 1) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new LinkedQueue<{ n: number }>();
      const set = new Set<{ n: number }>();
      for (const { does, n } of steps) {
        const item = items[n] as { n: number };
        if (does === 'add') {
          queue.add(item);
          set.add(item);
        } else if (does === 'delete') {
          if (queue.delete(item) !== set.delete(item)) return false;
        } else {
          if ([...queue].some((one, place) => one !== [...set][place])) return false;
          const [first] = set;
          if (first) set.delete(first);
          if (queue.take() !== first) return false;
        }
        if (queue.size !== set.size) return false;
      }
      return [...set].every((one) => queue.take() === one) && queue.take() === undefined;
    }),
    { numRuns: 500 },
  );
  t.pass();
});
