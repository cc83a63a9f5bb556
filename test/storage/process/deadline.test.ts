import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Deadline, DeadlineExceeded } from '../../../storage/process/deadline.js';
import { stall } from '../../fixture/measures.js';

const expiry = (deadline: Deadline): Promise<void> =>
  new Promise((resolve) => deadline.signal.addEventListener('abort', () => resolve(), { once: true }));

t.test('a deadline expires once, with its reason', async (t) => {
  const reason = new Error('too late');
  const deadline = new Deadline(5, () => reason);
  t.ok(deadline.remaining_ms <= 5);
  const far = new Deadline(60_000, () => reason);
  t.ok(far.remaining_ms > 0, 'time is left of one that is far');
  far.stop();
  await expiry(deadline);
  t.equal(deadline.signal.reason, reason);
  t.equal(deadline.remaining_ms, 0);
  t.equal(deadline.atMost(10_000), 250, 'a step after it has a moment, for the deadline to end it first');
  deadline.resume();
  deadline.stop();
  t.equal(deadline.remaining_ms, 0, 'and nothing brings it back');
});

t.test('a paused clock keeps the time left', async (t) => {
  const deadline = new Deadline(30);
  deadline.pause();
  const left_ms = deadline.remaining_ms;
  await delay(60);
  t.notOk(deadline.signal.aborted);
  t.equal(deadline.remaining_ms, left_ms);
  t.equal(deadline.atMost(5), 5, 'a step is bounded by its own limit first');
  deadline.resume();
  await expiry(deadline);
  t.ok(deadline.signal.reason instanceof DeadlineExceeded);
});

t.test('a stopped deadline never expires, paused before or not', async (t) => {
  const running = new Deadline(5);
  const paused = new Deadline(5);
  paused.pause();
  running.stop();
  paused.stop();
  paused.resume();
  await delay(30);
  t.notOk(running.signal.aborted);
  t.notOk(paused.signal.aborted);
});

t.test('work that is done in time settles as it does', async (t) => {
  t.equal(await Deadline.within(60_000, Promise.resolve(7)), 7);
  await t.rejects(Deadline.within(60_000, Promise.reject(new Error('failed'))), /failed/);
});

t.test('what arrives late is discarded, and a late failure is ignored', async (t) => {
  const deadline = new Deadline(1);
  const work = Promise.withResolvers<string>();
  const discarded: string[] = [];
  await t.rejects(
    deadline.race(work.promise, (value) => discarded.push(value)),
    DeadlineExceeded,
  );
  t.same(discarded, []);
  work.resolve('a page');
  await work.promise;
  t.same(discarded, ['a page']);

  const failing = Promise.withResolvers<string>();
  await t.rejects(Deadline.within(1, failing.promise, { reason: () => new Error('too slow') }), /too slow/);
  failing.reject(new Error('late'));
});

t.test('an answer that has already arrived counts, however late this thread reads it', async (t) => {
  const answer = delay(5, 'answer');
  const limited = Deadline.within(5, answer);
  stall(50); // past both
  t.equal(await limited, 'answer');
});

t.test('a deadline that is aborted is over at once, with that reason, paused or not', async (t) => {
  const reason = new Error('cancelled');
  for (const paused of [false, true]) {
    const deadline = new Deadline(60_000);
    if (paused) deadline.pause();
    const limited = deadline.race(new Promise(() => {}));
    deadline.abort(reason);
    deadline.abort(new Error('again'));
    t.equal(deadline.signal.reason, reason);
    await t.rejects(limited, reason);
  }
  const stopped = new Deadline(60_000);
  stopped.stop();
  stopped.abort(reason);
  t.notOk(stopped.signal.aborted);
});

t.test('a race that starts when the deadline is over is lost, and its work discarded', async (t) => {
  const deadline = new Deadline(60_000);
  deadline.abort(new Error('gone'));
  const discarded: string[] = [];
  await t.rejects(
    deadline.race(Promise.resolve('late'), (value) => discarded.push(value)),
    /gone/,
  );
  t.same(discarded, ['late']);
});
