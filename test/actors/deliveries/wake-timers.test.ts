import t from 'tap';
import { WakeTimers } from '../../../actors/deliveries/wake-timers.js';

/** Wake timers, and when they woke which partition. */
function startTimers() {
  const woken: { partition: number; at: number }[] = [];
  const checks = new Set<() => void>();
  const timers = new WakeTimers((partition) => {
    woken.push({ partition, at: Date.now() });
    for (const one of checks) one();
  });
  /** Resolves once a partition was woken at this moment or later. */
  const past = (at: Date) =>
    new Promise<void>((resolve) => {
      const done = () => woken.some((one) => one.at >= at.getTime()) && resolve();
      checks.add(done);
      done();
    });
  return { timers, woken, past };
}

const inMs = (ms: number) => new Date(Date.now() + ms);

t.test('every moment that was announced is kept, in whatever order, and none is early', async (t) => {
  const { timers, woken, past } = startTimers();
  const moments = [450, 150, 900].map(inMs);
  for (const at of moments) timers.at(7, at);
  await Promise.all(moments.map(past));
  for (const [i, { partition, at }] of woken.entries()) {
    t.equal(partition, 7);
    t.ok(moments.filter((moment) => moment.getTime() <= at).length > i, 'no more wake-ups than moments that passed');
  }
});

t.test('a moment that has passed wakes at once, and once', async (t) => {
  const { timers, woken, past } = startTimers();
  timers.at(1, inMs(60_000));
  for (let i = 0; i < 10; i++) timers.at(1, inMs(-5_000));
  const now = inMs(0);
  await past(now);
  const later = inMs(200);
  timers.at(2, later);
  await past(later);
  t.strictSame(
    woken.map(({ partition }) => partition),
    [1, 2],
  );
  timers.close();
});

t.test('moments close to each other are one', async (t) => {
  const { timers, woken, past } = startTimers();
  const second = Math.ceil((Date.now() + 300) / 1_000) * 1_000;
  for (let ms = 1; ms <= 100; ms++) timers.at(3, new Date(second + ms));
  await past(new Date(second + 100));
  const later = inMs(200);
  timers.at(4, later);
  await past(later);
  t.strictSame(
    woken.map(({ partition }) => partition),
    [3, 4],
  );
});

t.test('a partition that was given up, and all of them after the end, are not woken', async (t) => {
  const { timers, woken, past } = startTimers();
  timers.at(1, inMs(100));
  timers.forget(1);
  const later = inMs(300);
  timers.at(2, later);
  await past(later);
  t.match(woken, [{ partition: 2 }]);
  timers.at(3, inMs(0));
  timers.close();
  timers.at(4, inMs(0));
  const another = startTimers();
  const last = inMs(200);
  another.timers.at(5, last);
  await another.past(last);
  t.equal(woken.length, 1);
});
