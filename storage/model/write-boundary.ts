import type { AttemptPhase } from './records.js';

/**
 * The write boundary (OPS-4): from phase `dispatching` on, which is durable before anything is sent, the provider may have
 * acted. Only a write enters it. What happened in an attempt that was lost past it is unknown, and it is never made again.
 */
const PAST_BOUNDARY: Record<AttemptPhase, boolean> = {
  preparing: false,
  reading: false,
  dispatching: true,
  confirming: true,
  done: false, // it succeeded: nothing about it is unknown
};

/** True when the provider may have acted in an open attempt of this phase. */
export function isPastBoundary(phase: AttemptPhase): boolean {
  return PAST_BOUNDARY[phase];
}

/** True when an attempt that ended without proof leaves its operation `outcome_unknown`. */
export function lostAttemptIsUnknown({ kind, phase }: { kind: 'read' | 'write'; phase: AttemptPhase }): boolean {
  return kind === 'write' && isPastBoundary(phase);
}

const PHASES_PAST = (Object.keys(PAST_BOUNDARY) as AttemptPhase[]).filter(isPastBoundary);

/** The same rule for the last attempt of the operation row named `operation`, as SQL: its phase alone shows a write. */
export function pastBoundarySql(operation: string): string {
  return `${operation}.attempts -> -1 ->> 'phase' in (${PHASES_PAST.map((phase) => `'${phase}'`).join(', ')})`;
}
