import type { OperationStatus, Transition } from './records.js';

/**
 * The one table of an operation's transitions (contract: "Operation status"; OPS-1, OPS-2).
 *
 *     submit ─▶ queued ─▶ running ⇄ waiting_user
 *                 │          │           │
 *                 ▼          ▼           ▼
 *       canceled, failed, skipped, succeeded, outcome_unknown: terminal, left by nothing
 *
 * running → queued happens when a worker is lost before the write boundary; running → canceled only before it;
 * running → outcome_unknown only past it, without proof.
 */
const NEXT: Record<OperationStatus, readonly OperationStatus[]> = {
  queued: ['running', 'failed', 'skipped', 'canceled'],
  running: ['waiting_user', 'succeeded', 'failed', 'skipped', 'canceled', 'outcome_unknown', 'queued'],
  waiting_user: ['running', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
  skipped: [],
  outcome_unknown: [],
};

/** The door every change of status goes through: the timeline entry to append. An illegal step throws; it is a bug. */
export function transition(from: OperationStatus | null, to: OperationStatus, reason: string, at: Date): Transition {
  const legal = from === null ? to === 'queued' : NEXT[from].includes(to);
  if (!legal) throw new Error(`illegal operation transition ${from} -> ${to} (${reason})`);
  return { from, to, reason, at: at.toISOString() };
}

/** True for the statuses that nothing leaves. */
export function isTerminal(status: OperationStatus): boolean {
  return NEXT[status].length === 0;
}

/** True when a poller has something to act on: terminal, or waiting for the user. */
export function isSettled(status: OperationStatus): boolean {
  return status === 'waiting_user' || isTerminal(status);
}
