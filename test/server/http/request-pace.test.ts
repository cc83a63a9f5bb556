import t from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { RequestPace, type Turn } from '../../../server/http/request-pace.js';

const LATE_ms = 10 * LIMITS.paced_late_ms;

/** A pace, and workspaces that ask for it; time goes by in samples of ten milliseconds. */
function paced() {
  const pace = new RequestPace();
  const begun = new Map<string, Turn[]>();
  const refused: string[] = [];
  const turnsOf = (workspace: string) => begun.get(workspace) ?? [];
  return {
    pace,
    refused,
    atWork: (workspace: string) => turnsOf(workspace).length,
    /** Asks for so many turns; settled once those that need not wait have begun. */
    async ask(workspace: string, many: number) {
      for (let n = 0; n < many; n++)
        pace.turn(workspace).then(
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
        await new Promise((resolve) => setTimeout(resolve, 10));
        pace.sample(late_ms, 10);
      }
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A neighbour whose requests come and go, at once. */
async function besides({ ask, end, samples }: ReturnType<typeof paced>, rounds: number, late_ms = 0) {
  for (let n = 0; n < rounds; n++) {
    await ask('light', 1);
    await samples(1, late_ms);
    await end('light');
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
  t.equal(atWork('greedy'), LIMITS.pace_most, 'others have begun');
});

t.test('while the node is late it gets less and less, and the light one whatever it asks for', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await besides(world, 5);
  await ask('greedy', 500);
  let most = 0;
  for (let round = 0; round < 100; round++) {
    await ask('light', 1);
    t.equal(atWork('light'), 1, 'at once');
    await world.samples(1, LATE_ms);
    await world.end('light');
    if (round > 80) most = Math.max(most, atWork('greedy'));
    await end('greedy');
  }
  t.ok(most <= 3, `${most} at work at once`);
});

t.test('what is late recovers: it gets more again', async (t) => {
  const world = paced();
  const { ask, atWork, end } = world;
  await besides(world, 5);
  for (let round = 0; round < 50; round++) {
    await ask('greedy', 20);
    await besides(world, 1, LATE_ms);
    await end('greedy');
  }
  let most = 0;
  for (let round = 0; round < 200; round++) {
    await ask('greedy', 20);
    await besides(world, 1);
    most = Math.max(most, atWork('greedy'));
    await end('greedy');
  }
  t.ok(most >= 8, `${most}`);
});

t.test(
  'a light workspace that is slowed down as well is not held up: the greedy one never has less than it',
  async (t) => {
    const world = paced();
    const { ask, atWork, end } = world;
    await ask('light', 6);
    await world.samples(20);
    await ask('greedy', 500);
    for (let round = 0; round < 60; round++) {
      await world.samples(1, LATE_ms);
      await end('light', 1);
      await ask('light', 1);
      t.equal(atWork('light'), 6);
      await end('greedy');
    }
  },
);

t.test('those that all ask for much have the same, and no less while the node is late', async (t) => {
  const { ask, atWork, samples } = paced();
  await ask('one', 200);
  await samples(10);
  await ask('another', 200);
  await samples(50, LATE_ms);
  t.equal(atWork('another'), LIMITS.pace_most);
});

t.test('what waits is begun in order, or refused when it waits for too long', async (t) => {
  const { pace, ask, atWork, end, samples, refused } = paced();
  await ask('light', 1);
  await samples(20);
  await ask('greedy', LIMITS.pace_most);
  const order: number[] = [];
  for (let n = 0; n < 3; n++) void pace.turn('greedy').then(() => order.push(n));
  await samples(2);
  t.strictSame(order, []);
  await end('greedy', 12);
  await samples(10);
  t.strictSame(order, [0, 1, 2]);
  await ask('greedy', 30);
  await samples(Math.ceil(LIMITS.paced_wait_ms / 10));
  t.ok(refused.length > 0 && refused.every((code) => code === 'overloaded'), `${refused.length} refused`);
  t.equal(atWork('light'), 1);
});

t.test('a request that waits for something else is not at work, so that long waits hold nobody up', async (t) => {
  const world = paced();
  const { pace, ask, atWork } = world;
  await besides(world, 5);
  const ended = Promise.withResolvers<void>();
  for (let n = 0; n < 200; n++) {
    const turn = await pace.turn('waiter');
    void turn.parked(ended.promise).then(() => turn.end());
  }
  await besides(world, 5, LATE_ms);
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
  await samples(250);
  t.equal(atWork('greedy'), 100);
});
