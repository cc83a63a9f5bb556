import t from 'tap';
import { WakeTimers } from '../../../actors/deliveries/wake-timers.js';

/** Wake-ups, and what they said when. */
function listen() {
  const heard: { partition: number; at: number }[] = [];
  const look = new Set<() => void>();
  const wakeUps = new WakeTimers((partition) => {
    heard.push({ partition, at: Date.now() });
    for (const one of look) one();
  });
  /** Resolves once a wake-up has come at this moment or later. */
  const past = (at: Date) =>
    new Promise<void>((resolve) => {
      const done = () => heard.some((one) => one.at >= at.getTime()) && resolve();
      look.add(done);
      done();
    });
  return { wakeUps, heard, past };
}

const inMs = (ms: number) => new Date(Date.now() + ms);

t.test('every moment that was announced is kept, in whatever order, and none is early', async (t) => {
  const { wakeUps, heard, past } = listen();
  const moments = [450, 150, 900].map(inMs);
  for (const at of moments) wakeUps.at(7, at);
  await Promise.all(moments.map(past));
  for (const [i, { partition, at }] of heard.entries()) {
    t.equal(partition, 7);
    t.ok(moments.filter((moment) => moment.getTime() <= at).length > i, 'no more wake-ups than moments that passed');
  }
});

t.test('a moment that has passed wakes at once, and once', async (t) => {
  const { wakeUps, heard, past } = listen();
  wakeUps.at(1, inMs(60_000));
  for (let i = 0; i < 10; i++) wakeUps.at(1, inMs(-5_000));
  const now = inMs(0);
  await past(now);
  const later = inMs(200);
  wakeUps.at(2, later);
  await past(later);
  t.strictSame(
    heard.map(({ partition }) => partition),
    [1, 2],
  );
  wakeUps.close();
});

t.test('moments close to each other are one', async (t) => {
  const { wakeUps, heard, past } = listen();
  const second = Math.ceil((Date.now() + 300) / 1_000) * 1_000;
  for (let ms = 1; ms <= 100; ms++) wakeUps.at(3, new Date(second + ms));
  await past(new Date(second + 100));
  const later = inMs(200);
  wakeUps.at(4, later);
  await past(later);
  t.strictSame(
    heard.map(({ partition }) => partition),
    [3, 4],
  );
});

t.test('a partition that was given up, and all of them after the end, are not woken', async (t) => {
  const { wakeUps, heard, past } = listen();
  wakeUps.at(1, inMs(100));
  wakeUps.forget(1);
  const later = inMs(300);
  wakeUps.at(2, later);
  await past(later);
  t.match(heard, [{ partition: 2 }]);
  wakeUps.at(3, inMs(0));
  wakeUps.close();
  wakeUps.at(4, inMs(0));
  const another = listen();
  const last = inMs(200);
  another.wakeUps.at(5, last);
  await another.past(last);
  t.equal(heard.length, 1);
});
