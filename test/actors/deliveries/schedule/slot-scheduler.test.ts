import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { AttemptResult } from '../../../../actors/deliveries/callback/sender.js';
import { LIMITS } from '../../../../actors/deliveries/limits.js';
import { Destination } from '../../../../actors/deliveries/schedule/destination.js';
import { type Slot, SlotScheduler } from '../../../../actors/deliveries/schedule/slot-scheduler.js';
import {
  SubscriptionActor,
  type SubscriptionDestination,
} from '../../../../actors/deliveries/schedule/subscription-actor.js';
import { processor_us } from '../../../fixture/measures.js';

const delivered: AttemptResult = { outcome: 'delivered', status_code: 200, error: null, duration_ms: 10 };
const timedOut: AttemptResult = { outcome: 'failed', status_code: null, error: 'timeout', duration_ms: 15_000 };

/** Of this workspace; it answers, unless it is to be `unknown`. */
function destinationOf(workspace: string, unknown = false): SubscriptionDestination {
  const destination = new Destination<SubscriptionActor>(randomUUID(), workspace);
  if (!unknown) destination.learn('subscription', delivered);
  return destination;
}

/** Has something due, and may have eight attempts in flight: its receiver has answered often enough. */
function proven(workspace = 'one', destination = destinationOf(workspace)): SubscriptionActor {
  const actor = new SubscriptionActor(randomUUID(), destination, 1, 1);
  actor.call();
  for (let i = 0; i < 8; i++) {
    actor.begin();
    actor.ended(delivered);
  }
  return actor;
}

/** Has something due, and its one attempt timed out. */
function slowed(workspace = 'one', destination = destinationOf(workspace)): SubscriptionActor {
  const actor = new SubscriptionActor(randomUUID(), destination, 1, 1);
  actor.call();
  actor.begin();
  actor.ended(timedOut);
  return actor;
}

/** Starts what may start; returns how many. */
function start(actor: SubscriptionActor): number {
  let count = 0;
  for (; actor.ready; count++) actor.begin();
  return count;
}

t.test('subscriptions take turns, one delivery each', async (t) => {
  const slots = new SlotScheduler(15, 1);
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
  const slots = new SlotScheduler(10, 1);
  const slow = Array.from({ length: 20 }, () => slowed());
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
  const slots = new SlotScheduler(2, 1);
  for (let i = 0; i < 3; i++) slots.update(proven());
  for (let i = 0; i < 2; i++) t.ok(slots.take());
  t.equal(slots.take(), undefined);
});

