import t from 'tap';
import { Backoff } from '../../../storage/process/backoff.js';

const takeWaits = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next_ms());

t.test('waits double up to the cap, and begin again after a success', async (t) => {
  const backoff = new Backoff({ first_ms: 100, cap_ms: 1_000 });
  t.same(takeWaits(backoff, 6), [100, 200, 400, 800, 1_000, 1_000]);
  backoff.reset();
  t.same(takeWaits(backoff, 2), [100, 200]);
});

t.test('jitter takes at most half of each wait, and adds nothing', async (t) => {
  const plain = [100, 200, 400, 800, 1_000, 1_000];
  for (let run = 0; run < 100; run++) {
    const waits = takeWaits(new Backoff({ first_ms: 100, cap_ms: 1_000, jitter: true }), plain.length);
    const outside = waits.filter((wait, i) => wait < plain[i]! / 2 || wait > plain[i]!);
    if (outside.length > 0) t.fail(String(waits));
  }
  t.pass('in a hundred runs');
});
