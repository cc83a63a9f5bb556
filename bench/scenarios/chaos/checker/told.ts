import type { Rows } from '../evidence.js';
import { type Case, endOf, named } from './case.js';
import { LIMITS } from './limits.js';

type Subscription = Rows['subscriptions'][number];

const FINISHED = 'operation.finished';
/** What such an event is named after. */
const FINISHED_OF = /^operation\.finished\/([0-9a-f-]{36})$/;

/** The operation that an event tells the end of. */
const toldBy = ({ type, provider_event_id }: Rows['events'][number]) =>
  type === FINISHED ? FINISHED_OF.exec(provider_event_id ?? '')?.[1] : undefined;

/** The subscription that somebody made: that of the workspace, where this is the part of a connection. */
const madeAs = ({ id, parent_id }: Subscription) => parent_id ?? id;

/**
 * Each end is told once to each subscription that wants to hear of ends, be it of the connection or of the workspace: one event, with one
 * delivery to each. Nothing is said of ends that came while a subscription was being made, nor of those that are about to be told.
 */
export function* endsAreToldOnce(run: Case): Iterable<string> {
  const { events, subscriptions, deliveries } = run.evidence.rows;
  const eventsOf = Map.groupBy(events, toldBy);
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const deliveriesOf = Map.groupBy(deliveries, ({ event_id }) => event_id);
  const asMade = Map.groupBy(
    subscriptions.filter(({ parent_id }) => !parent_id),
    ({ connection_id }) => connection_id,
  );
  for (const operation of run.evidence.rows.operations) {
    const end = endOf(operation);
    if (end === undefined || end > run.readAt - run.inPassing_ms) continue;
    const wanted = [...(asMade.get(operation.connection_id) ?? []), ...(asMade.get(null) ?? [])].filter((one) =>
      hears(one, end),
    );
    const told = eventsOf.get(operation.id) ?? [];
    if (told.length !== 1 && (told.length > 1 || wanted.length > 0))
      yield `the end of ${named(operation)} was told by ${told.length} events`;
    const reached = told
      .flatMap(({ id }) => deliveriesOf.get(id) ?? [])
      .map(({ subscription_id }) => madeAs(byId.get(subscription_id) ?? UNKNOWN));
    for (const { id, connection_id } of wanted) {
      const times = reached.filter((one) => one === id).length;
      const whose = connection_id === null ? "the workspace's" : "the connection's";
      if (times !== 1) yield `the end of ${named(operation)} has ${times} deliveries to ${whose} subscription ${id}`;
    }
  }
}

const UNKNOWN = { id: '' } as Subscription;

const hears = ({ active, event_types, created_at }: Subscription, end: number) =>
  active && event_types.includes(FINISHED) && created_at + LIMITS.settled_subscription_ms < end;

/** What is told as an end has ended. */
export function* toldEndsAreEnds(run: Case): Iterable<string> {
  for (const event of run.evidence.rows.events) {
    const id = toldBy(event);
    if (id === undefined) continue;
    const operation = run.operations.get(id);
    if (!operation) yield `event ${event.id} tells the end of operation ${id}, which is not there`;
    else if (endOf(operation) === undefined)
      yield `event ${event.id} tells the end of ${named(operation)}, which is ${operation.status}`;
  }
}
