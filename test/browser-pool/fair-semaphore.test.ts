import t from 'tap';
import { FairSemaphore } from '../../browser-pool/fair-semaphore.js';

const never = new AbortController().signal;

t.test('slots go round the workspaces, however many one of them wants', async (t) => {
  const semaphore = new FairSemaphore(1);
  const first = await semaphore.acquire('big', never);
  const order: string[] = [];
  const wanted = ['big', 'big', 'big', 'small', 'big', 'other'].map(async (workspace) => {
    const release = await semaphore.acquire(workspace, never);
    order.push(workspace);
    release();
  });
  t.equal(semaphore.waiting, 6);
  first();
  await Promise.all(wanted);
  t.same(order, ['big', 'small', 'other', 'big', 'big', 'big']);
  t.equal(semaphore.held, 0);
  t.equal(semaphore.waiting, 0);
});

t.test('no more slots are held than there are', async (t) => {
  const semaphore = new FairSemaphore(2);
  const held = [await semaphore.acquire('a', never), await semaphore.acquire('a', never)];
  const third = semaphore.acquire('a', never);
  t.equal(semaphore.held, 2);
  t.equal(semaphore.waiting, 1);
  held[0]?.();
  held[0]?.();
  (await third)();
  t.equal(semaphore.held, 1, 'a slot released twice counts once');
});

t.test('an aborted wait leaves the queue with the reason of the signal', async (t) => {
  const semaphore = new FairSemaphore(1);
  await semaphore.acquire('a', never);
  const controller = new AbortController();
  const waiting = semaphore.acquire('a', controller.signal);
  controller.abort(new Error('fenced'));
  await t.rejects(waiting, /fenced/);
  t.equal(semaphore.waiting, 0);
});

t.test('at a hundred times the load every workspace gets its first slot within one round', async (t) => {
  const semaphore = new FairSemaphore(4);
  const order: string[] = [];
  const want = (workspace: string) =>
    semaphore.acquire(workspace, never).then((release) => {
      order.push(workspace);
      setImmediate(release);
    });
  const big = Array.from({ length: 20_000 }, () => want('big'));
  const small = Array.from({ length: 100 }, (_, n) => want(`small ${n}`));
  await Promise.all(small);
  t.ok(order.length <= 4 + 2 * 101, `all had one after ${order.length} slots`);
  await Promise.all(big);
  await new Promise(setImmediate); // the last ones are given back there
  t.equal(semaphore.held, 0);
  t.equal(semaphore.waiting, 0);
});
