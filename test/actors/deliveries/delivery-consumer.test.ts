import t from 'tap';
import { DeliveryConsumer } from '../../../actors/deliveries/delivery-consumer.js';
import type { FetchedSubscription } from '../../../storage/deliveries/delivery-queue.js';
import { createLogger } from '../../../storage/log/log.js';

/** A consumer whose fetches the test answers, what it hands over, and its states. */
function consumer() {
  const fetches: ((subscriptions: string[]) => void)[] = [];
  const taken: string[][] = [];
  const states: string[] = [];
  const lease = { valid: () => true };
  const fetch = () =>
    new Promise<FetchedSubscription[]>((resolve) => {
      fetches.push((subscriptions) =>
        resolve(subscriptions.map((id) => ({ id, workspace_id: null, destination: null, paused_reason: null }))),
      );
    });
  const made = new DeliveryConsumer({
    partition: { id: 7, epoch: 3 },
    dispatcher: {
      room: () => 2,
      full: () => ({ workspaces: [], destinations: [] }),
      take: (_partition, _epoch, subscriptions) => taken.push(subscriptions.map(({ id }) => id)),
    },
    fetch,
    lease,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    onState: ({ kind }) => states.push(kind),
  });
  return { consumer: made, fetches, taken, states, lease };
}

t.test('it fetches until less comes than there is room for', async (t) => {
  const { consumer: it, fetches, taken, states } = consumer();
  const over = it.wake();
  fetches[0]?.(['a', 'b']);
  await new Promise(setImmediate);
  fetches[1]?.(['c']);
  await over;
  t.strictSame(taken, [['a', 'b'], ['c']]);
  t.equal(states.at(-1), 'waiting');
});

t.test('a wake while it fetches has the queue fetched once more', async (t) => {
  const { consumer: it, fetches } = consumer();
  const over = it.wake();
  await Promise.all([it.wake(), it.wake()]);
  t.equal(fetches.length, 1, 'one fetch at a time');
  fetches[0]?.([]);
  await new Promise(setImmediate);
  fetches[1]?.([]);
  await over;
  t.equal(fetches.length, 2);
});

t.test('what comes after it was stopped is not handed over', async (t) => {
  const { consumer: it, fetches, taken, states } = consumer();
  const over = it.wake();
  it.stop();
  fetches[0]?.(['a']);
  await over;
  await it.wake();
  it.stop();
  t.strictSame(taken, []);
  t.equal(fetches.length, 1);
  t.equal(states.at(-1), 'stopped');
});

t.test('without a lease nothing is fetched', async (t) => {
  const { consumer: it, fetches, states, lease } = consumer();
  lease.valid = () => false;
  await it.wake();
  t.equal(fetches.length, 0);
  t.strictSame(states, ['fetching', 'waiting']);
});
