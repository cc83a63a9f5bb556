import t from 'tap';
import type { AttemptResult } from '../../../../actors/deliveries/callback/sender.js';
import { Destination } from '../../../../actors/deliveries/schedule/destination.js';
import { SubscriptionActor } from '../../../../actors/deliveries/schedule/subscription-actor.js';

const delivered: AttemptResult = { outcome: 'delivered', status_code: 200, error: null, duration_ms: 10 };

/** An actor and the states it has announced. */
function observed() {
  const states: string[] = [];
  const destination = new Destination<SubscriptionActor>('destination', 'workspace');
  const actor = new SubscriptionActor('subscription', destination, 1, 1, ({ kind }) => states.push(kind));
  return { actor, states };
}

t.test('a subscription is due, exhausted, parked and passivated', async (t) => {
  const { actor, states } = observed();
  actor.call();
  actor.exhausted(actor.begin());
  actor.ended(undefined);
  actor.written();
  t.ok(actor.park(), 'the caller parks its job');
  t.notOk(actor.parked(), 'once');
  actor.passivate();
  t.strictSame(states, ['due', 'idle', 'parking', 'idle', 'gone']);
});

t.test('its job is parked once at a time, and once more when an attempt ends meanwhile', async (t) => {
  const { actor, states } = observed();
  t.ok(actor.park());
  t.notOk(actor.park(), 'it is being parked already');
  t.ok(actor.parked(), 'once more');
  t.ok(actor.park());
  t.notOk(actor.parked());
  t.strictSame(states, ['parking', 'parking', 'idle', 'parking', 'idle']);
});

t.test('a subscription whose job is fetched while it is parked is due after that', async (t) => {
  const { actor, states } = observed();
  actor.park();
  actor.call();
  t.ok(actor.ready, 'attempts start at once');
  t.notOk(actor.parked());
  t.strictSame(states, ['parking', 'recalled', 'due']);
});

t.test('a recalled subscription that is exhausted is parked once more', async (t) => {
  const { actor, states } = observed();
  actor.park();
  actor.call();
  actor.exhausted(actor.begin());
  t.ok(actor.parked());
  t.strictSame(states, ['parking', 'recalled', 'parking', 'idle']);
});

t.test('one that leaves is gone when its last attempt is written, and a lost one stays lost', async (t) => {
  const { actor, states } = observed();
  actor.call();
  actor.begin();
  actor.leave(false);
  t.notOk(actor.ready);
  actor.leave(true);
  actor.leave(false);
  actor.ended(delivered);
  t.equal(actor.state, 'lost', 'its end is still being written');
  actor.written();
  t.strictSame(states, ['due', 'leaving', 'lost', 'gone']);
});

t.test('when its partition is taken again, what was claimed or parked before counts for nothing', async (t) => {
  const { actor, states } = observed();
  actor.call();
  const calls = actor.begin();
  actor.renew(2);
  t.equal(actor.epoch, 2);
  actor.exhausted(calls);
  t.ok(actor.due, 'the claim under the epoch before found nothing: another one comes');
  actor.ended(undefined);
  actor.written();
  actor.exhausted(actor.begin());
  actor.ended(undefined);
  actor.written();
  t.ok(actor.park());
  actor.renew(3);
  t.ok(actor.parked(), 'the park may have done nothing: it is parked once more');
  t.ok(actor.park());
  t.notOk(actor.parked());
  t.strictSame(states, ['due', 'idle', 'parking', 'parking', 'idle', 'parking', 'idle']);
});

t.test('it holds its job until the job is given back', async (t) => {
  const { actor } = observed();
  t.notOk(actor.holdsJob);
  actor.call();
  t.ok(actor.holdsJob);
  const calls = actor.begin();
  actor.exhausted(calls);
  t.ok(actor.holdsJob, 'its attempt parks it when it is over');
  actor.ended(undefined);
  actor.written();
  t.notOk(actor.holdsJob);
  actor.park();
  t.ok(actor.holdsJob);
  actor.parked();
  t.notOk(actor.holdsJob);
});

t.test('an illegal step throws', async (t) => {
  const { actor } = observed();
  t.throws(() => actor.begin(), /not ready/);
  actor.call();
  t.throws(() => actor.passivate(), /no step from due to gone/);
  actor.leave(true);
  t.throws(() => actor.call(), /no step from gone to due/);
});
