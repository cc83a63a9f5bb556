import fc from 'fast-check';
import t from 'tap';
import { FairQueue } from '../../../storage/process/fair-queue.js';

const KEYS = ['a', 'b', 'c'] as const;

t.test('it serves keys in a round, and the items of a key in their order', async (t) => {
  const items = Array.from({ length: 9 }, (_, n) => ({ key: KEYS[n % 3] as string, n }));
  const step = fc.record({
    does: fc.constantFrom('add', 'delete', 'take'),
    n: fc.nat(items.length - 1),
    barred: fc.constantFrom(undefined, ...KEYS),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new FairQueue<{ key: string; n: number }>();
      let model: [string, { n: number }[]][] = [];
      for (const { does, n, barred } of steps) {
        const item = items[n] as { key: string; n: number };
        const own = model.find(([key]) => key === item.key);
        if (does === 'add') {
          queue.add(item.key, item);
          if (!own) model.push([item.key, [item]]);
          else if (!own[1].includes(item)) own[1].push(item);
        } else if (does === 'delete') {
          const place = own?.[1].indexOf(item) ?? -1;
          if (own && place >= 0) own[1].splice(place, 1);
          if (queue.delete(item.key, item) !== place >= 0) return false;
        } else {
          const served = model.find(([key]) => key !== barred);
          if (queue.take((key) => key !== barred) !== served?.[1].shift()) return false;
          if (served) model = [...model.filter((one) => one !== served), served];
        }
        model = model.filter(([, waiting]) => waiting.length > 0);
        if (queue.size !== model.reduce((sum, [, waiting]) => sum + waiting.length, 0)) return false;
      }
      return true;
    }),
    { numRuns: 500 },
  );
  t.pass();
});
