import type { AttemptStatus, DeliveryAttemptOutcome, DeliveryStatus, OperationStatus, Transition } from './records.js';
import { StatusSteps } from './status-steps.js';

/**
 * The statuses of an operation (contract: "Operation status"; OPS-1, OPS-2).
 *
 *     submit ─▶ queued ─▶ running ⇄ waiting_user
 *                 │          │           │
 *                 ▼          ▼           ▼
 *       canceled, failed, skipped, succeeded, outcome_unknown: terminal
 *
 * running → queued happens when a worker is lost before the write boundary; running → canceled only before it;
 * running → outcome_unknown only past it, without proof.
 */
export const OPERATION_STEPS = new StatusSteps<OperationStatus>('operation', 'queued', {
  queued: ['running', 'failed', 'skipped', 'canceled'],
  running: ['waiting_user', 'succeeded', 'failed', 'skipped', 'canceled', 'outcome_unknown', 'queued'],
  waiting_user: ['running', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
  skipped: [],
  outcome_unknown: [],
});

/** The statuses of an operation's attempt: it ends once. `abandoned` is one that was given up before the write boundary. */
export const ATTEMPT_STEPS = new StatusSteps<AttemptStatus>('attempt', 'running', {
  running: ['succeeded', 'failed', 'abandoned', 'outcome_unknown'],
  succeeded: [],
  failed: [],
  abandoned: [],
  outcome_unknown: [],
});

/**
 * The statuses of a delivery (contract: "Delivery"; EVT-5, EVT-6).
 *
 *     recorded ─▶ pending ─▶ sending ─▶ delivered
 *                    ▲          │─────▶ failed       the last attempt of a series failed
 *                    ├──────────┘                    an earlier one failed, or its worker was lost
 *                    └── failed                      replayed
 *     pending, sending ─▶ canceled                   the subscription was deactivated: terminal
 */
export const DELIVERY_STEPS = new StatusSteps<DeliveryStatus>('delivery', 'pending', {
  pending: ['sending', 'canceled'],
  sending: ['delivered', 'failed', 'pending', 'canceled'],
  failed: ['pending'],
  delivered: [],
  canceled: [],
});

/** The outcomes of a delivery's attempt: it ends once. `abandoned` is an attempt whose worker was lost. */
export const DELIVERY_ATTEMPT_STEPS = new StatusSteps<DeliveryAttemptOutcome>('delivery attempt', 'sending', {
  sending: ['delivered', 'failed', 'canceled', 'abandoned'],
  delivered: [],
  failed: [],
  canceled: [],
  abandoned: [],
});

/** One checked step of an operation: the timeline entry to append. Throws when the step is illegal. */
export function transition(from: OperationStatus, to: OperationStatus, reason: string, at: Date): Transition {
  OPERATION_STEPS.check(from, to, reason);
  return { from, to, reason, at: at.toISOString() };
}

/** The first entry of an operation's timeline. */
export function acceptance(at: Date): Transition {
  return { from: null, to: OPERATION_STEPS.first, reason: 'submitted', at: at.toISOString() };
}

/** True for the statuses of an operation that no step leaves. */
export function isTerminal(status: OperationStatus): boolean {
  return OPERATION_STEPS.isTerminal(status);
}

/** True when a poller has something to act on: the operation is terminal, or waits for the user. */
export function isAwaitable(status: OperationStatus): boolean {
  return status === 'waiting_user' || isTerminal(status);
}
