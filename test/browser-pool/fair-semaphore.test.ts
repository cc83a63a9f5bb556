import t from 'tap';
import { FairSemaphore, SemaphoreRefused } from '../../browser-pool/fair-semaphore.js';

const never = new AbortController().signal;

t.test('turns go round the workspaces, however many leases one of them wants', async (t) => {
  const queue = new FairSemaphore(1, 100);
  const first = await queue.lease('big', 60_000, never);
  const order: string[] = [];
  const wanted = ['big', 'big', 'big', 'small', 'big', 'other'].map(async (workspace) => {
    const release = await queue.lease(workspace, 60_000, never);
    order.push(workspace);
    release();
  });
  t.equal(queue.waiting, 6);
  first();
  await Promise.all(wanted);
  t.same(order, ['big', 'small', 'other', 'big', 'big', 'big']);
  t.equal(queue.held, 0);
  t.equal(queue.waiting, 0);
});

t.test('no more leases are held than there are slots', async (t) => {
  const queue = new FairSemaphore(2, 100);
  const held = [await queue.lease('a', 60_000, never), await queue.lease('a', 60_000, never)];
  const third = queue.lease('a', 60_000, never);
  t.equal(queue.held, 2);
  t.equal(queue.waiting, 1);
  held[0]?.();
  held[0]?.();
  (await third)();
  t.equal(queue.held, 1, 'a lease released twice counts once');
});

t.test('a full queue refuses at once', async (t) => {
  const queue = new FairSemaphore(1, 1);
  const release = await queue.lease('a', 60_000, never);
  const waiting = queue.lease('a', 60_000, never);
  await t.rejects(queue.lease('b', 60_000, never), new SemaphoreRefused('queue_full'));
  release();
  (await waiting)();
});

t.test('a lease that waited too long is refused and leaves the queue', async (t) => {
  const queue = new FairSemaphore(1, 10);
  await queue.lease('a', 60_000, never);
  await t.rejects(queue.lease('a', 1, never), new SemaphoreRefused('queue_wait'));
  t.equal(queue.waiting, 0);
});

t.test('an aborted wait leaves the queue with the reason of the signal', async (t) => {
  const queue = new FairSemaphore(1, 10);
  await queue.lease('a', 60_000, never);
  const controller = new AbortController();
  const waiting = queue.lease('a', 60_000, controller.signal);
  controller.abort(new Error('fenced'));
  await t.rejects(waiting, /fenced/);
  t.equal(queue.waiting, 0);
});
