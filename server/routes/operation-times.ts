import type { Attempt, OperationRow, Transition } from '../../storage/model/records.js';

/** The times of an operation that a client may compare. */
export interface OperationTimes {
  created_at: string;
  updated_at: string;
  attempts: Pick<Attempt, 'started_at' | 'completed_at'>[];
  timeline: Pick<Transition, 'at'>[];
}

/**
 * An operation's times in the order in which things happened: it was submitted, then its attempts began and ended one after the other. The
 * database, the node that took it and the nodes that ran it have clocks of their own, a little apart: what comes later is never shown as earlier.
 */
export function timesInOrder({
  created_at,
  updated_at,
  attempts,
  timeline,
}: Pick<OperationRow, 'created_at' | 'updated_at' | 'attempts' | 'timeline'>): OperationTimes {
  const created = created_at.toISOString();
  const submitted = timeline[0]?.at ?? created;
  let last = submitted;
  const steps = timeline.map(({ at }) => {
    last = later(last, at);
    return { at: last };
  });
  const changed = later(updated_at.toISOString(), last);
  last = submitted;
  const tried = attempts.map((attempt) => {
    const started_at = later(last, attempt.started_at);
    const completed_at = attempt.completed_at === null ? null : later(started_at, attempt.completed_at);
    last = completed_at ?? started_at;
    return { started_at, completed_at };
  });
  return {
    created_at: later(created, submitted) === created ? submitted : created,
    updated_at: later(changed, last),
    attempts: tried,
    timeline: steps,
  };
}

/** ISO times of one form sort as text. */
const later = (one: string, other: string) => (one < other ? other : one);
