import t from 'tap';
import { RequestScheduler, type Turn } from '../../../../server/http/admission/request-scheduler.js';
import { LIMITS } from '../../../../server/http/limits.js';

const SAMPLE_ms = 10;
const LATE_ms = 10 * LIMITS.paced_late_ms;
/** What a request of the light workspace takes; one comes each sample. */
const LIGHT_ms = 2;

/** A pace, workspaces that ask for it, each for one kind of request, and their clock. */
function paced() {
  let now = 0;
  const pace = new RequestScheduler(() => now);
  const begun = new Map<string, Turn[]>();
  const refused: string[] = [];
  const turnsOf = (workspace: string) => begun.get(workspace) ?? [];
  return {
    pace,
    refused,
    atWork: (workspace: string) => turnsOf(workspace).length,
    pass(ms: number) {
      now += ms;
    },
    /** Asks for so many turns; settled once those that need not wait have begun. */
    async ask(workspace: string, many: number, wait_ms?: number) {
      for (let n = 0; n < many; n++)
        pace.turn(workspace, { name: workspace, bytes: 0 }, wait_ms).then(
          (turn) => begun.set(workspace, [...turnsOf(workspace), turn]),
          ({ code }) => refused.push(code),
        );
      await settled();
    },
    async end(workspace: string, many = turnsOf(workspace).length) {
      for (const turn of turnsOf(workspace).splice(0, many)) turn.end();
      await settled();
    },
    async samples(many: number, late_ms = 0) {
      for (let n = 0; n < many; n++) {
        now += SAMPLE_ms;
        pace.sample(late_ms, SAMPLE_ms);
        await settled();
      }
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A neighbour whose requests come and go, each at once, while so many samples go by. */
async function besides(world: ReturnType<typeof paced>, samples: number, late_ms = 0): Promise<boolean> {
  let atOnce = true;
  for (let n = 0; n < samples; n++) {
    await world.ask('light', 1);
    atOnce &&= world.atWork('light') > 0;
    world.pass(LIGHT_ms);
    await world.end('light');
    await world.samples(1, late_ms);
  }
  return atOnce;
}

/** Until the prices of both are known, and what they ask for. */
async function known(world: ReturnType<typeof paced>, late_ms = 0): Promise<void> {
  for (let n = 0; n < 20; n++) {
    await world.ask('greedy', 100);
    await besides(world, 1, late_ms);
    await world.end('greedy');
  }
}

t.test('a workspace alone is never held up, however late the node is', async (t) => {
  const { ask, atWork, samples } = paced();
  await ask('greedy', 1_000);
  await samples(10, LATE_ms);
  await ask('greedy', 1_000);
  t.equal(atWork('greedy'), 2_000);
});

t.test('beside another it has a bounded number at work, from its first request on', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await besides(world, 5);
  await ask('greedy', 500);
  t.equal(atWork('greedy'), LIMITS.pace_most);
  await besides(world, 5);
  t.equal(atWork('greedy'), LIMITS.pace_most);
  await end('greedy', 10);
  await besides(world, 5);
  t.ok(atWork('greedy') > LIMITS.pace_most - 10, 'others have begun');
  t.ok(atWork('greedy') <= LIMITS.pace_most);
});

t.test('while the node is late it gets less and less, and the light one whatever it asks for', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await besides(world, 5);
  await ask('greedy', 500);
  let most = 0;
  for (let round = 0; round < 100; round++) {
    t.ok(await besides(world, 1, LATE_ms), 'at once');
    if (round > 80) most = Math.max(most, atWork('greedy'));
    await end('greedy');
  }
  t.ok(most <= 3, `${most} at work at once`);
});

t.test('what is late recovers: it gets more again', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await known(world, LATE_ms);
  await known(world, LATE_ms);
  let most = 0;
  for (let round = 0; round < 400; round++) {
    await ask('greedy', 20);
    await besides(world, 1);
    most = Math.max(most, atWork('greedy'));
    await end('greedy');
  }
  t.ok(most >= 8, `${most}`);
});

t.test('who asks for little is not held up for what a late node makes of it', async (t) => {
  const world = paced();
  await known(world);
  // Each of its requests takes fifty times as long: those of fifty samples are at work at once.
  for (let round = 0; round < 300; round++) {
    await world.ask('light', 1);
    if (round >= 23) await world.end('light', 1);
    t.ok(world.atWork('light') <= LIMITS.pace_most);
    await world.samples(1, LATE_ms);
    await world.end('greedy');
  }
  t.equal(world.atWork('light'), 23);
});

