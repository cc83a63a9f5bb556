import { eraseAttempts, eraseDeliveries } from './deliveries.js';
import type { Erasure } from './erasure.js';
import { eraseEvents } from './events.js';
import { eraseGaps } from './gaps.js';
import { eraseOperations, eraseTombstones } from './operations.js';
import { eraseInputs, eraseResults } from './values.js';

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

/** The same with what follows from it: events take with them the deliveries that have ended. */
export function wholeDays({ deliveries, events, ...others }: RetentionDays): RetentionDays {
  const both = deliveries !== null && events !== null;
  return { ...others, events, deliveries: both ? Math.min(deliveries, events) : (deliveries ?? events) };
}

/** The classes that have days, in their order. */
export function classesOf(days: RetentionDays): RetentionClass[] {
  const whole = wholeDays(days);
  return RETENTION_CLASSES.filter((one) => whole[one] !== null);
}
