import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { LIMITS } from '../../../actors/deliveries/limits.js';
import { WakeTimers } from '../../../actors/deliveries/wake-timers.js';

const TICK_ms = LIMITS.wake_tick_ms;

/** Wake timers on a clock that the test moves, and when they woke which partition. */
function startTimers(t: Test) {
  const { now } = performance;
  let clock_ms = 10 * TICK_ms;
  performance.now = () => clock_ms;
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => {
    mock.timers.reset();
    performance.now = now;
  });
  const woken: { partition: number; at_ms: number }[] = [];
  const timers = new WakeTimers((partition) => woken.push({ partition, at_ms: clock_ms - 10 * TICK_ms }));
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      clock_ms++;
      mock.timers.tick(1);
    }
  };
  return { timers, woken, pass };
}

t.test('every moment that was announced is kept, in whatever order, and none is early', async (t) => {
  const { timers, woken, pass } = startTimers(t);
  for (const ticks of [4.5, 1.5, 9]) timers.in(7, ticks * TICK_ms);
  pass(20 * TICK_ms);
  t.strictSame(
    woken,
    [2, 5, 9].map((ticks) => ({ partition: 7, at_ms: ticks * TICK_ms })),
  );
});

t.test('a moment that has passed wakes at once, and once', async (t) => {
  const { timers, woken, pass } = startTimers(t);
  timers.in(1, 60_000);
  for (let i = 0; i < 10; i++) timers.in(1, -5_000);
  pass(2);
  timers.in(2, 2 * TICK_ms);
  pass(4 * TICK_ms);
  t.match(woken, [
    { partition: 1, at_ms: 1 },
    { partition: 2, at_ms: 3 * TICK_ms },
  ]);
  t.equal(woken.length, 2);
  timers.close();
});

t.test('moments close to each other are one', async (t) => {
  const { timers, woken, pass } = startTimers(t);
  for (let ms = 1; ms < TICK_ms; ms++) timers.in(3, 3 * TICK_ms + ms);
  pass(10 * TICK_ms);
  t.strictSame(woken, [{ partition: 3, at_ms: 4 * TICK_ms }]);
});

t.test('a partition that was given up, and all of them after the end, are not woken', async (t) => {
  const { timers, woken, pass } = startTimers(t);
  timers.in(1, TICK_ms);
  timers.forget(1);
  timers.in(2, 3 * TICK_ms);
  pass(10 * TICK_ms);
  t.match(woken, [{ partition: 2 }]);
  timers.in(3, 0);
  timers.close();
  timers.in(4, 0);
  pass(10 * TICK_ms);
  t.equal(woken.length, 1);
});