t.test('nor is it once it had to wait, as after a stall', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await known(world);
  await ask('light', LIMITS.pace_most + 5);
  t.equal(atWork('light'), LIMITS.pace_most);
  await end('light');
  await world.samples(1, LATE_ms);
  await end('light');
  for (let round = 0; round < 100; round++) {
    t.ok(await besides(world, 1, LATE_ms), 'at once');
    await end('greedy');
    await ask('greedy', 20);
  }
});

t.test('one that asks for almost nothing makes nobody else greedy', async (t) => {
  const world = paced();
  await besides(world, 50, LATE_ms);
  for (let round = 0; round < 20; round++) {
    await world.ask('seldom', 1);
    await world.end('seldom');
    t.ok(await besides(world, 20, LATE_ms), 'at once');
  }
});

t.test('one that asks for much is paced, however long it never had to wait', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  for (let round = 0; round < 300; round++) {
    await end('greedy');
    await ask('greedy', 20);
    await besides(world, 1);
  }
  t.equal(atWork('greedy'), 20, 'in time');
  for (let round = 0; round < 100; round++) {
    await end('greedy');
    await ask('greedy', 20);
    await besides(world, 1, LATE_ms);
  }
  t.ok(atWork('greedy') <= 3, `${atWork('greedy')} at work while the node is late`);
});

t.test('a burst of what must be much work is not begun before it shows', async (t) => {
  const { pace, ask, samples } = paced();
  await ask('light', 1);
  await samples(5);
  let begun = 0;
  const large = { name: 'large', bytes: LIMITS.operation_body_bytes };
  const asked = Array.from({ length: LIMITS.pace_most }, () => pace.turn('greedy', large, 10).then(() => begun++));
  await settled();
  const known_ms = (begun * large.bytes) / LIMITS.unknown_price_bytes_a_ms;
  t.ok(begun > 0 && known_ms <= 2 * LIMITS.pace_memory_ms, `${begun} have begun`);
  const { length: refused } = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  t.equal(begun + refused, LIMITS.pace_most);
});

t.test('those that all ask for much have the same, and no less while the node is late', async (t) => {
  const { ask, atWork, samples } = paced();
  await ask('one', 200);
  await samples(10);
  await ask('another', 200);
  await samples(50, LATE_ms);
  t.equal(atWork('another'), LIMITS.pace_most);
});

t.test('what waits is begun in order, or refused when it waits for too long', async (t) => {
  const world = paced();
  const { pace, ask, end, samples, refused } = world;
  await besides(world, 5);
  await ask('greedy', LIMITS.pace_most);
  const order: number[] = [];
  for (let n = 0; n < 3; n++) void pace.turn('greedy', { name: 'greedy', bytes: 0 }).then(() => order.push(n));
  await besides(world, 2);
  t.strictSame(order, []);
  await end('greedy', 12);
  for (let n = 0; order.length < 3 && n < 100; n++) await besides(world, 1);
  t.strictSame(order, [0, 1, 2]);
  await ask('greedy', 30, 20);
  while (refused.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.ok(
    refused.every((code) => code === 'overloaded'),
    `${refused.length} refused`,
  );
  await samples(1);
});

t.test('a request that waits for something else is not at work, so that long waits hold nobody up', async (t) => {
  const world = paced();
  const { pace, ask, atWork } = world;
  await besides(world, 5);
  const ended = Promise.withResolvers<void>();
  for (let n = 0; n < 200; n++) {
    const turn = await pace.turn('waiter', { name: 'wait', bytes: 0 });
    void turn.parked(ended.promise).then(() => turn.end());
  }
  await besides(world, 100, LATE_ms);
  await ask('waiter', 1);
  t.equal(atWork('waiter'), 1);
  ended.resolve();
});

t.test('a workspace that is gone is forgotten, and alone again the other has all', async (t) => {
  const world = paced();
  const { ask, atWork, samples } = world;
  await besides(world, 5);
  await ask('greedy', 100);
  t.equal(atWork('greedy'), LIMITS.pace_most);
  await samples(500);
  t.equal(atWork('greedy'), 100);
});
