import t from 'tap';
import { FairSlots } from '../../../storage/process/fair-slots.js';

t.test('slots go round the workspaces, however many one of them wants', async (t) => {
  const slots = new FairSlots(1);
  const first = await slots.acquire('big');
  const order: string[] = [];
  const wanted = ['big', 'big', 'big', 'small', 'big', 'other'].map(async (workspace) => {
    const release = await slots.acquire(workspace);
    order.push(workspace);
    release();
  });
  t.equal(slots.waiting, 6);
  first();
  await Promise.all(wanted);
  t.same(order, ['big', 'small', 'other', 'big', 'big', 'big']);
  t.equal(slots.held, 0);
  t.equal(slots.waiting, 0);
});

t.test('no more slots are held than there are', async (t) => {
  const slots = new FairSlots(2);
  const held = [await slots.acquire('a'), await slots.acquire('a')];
  const third = slots.acquire('a');
  t.equal(slots.held, 2);
  t.equal(slots.waiting, 1);
  held[0]?.();
  held[0]?.();
  (await third)();
  t.equal(slots.held, 1, 'a slot released twice counts once');
});

t.test('an aborted wait leaves the queue with the reason of the signal', async (t) => {
  const slots = new FairSlots(1);
  await slots.acquire('a');
  const controller = new AbortController();
  const waiting = slots.acquire('a', controller.signal);
  controller.abort(new Error('fenced'));
  await t.rejects(waiting, /fenced/);
  t.equal(slots.waiting, 0);
});

t.test('at a hundred times the load every workspace gets its first slot within one round', async (t) => {
  const slots = new FairSlots(4);
  const order: string[] = [];
  const want = (workspace: string) =>
    slots.acquire(workspace).then((release) => {
      order.push(workspace);
      setImmediate(release);
    });
  const big = Array.from({ length: 20_000 }, () => want('big'));
  const small = Array.from({ length: 100 }, (_, n) => want(`small ${n}`));
  await Promise.all(small);
  t.ok(order.length <= 4 + 2 * 101, `all had one after ${order.length} slots`);
  await Promise.all(big);
  await new Promise(setImmediate); // the last ones are given back there
  t.equal(slots.held, 0);
  t.equal(slots.waiting, 0);
});

t.test('a key holds no more than its bound, and leaves the rest to the others', async (t) => {
  const slots = new FairSlots(6, { each: 2 });
  const held: string[] = [];
  const releases: (() => void)[] = [];
  const take = (key: string, signal?: AbortSignal) =>
    slots.acquire(key, signal).then(
      (release) => {
        held.push(key);
        releases.push(release);
      },
      () => {},
    );
  const stop = new AbortController();
  for (let n = 0; n < 4; n++) void take('greedy', n < 2 ? undefined : stop.signal);
  await settled();
  t.strictSame(held, ['greedy', 'greedy']);
  t.ok(slots.free);
  for (let n = 0; n < 4; n++) await take(`other-${n}`);
  t.notOk(slots.free);
  void take('late');
  releases[2]?.();
  await settled();
  t.strictSame(held.slice(6), ['late'], 'a slot passes those whose key may hold no more');
  releases[0]?.();
  await settled();
  t.strictSame(held.slice(7), ['greedy'], 'and comes to them when a slot of their own key is free');
  stop.abort();
  await settled();
  t.equal(slots.waiting, 0);
  for (const release of releases) release();
  await settled();
  t.equal(slots.held, 0);
  held.length = 0;
  for (let n = 0; n < 2; n++) await take('greedy');
  t.equal(held.length, 2, 'everything was given back');
});

t.test('work within a slot gives it back, also when it fails', async (t) => {
  const slots = new FairSlots(1);
  await t.rejects(
    slots.within('a', async () => {
      throw new Error('failed');
    }),
    /failed/,
  );
  t.equal(await slots.within('b', async () => slots.held), 1);
  t.equal(slots.held, 0);
});

const settled = () => new Promise(setImmediate);
