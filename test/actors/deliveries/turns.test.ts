import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { AttemptResult } from '../../../actors/deliveries/sender.js';
import { type FetchedDelivery, SubscriptionActor } from '../../../actors/deliveries/subscription-actor.js';
import { Turns } from '../../../actors/deliveries/turns.js';

const delivery = (): FetchedDelivery => ({ id: randomUUID(), partition: 1, epoch: 1, dropped: false, leaving: false });
const delivered: AttemptResult = { outcome: 'delivered', status_code: 200, error: null, duration_ms: 10 };
const timedOut: AttemptResult = { outcome: 'failed', status_code: null, error: 'timeout', duration_ms: 15_000 };

function subscription(waiting: number): SubscriptionActor {
  const actor = new SubscriptionActor(randomUUID());
  for (let i = 0; i < waiting; i++) actor.offer(delivery());
  return actor;
}

/** Makes it slow: one attempt that timed out. */
function slowed(waiting: number): SubscriptionActor {
  const actor = subscription(waiting + 1);
  actor.next();
  actor.ended(timedOut, 15_000);
  return actor;
}

t.test('subscriptions take turns, one delivery each', async (t) => {
  const turns = new Turns(100);
  const actors = [subscription(5), subscription(5), subscription(5)];
  for (const actor of actors) turns.update(actor);
  const order: number[] = [];
  for (let turn = turns.begin(); turn; turn = turns.begin()) {
    order.push(actors.indexOf(turn.actor));
    turn.actor.next();
    turns.update(turn.actor);
  }
  t.strictSame(order, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
});

t.test('slow receivers together get half of the slots and no more', async (t) => {
  const turns = new Turns(10);
  const slow = Array.from({ length: 20 }, () => slowed(5));
  for (const actor of slow) turns.update(actor);
  const ends: (() => void)[] = [];
  for (let turn = turns.begin(); turn; turn = turns.begin()) {
    turn.actor.next();
    turns.update(turn.actor);
    ends.push(turn.end);
  }
  t.equal(turns.taken, 5);
  const fast = subscription(1);
  turns.update(fast);
  t.equal(turns.begin()?.actor, fast, 'another starts at once');
  ends[0]?.();
  t.ok(slow.includes(turns.begin()!.actor), 'a slot that comes free is theirs again');
});

t.test('no slot is given past the concurrency', async (t) => {
  const turns = new Turns(2);
  const actor = subscription(5);
  turns.update(actor);
  for (let i = 0; i < 2; i++) {
    t.ok(turns.begin());
    actor.next();
    turns.update(actor);
  }
  t.equal(turns.begin(), undefined);
});

t.test('the allowance halves at each timeout down to one and grows back with answers', async (t) => {
  const actor = subscription(200);
  const inFlight = () => {
    let count = 0;
    while (actor.ready) {
      actor.next();
      count++;
    }
    return count;
  };
  t.equal(inFlight(), 8);
  for (let i = 0; i < 8; i++) actor.ended(timedOut, 15_000);
  t.ok(actor.slow);
  t.equal(inFlight(), 1);
  for (let i = 0; i < 8; i++) {
    actor.ended(delivered, 10);
    actor.next();
  }
  t.notOk(actor.slow);
});

t.test('a slow subscription sheds what waits beyond its bound and takes no more', async (t) => {
  const actor = slowed(100);
  t.equal(actor.shed().length, 100 - 16);
  t.equal(actor.waiting, 16);
  t.notOk(actor.offer(delivery()));
});

t.test('what is put back comes back at the pace of the receiver, and within two minutes', async (t) => {
  const actor = subscription(1);
  const now = new Date();
  const after_ms = () => actor.putBackAt(now).getTime() - now.getTime();
  const first_ms = after_ms();
  t.ok(first_ms >= 1_000);
  t.equal(after_ms() - first_ms, Math.floor(actor.pace_ms), 'each a turn later');
  for (let i = 0; i < 100_000; i++) after_ms();
  const late_ms = Array.from({ length: 100 }, after_ms);
  t.ok(late_ms.every((ms) => ms >= 60_000 && ms <= 120_000));
  t.ok(new Set(late_ms).size > 50, 'spread, not all at once');
});
