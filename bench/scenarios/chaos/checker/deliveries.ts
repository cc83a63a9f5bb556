import type { CallbackRecord, Rows } from '../evidence.js';
import type { Case } from './case.js';
import { LIMITS } from './limits.js';

type Event = Rows['events'][number];
type Subscription = Rows['subscriptions'][number];
type Delivery = Rows['deliveries'][number];

export const wasTaken = ({ status }: CallbackRecord): boolean => status >= 200 && status < 300;

/** Between the first and the fifth attempt of a series, as the contract has it (contract: "Delivery"). */
export const SERIES_ms = (1 + 5 + 30 + 120) * 1_000;

const pairOf = (subscriptionId: string, eventId: string) => `${subscriptionId} ${eventId}`;

/** An event has a delivery for each active subscription of its connection that lists its type and was there before it; and no other. */
export function* everyMatchHasADelivery({ evidence }: Case): Iterable<string> {
  const { events, subscriptions, deliveries } = evidence.rows;
  const counts = new Map<string, number>();
  for (const { subscription_id, event_id } of deliveries) {
    const pair = pairOf(subscription_id, event_id);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  const byConnection = Map.groupBy(subscriptions, ({ connection_id }) => connection_id);
  for (const event of events) {
    for (const subscription of byConnection.get(event.connection_id) ?? []) {
      const count = counts.get(pairOf(subscription.id, event.id)) ?? 0;
      const pair = `event ${event.id} (${event.type}) and subscription ${subscription.id}`;
      if (count > 1) yield `${pair} have ${count} deliveries`;
      if (count === 0 && mustReach(event, subscription)) yield `${pair} have no delivery`;
    }
  }
}

/** Nothing is said of an event that was recorded while the subscription was being made, nor of one that is inactive now. */
const mustReach = (event: Event, subscription: Subscription) =>
  subscription.active &&
  subscription.event_types.includes(event.type) &&
  subscription.created_at + LIMITS.settled_subscription_ms < event.received_at;

/** A delivery is of an event of its subscription's connection, of a type that the subscription lists. */
export function* everyDeliveryMatches({ evidence }: Case): Iterable<string> {
  const { events, subscriptions, deliveries } = evidence.rows;
  const eventById = new Map(events.map((event) => [event.id, event]));
  const subscriptionById = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  for (const { id, event_id, subscription_id } of deliveries) {
    const event = eventById.get(event_id);
    const subscription = subscriptionById.get(subscription_id);
    if (!event) yield `delivery ${id} is of event ${event_id}, which is not there`;
    if (!subscription) yield `delivery ${id} is of subscription ${subscription_id}, which is not there`;
    if (!event || !subscription) continue;
    if (event.connection_id !== subscription.connection_id) {
      yield `delivery ${id} takes event ${event_id} of connection ${event.connection_id} to subscription ${subscription_id} of ${subscription.connection_id}`;
    } else if (!subscription.event_types.includes(event.type)) {
      yield `delivery ${id} takes event ${event_id} to subscription ${subscription_id}, which does not list ${event.type}`;
    }
  }
}

/**
 * A receiver took every delivery at least once: it answered a callback with 2xx. One that ended as `failed` or `canceled` needs a receiver
 * that failed, or a subscription that was given up.
 */
export function* everyDeliveryArrived(run: Case): Iterable<string> {
  const { rows, callbacks, run: record } = run.evidence;
  const received = new Map(rows.events.map(({ id, received_at }) => [id, received_at]));
  const subscriptions = new Map(rows.subscriptions.map((subscription) => [subscription.id, subscription]));
  const byDelivery = Map.groupBy(callbacks, ({ delivery_id }) => delivery_id);
  for (const delivery of rows.deliveries) {
    const own = byDelivery.get(delivery.id) ?? [];
    const subscription = subscriptions.get(delivery.subscription_id);
    if (own.some(wasTaken) || !subscription) continue;
    const life = { from: received.get(delivery.event_id) ?? record.started_at, to: run.readAt };
    const names = [subscription.callback_url, ...new Set(own.map(({ receiver }) => receiver))];
    const failed = run.faults.receiverFailed(names, life);
    if (mayBeMissing(delivery, subscription, own, failed, life.to - life.from)) continue;
    yield `delivery ${delivery.id} of event ${delivery.event_id} to ${subscription.callback_url} is ${delivery.status}, and was never answered with 2xx (${own.length} callbacks)`;
  }
}

function mayBeMissing(
  { status }: Delivery,
  { active }: Subscription,
  own: CallbackRecord[],
  receiverFailed: boolean,
  age_ms: number,
): boolean {
  switch (status) {
    case 'canceled':
      return !active || receiverFailed;
    case 'failed':
      return receiverFailed;
    case 'delivered':
      return receiverFailed && own.some((callback) => callback.status === 0); // it answered, and died before it noted what
    default:
      return age_ms < LIMITS.attempt_ms + (receiverFailed ? SERIES_ms : 0);
  }
}

/** A delivery is given up only after five attempts over 156 s, whatever time the nodes believe it is. */
export function* noDeliveryIsGivenUpEarly({ evidence, readAt }: Case): Iterable<string> {
  const { rows, callbacks, run } = evidence;
  const received = new Map(rows.events.map(({ id, received_at }) => [id, received_at]));
  const byDelivery = Map.groupBy(callbacks, ({ delivery_id }) => delivery_id);
  for (const { id, event_id, status } of rows.deliveries) {
    if (status !== 'failed') continue;
    const own = (byDelivery.get(id) ?? []).map(({ at }) => at);
    // Where the receiver was dead it noted nothing: all that is known then is how long ago the event was.
    const first = own.length < ATTEMPTS ? (received.get(event_id) ?? run.started_at) : earliest(own);
    const last = own.length < ATTEMPTS ? readAt : latest(own);
    const took = last - first;
    if (took < SERIES_ms - LIMITS.early_retry_ms)
      yield `delivery ${id} was given up after ${took} ms at most (${own.length} callbacks)`;
  }
}

const ATTEMPTS = 5;
const earliest = (times: readonly number[]) => times.reduce((a, b) => Math.min(a, b));
const latest = (times: readonly number[]) => times.reduce((a, b) => Math.max(a, b));

/** Every callback is signed with its subscription's secret. */
export function* everyCallbackIsSigned({ evidence }: Case): Iterable<string> {
  for (const { receiver, event_id, delivery_id, signature_valid } of evidence.callbacks) {
    if (!signature_valid)
      yield `a callback of delivery ${delivery_id} (event ${event_id}) reached ${receiver} with a wrong signature`;
  }
}

/** Every callback is of a delivery that there is, and tells that delivery's event and connection. Those after the rows were read are of no row. */
export function* everyCallbackIsOfADelivery({ evidence, readAt }: Case): Iterable<string> {
  const { deliveries, events } = evidence.rows;
  const eventOf = new Map(deliveries.map(({ id, event_id }) => [id, event_id]));
  const connectionOf = new Map(events.map(({ id, connection_id }) => [id, connection_id]));
  for (const { delivery_id, event_id, connection_id, at } of evidence.callbacks) {
    const event = eventOf.get(delivery_id);
    if (event === undefined && at >= readAt) continue;
    if (event === undefined) yield `a callback at ${at} is of delivery ${delivery_id}, which is not there`;
    else if (event !== event_id) yield `a callback of delivery ${delivery_id} told event ${event_id}, not ${event}`;
    else if (connectionOf.get(event) !== connection_id) {
      yield `a callback of delivery ${delivery_id} told connection ${connection_id}, not ${connectionOf.get(event)}`;
    }
  }
}
