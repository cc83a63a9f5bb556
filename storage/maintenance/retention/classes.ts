import { eraseAttempts, eraseDeliveries, passDelivery } from './deliveries.js';
import { type Erasure, type PassOver, passRowOf } from './erasure.js';
import { eraseEvents, passEvent } from './events.js';
import { eraseGaps } from './gaps.js';
import { eraseOperations, eraseTombstones, passTombstone } from './operations.js';
import { eraseInputs, eraseResults, passValue } from './values.js';

/** What may be erased by its age, in the order in which it is: an event goes once no delivery of it is left. */
export const RETENTION_CLASSES = [
  ...['gaps', 'attempts', 'deliveries', 'events', 'inputs', 'results', 'operations', 'tombstones'],
] as const;

export type RetentionClass = (typeof RETENTION_CLASSES)[number];

/** After how many days; null: never. */
export type RetentionDays = Record<RetentionClass, number | null>;

export const ERASURES: Record<RetentionClass, Erasure> = {
  gaps: eraseGaps,
  attempts: eraseAttempts,
  deliveries: eraseDeliveries,
  events: eraseEvents,
  inputs: eraseInputs,
  results: eraseResults,
  operations: eraseOperations,
  tombstones: eraseTombstones,
};

export const PASS_OVER: Record<RetentionClass, PassOver> = {
  gaps: passRowOf('listener_gap'),
  attempts: passRowOf('delivery_attempt'),
  deliveries: passDelivery,
  events: passEvent,
  inputs: passValue('input'),
  results: passValue('result'),
  operations: passRowOf('operation'),
  tombstones: passTombstone,
};

/**
 * The same with what follows from it: events take with them the deliveries that have ended. A part that goes no sooner than its whole
 * is not erased for itself: attempts go along with their delivery, inputs and results with their operation.
 */
export function wholeDays(days: RetentionDays): RetentionDays {
  const { events, operations } = days;
  const deliveries = soonest(days.deliveries, events);
  return {
    ...days,
    deliveries,
    attempts: sooner(days.attempts, deliveries),
    inputs: sooner(days.inputs, operations),
    results: sooner(days.results, operations),
  };
}

function soonest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Null for a part that goes no sooner than its whole. */
function sooner(part: number | null, whole: number | null): number | null {
  return part !== null && whole !== null && part >= whole ? null : part;
}

/** The classes that are gone through, in their order. */
export function classesOf(days: RetentionDays): RetentionClass[] {
  const whole = wholeDays(days);
  return RETENTION_CLASSES.filter((one) => whole[one] !== null);
}