t.test('an unknown receiver begins with two and earns one more with each answer', async (t) => {
  const actor = new SubscriptionActor(randomUUID(), destinationOf('one'), 1, 1);
  actor.call();
  t.equal(start(actor), 2);
  for (let allowed = 3; allowed <= 8; allowed++) {
    actor.ended(delivered);
    t.equal(start(actor), 2, 'its slot, and one more');
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

/** Takes every slot there is for now; returns the workspaces that got them, in order, and what gives them back. */
function takeAll(slots: SlotScheduler) {
  const order: string[] = [];
  const taken: Slot[] = [];
  for (let slot = slots.take(); slot; slot = slots.take()) {
    order.push(slot.actor.workspaceId);
    slot.actor.begin();
    slots.update(slot.actor);
    taken.push(slot);
  }
  return { order, taken };
}

t.test('workspaces take turns, however many subscriptions each has', async (t) => {
  const slots = new SlotScheduler(9, 1);
  for (let i = 0; i < 1_000; i++) slots.update(proven('crowded'));
  slots.update(proven('small'));
  slots.update(proven('other'));
  t.strictSame(
    takeAll(slots).order,
    [1, 2, 3].flatMap(() => ['crowded', 'small', 'other']),
  );
});

t.test('one workspace leaves a part of the slots, of those of slow receivers too, to the others', async (t) => {
  const slots = new SlotScheduler(40, 0.75);
  for (let i = 0; i < 10_000; i++) slots.update(i % 2 === 0 ? proven('crowded') : slowed('crowded'));
  const { order, taken } = takeAll(slots);
  t.equal(order.length, 30, 'three quarters of the slots');
  t.ok(taken.filter(({ actor }) => actor.slow).length <= 15, 'three quarters of those of slow receivers');
  const [fast, slow] = [proven('small'), slowed('small')];
  slots.update(fast);
  slots.update(slow);
  const more = takeAll(slots);
  t.strictSame(new Set(more.taken.map(({ actor }) => actor)), new Set([fast, slow]), 'another starts at once');
  t.equal(more.order.length, 9, 'eight to one fast receiver, one to a slow one');
});

t.test('ends that are not written, of one workspace, leave room for attempts of another', async (t) => {
  const slots = new SlotScheduler(4, 0.5);
  const actor = proven('stuck');
  slots.update(actor);
  const waiting: Slot[] = [];
  for (let slot = slots.take(); slot; slot = slots.take()) {
    slot.release();
    waiting.push(slot);
    slots.update(actor);
  }
  t.equal(waiting.length, 8, 'half of four times as many as there are slots');
  slots.update(proven('other'));
  t.ok(slots.take());
  for (const slot of waiting) slot.written();
  t.equal(slots.take()?.actor, actor);
});

t.test('taking turns costs the same with ten thousand subscriptions', async (t) => {
  const cost_us = (subscriptions: number) => {
    const slots = new SlotScheduler(64, 0.75);
    for (let i = 0; i < subscriptions; i++) slots.update(slowed('crowded'));
    for (let i = 0; i < 100; i++) slots.update(proven(`small ${i}`));
    return processor_us(() => {
      // So many that it is long beside the four milliseconds in which the kernel may count.
      for (let i = 0; i < 50_000; i++) {
        const slot = slots.take();
        slot?.release();
        slot?.written();
        if (slot) slots.update(slot.actor);
      }
    });
  };
  const [few, many] = [cost_us(100), cost_us(10_000)];
  t.ok(many < 10 * few, `fifty thousand turns take ${few} µs of the processor, then ${many}`);
});

t.test('one destination leaves a part of what its workspace may have to the others of it', async (t) => {
  const slots = new SlotScheduler(40, 1);
  const crowded = destinationOf('one');
  for (let i = 0; i < 1_000; i++) slots.update(proven('one', crowded));
  for (let i = 0; i < 1_000; i++) slots.update(slowed('one', crowded));
  t.equal(takeAll(slots).order.length, 30, 'three quarters of the slots');
  const other = [proven('one'), slowed('one')];
  for (const actor of other) slots.update(actor);
  t.strictSame(new Set(takeAll(slots).taken.map(({ actor }) => actor)), new Set(other), 'another starts at once');
});

t.test('the destinations of a workspace take turns, however many subscriptions each has', async (t) => {
  const slots = new SlotScheduler(9, 1);
  const destinations = ['crowded', 'small', 'other'].map(() => destinationOf('one'));
  for (let i = 0; i < 1_000; i++) slots.update(proven('one', destinations[0]));
  slots.update(proven('one', destinations[1]));
  slots.update(proven('one', destinations[2]));
  t.strictSame(
    takeAll(slots).taken.map(({ actor }) => destinations.indexOf(actor.destination)),
    [1, 2, 3].flatMap(() => [0, 1, 2]),
  );
});

t.test('destinations that are not known to answer share the slots of slow receivers', async (t) => {
  const slots = new SlotScheduler(32, 1);
  const unknown = destinationOf('one', true);
  for (let i = 0; i < 332; i++) slots.update(proven('one', unknown));
  const { taken } = takeAll(slots);
  t.equal(taken.length, 12, 'its share of half of the slots');
  for (let i = 0; i < 100; i++) slots.update(proven('one', destinationOf('one', true)));
  t.equal(takeAll(slots).taken.length, 4, 'the rest of that half');
  const known = proven('one');
  slots.update(known);
  t.equal(slots.take()?.actor, known, 'one that is known to answer starts at once');
  const [slot] = taken as [Slot];
  slot.release();
  unknown.learn(slot.actor.id, delivered);
  slots.update(slot.actor);
  const more = takeAll(slots).taken.filter(({ actor }) => actor.destination === unknown);
  t.equal(more.length, 13, 'after its first answer it has its share of all slots, for all its subscriptions');
});

t.test(
  'a destination that is not known to answer has few attempts in flight, however many slots there are',
  async (t) => {
    const slots = new SlotScheduler(1_000, 1);
    const unknown = destinationOf('one', true);
    for (let i = 0; i < 332; i++) slots.update(proven('one', unknown));
    t.equal(takeAll(slots).taken.length, LIMITS.new_destination_attempts);
  },
);

t.test('a subscription that was answered goes on beside dead ones of its destination', async (t) => {
  const slots = new SlotScheduler(32, 1);
  const shared = destinationOf('one', true);
  const alive = proven('one', shared);
  shared.learn(alive.id, delivered);
  for (let i = 0; i < 100; i++) slots.update(slowed('one', shared));
  t.equal(takeAll(slots).taken.length, 12);
  shared.learn('dead', timedOut);
  t.equal(shared.state, 'silent');
  slots.update(alive);
  const first = slots.take();
  t.equal(first?.actor, alive, 'while it is silent');
  first?.release();
  for (let i = 0; i < LIMITS.pause_attempts; i++) shared.learn(`dead ${i}`, timedOut);
  t.equal(shared.state, 'paused');
  slots.update(alive);
  const second = slots.take();
  t.equal(second?.actor, alive, 'while it is paused');
  slots.update(alive);
  t.equal(slots.take(), undefined, 'one at a time');
});

t.test('while a destination answers, those that were answered keep no others waiting', async (t) => {
  const slots = new SlotScheduler(32, 1);
  const shared = destinationOf('one');
  for (let i = 0; i < 100; i++) {
    const actor = proven('one', shared);
    shared.learn(actor.id, delivered);
    slots.update(actor);
  }
  const fresh = proven('one', shared);
  slots.update(fresh);
  t.ok(
    takeAll(slots)
      .taken.slice(0, 2)
      .some(({ actor }) => actor === fresh),
  );
});

t.test('nothing of a paused destination starts but a try', async (t) => {
  const slots = new SlotScheduler(32, 1);
  const dead = destinationOf('one', true);
  for (let i = 0; i < 100; i++) slots.update(proven('one', dead));
  t.equal(slots.waiting, 100);
  for (let i = 0; i < LIMITS.pause_attempts; i++) dead.learn(`subscription ${i}`, timedOut);
  slots.place(dead);
  t.equal(dead.state, 'paused');
  t.equal(slots.take(), undefined);
  t.equal(slots.waiting, 0, 'they wait for no slot');
  dead.tryNow();
  slots.place(dead);
  const [slot, ...more] = takeAll(slots).taken;
  t.ok(slot);
  t.strictSame(more, [], 'one attempt');
  slot?.release();
  slots.place(dead);
  t.ok(slots.take(), 'one that found nothing to send was no try');
});
