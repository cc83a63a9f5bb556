import t from 'tap';
import { WakeTimers } from '../../../actors/deliveries/wake-timers.js';

/** Wake timers, and when they woke which partition. */
function startTimers() {
  const woken: { partition: number; at: number }[] = [];
  const checks = new Set<() => void>();
  const timers = new WakeTimers((partition) => {
    woken.push({ partition, at: performance.now() });
    for (const one of checks) one();
  });
  /** Resolves once a partition was woken at this moment or later. */
  const past = (at: number) =>
    new Promise<void>((resolve) => {
      const done = () => woken.some((one) => one.at >= at) && resolve();
      checks.add(done);
      done();
    });
  return { timers, woken, past };
}

/** Moments on the monotonic clock. */
const inMs = (ms: number) => performance.now() + ms;
const msTo = (at: number) => at - performance.now();

t.test('every moment that was announced is kept, in whatever order, and none is early', async (t) => {
  const { timers, woken, past } = startTimers();
  const moments = [450, 150, 900].map(inMs);
  for (const at of moments) timers.in(7, msTo(at));
  await Promise.all(moments.map(past));
  for (const [i, { partition, at }] of woken.entries()) {
    t.equal(partition, 7);
    t.ok(moments.filter((moment) => moment <= at).length > i, 'no more wake-ups than moments that passed');
  }
});

t.test('a moment that has passed wakes at once, and once', async (t) => {
  const { timers, woken, past } = startTimers();
  timers.in(1, 60_000);
  for (let i = 0; i < 10; i++) timers.in(1, -5_000);
  const now = inMs(0);
  await past(now);
  const later = inMs(200);
  timers.in(2, msTo(later));
  await past(later);
  t.strictSame(
    woken.map(({ partition }) => partition),
    [1, 2],
  );
  timers.close();
});

t.test('moments close to each other are one', async (t) => {
  const { timers, woken, past } = startTimers();
  const second = Math.ceil((performance.now() + 300) / 1_000) * 1_000;
  for (let ms = 1; ms <= 90; ms++) timers.in(3, msTo(second + ms));
  await past(second + 100);
  const later = inMs(200);
  timers.in(4, msTo(later));
  await past(later);
  t.strictSame(
    woken.map(({ partition }) => partition),
    [3, 4],
  );
});

t.test('a partition that was given up, and all of them after the end, are not woken', async (t) => {
  const { timers, woken, past } = startTimers();
  timers.in(1, 100);
  timers.forget(1);
  const later = inMs(300);
  timers.in(2, msTo(later));
  await past(later);
  t.match(woken, [{ partition: 2 }]);
  timers.in(3, 0);
  timers.close();
  timers.in(4, 0);
  const another = startTimers();
  const last = inMs(200);
  another.timers.in(5, msTo(last));
  await another.past(last);
  t.equal(woken.length, 1);
});
