import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Waiters } from '../../../actors/node/waiters.js';

const LONG_ms = 60_000;

t.test('a wake-up wakes all who wait for that operation, and nobody else', async (t) => {
  const waiters = new Waiters();
  const woken: string[] = [];
  const wait = (id: string, timeout_ms = LONG_ms) => waiters.wait(id, 0, timeout_ms).then(() => woken.push(id));
  const both = [wait('one'), wait('one')];
  const other = wait('other', 50);
  waiters.wake('one');
  await Promise.all(both);
  t.strictSame(woken, ['one', 'one']);
  await other;
});

t.test('a wake-up that comes while the row is read is not lost', async (t) => {
  const waiters = new Waiters();
  const after = waiters.wakeUps;
  waiters.wake('read');
  await waiters.wait('read', after, LONG_ms);
  await waiters.wait('read', 0, LONG_ms);
  let again = false;
  const next = waiters.wait('read', waiters.wakeUps, LONG_ms).then(() => {
    again = true;
  });
  waiters.wake('other');
  await new Promise(setImmediate);
  t.equal(again, false, 'what its waiter knows of wakes it no second time');
  waiters.wake('read');
  await next;
});

t.test('wake-ups are remembered for a while, however many there are, and no longer', async (t) => {
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  let clock = 0;
  performance.now = () => clock;
  const waiters = new Waiters();
  waiters.wake('early');
  clock += LIMITS.wake_up_memory_ms;
  waiters.wake('late');
  await waiters.wait('early', 0, LONG_ms);
  for (let turn = 0; turn < 2; turn++) {
    clock += LIMITS.wake_up_memory_ms + 1;
    waiters.wake('later');
  }
  let woken = false;
  const wait = waiters.wait('early', 0, LONG_ms).then(() => {
    woken = true;
  });
  await new Promise(setImmediate);
  t.equal(woken, false);
  waiters.wake('early');
  await wait;
});
