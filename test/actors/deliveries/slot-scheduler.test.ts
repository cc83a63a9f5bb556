import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { AttemptResult } from '../../../actors/deliveries/sender.js';
import { SlotScheduler } from '../../../actors/deliveries/slot-scheduler.js';
import { SubscriptionActor } from '../../../actors/deliveries/subscription-actor.js';

const delivered: AttemptResult = { outcome: 'delivered', status_code: 200, error: null, duration_ms: 10 };
const timedOut: AttemptResult = { outcome: 'failed', status_code: null, error: 'timeout', duration_ms: 15_000 };

/** Has something due, and may have eight attempts in flight: its receiver has answered often enough. */
function proven(): SubscriptionActor {
  const actor = new SubscriptionActor(randomUUID(), 1, 1);
  actor.call();
  for (let i = 0; i < 8; i++) {
    actor.begin();
    actor.ended(delivered);
  }
  return actor;
}

/** Has something due, and its one attempt timed out. */
function slowed(): SubscriptionActor {
  const actor = new SubscriptionActor(randomUUID(), 1, 1);
  actor.call();
  actor.begin();
  actor.ended(timedOut);
  return actor;
}

/** Starts what may start; gives how many. */
function start(actor: SubscriptionActor): number {
  let count = 0;
  for (; actor.ready; count++) actor.begin();
  return count;
}

t.test('subscriptions take turns, one delivery each', async (t) => {
  const slots = new SlotScheduler(15);
  const actors = [proven(), proven(), proven()];
  for (const actor of actors) slots.update(actor);
  const order: number[] = [];
  for (let slot = slots.take(); slot; slot = slots.take()) {
    order.push(actors.indexOf(slot.actor));
    slot.actor.begin();
    slots.update(slot.actor);
  }
  t.strictSame(order, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
});

t.test('slow receivers together get half of the slots and no more', async (t) => {
  const slots = new SlotScheduler(10);
  const slow = Array.from({ length: 20 }, slowed);
  for (const actor of slow) slots.update(actor);
  const releases: (() => void)[] = [];
  for (let slot = slots.take(); slot; slot = slots.take()) {
    slot.actor.begin();
    slots.update(slot.actor);
    releases.push(slot.release);
  }
  t.equal(slots.taken, 5);
  const fast = proven();
  slots.update(fast);
  t.equal(slots.take()?.actor, fast, 'another starts at once');
  releases[0]?.();
  t.ok(slow.includes(slots.take()!.actor), 'a slot that comes free is theirs again');
});

t.test('no slot is given past the concurrency', async (t) => {
  const slots = new SlotScheduler(2);
  const actor = proven();
  slots.update(actor);
  for (let i = 0; i < 2; i++) {
    t.ok(slots.take());
    actor.begin();
    slots.update(actor);
  }
  t.equal(slots.take(), undefined);
});

t.test('a receiver nobody knows begins with two and earns one more with each answer', async (t) => {
  const actor = new SubscriptionActor(randomUUID(), 1, 1);
  actor.call();
  t.equal(start(actor), 2);
  for (let allowed = 3; allowed <= 8; allowed++) {
    actor.ended(delivered);
    t.equal(start(actor), 2, 'its place, and one more');
  }
  actor.ended(delivered);
  t.equal(start(actor), 1, 'eight are the most');
});

t.test('the allowance halves at each timeout down to one and grows back with answers', async (t) => {
  const actor = proven();
  t.equal(start(actor), 8);
  for (let i = 0; i < 8; i++) actor.ended(timedOut);
  t.ok(actor.slow);
  t.equal(start(actor), 1);
  for (let i = 0; i < 7; i++) {
    t.ok(actor.slow);
    actor.ended(delivered);
    actor.begin();
  }
  t.notOk(actor.slow);
});

t.test('a claim that found nothing counts only when nothing became due since', async (t) => {
  const actor = proven();
  const calls = actor.begin();
  actor.call();
  actor.exhausted(calls);
  t.ok(actor.due, 'called again meanwhile');
  actor.exhausted(actor.begin());
  t.notOk(actor.due);
  t.notOk(actor.ready);
});
