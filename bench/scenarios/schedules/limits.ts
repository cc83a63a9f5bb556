import { LIMITS as ACTORS } from '../../../actors/limits.js';

/** The bounds of the schedules, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** Commands of one schedule, and faults. */
  commands: 24,
  faults: 8,
  /** Steps that a fault may put before what it delays. */
  late_steps: 10,
  /** Steps that a node which hands a partition over gives what is past its write boundary. Past them the next owner decides. */
  drain_steps: 20,
  /** Steps of one schedule. Past it the schedule has failed: something is tried again for ever. */
  steps: 3_000,
  /** How often each wait is over until something else is to happen. */
  wait_turns: 8,
  /** Steps after the last command while faults are met. */
  last_steps: 20,
  /** Rounds of polls after the last command. Past it what has not ended is told. */
  calm_rounds: 12,
  /** How long a schedule that failed is made shorter. Past it it stays as it is. */
  shrink_ms: 60_000,
  /** How long a statement may go unanswered before it is looked whether it waits for a lock. */
  answer_ms: 3,
  /** How long one step may take. Past it the schedule has failed: the server itself stands still. */
  step_ms: 20_000,
  /** Connections of one node to the database. Past it a statement waits for another one, and the schedule stands still. */
  connections: 12,
  /** Statements that no schedule means to reach: what waits for a lock waits until a step frees it. */
  statement_ms: 60_000,
  /** How long a lease is trusted. It is a step that ends it, not the clock. */
  lease_ms: 600_000,
  /** Steps between two looks for operations that are live and have no job. */
  probe_steps: 8,
} as const;

/** The limits of the nodes: what waits for a clock waits for a step instead, and what takes many rows takes few. */
const OF_NODES: Partial<Record<keyof typeof ACTORS, number>> = {
  mailbox_idle_ms: 0,
  mailbox_ended: 2,
  mailbox_page: 3,
  opened_mailboxes: 2,
  sweep_ms: 0,
  submission_ms: LIMITS.lease_ms,
  committer_division_ms: LIMITS.lease_ms,
  execution_division_ms: LIMITS.lease_ms,
  taking_lock_ms: LIMITS.statement_ms,
  lease_ms: LIMITS.lease_ms,
};

/** Gives the nodes of this process these limits until what it returns is called. */
export function limitNodes(): () => void {
  const limits: Record<string, number> = ACTORS;
  const before = { ...ACTORS };
  Object.assign(limits, OF_NODES);
  return () => Object.assign(limits, before);
}
