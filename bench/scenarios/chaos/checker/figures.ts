import { capabilityNamed } from '../../../../actors/capabilities/catalogue.js';
import { median } from '../../../kit/spread.js';
import type { Evidence, OperationRecord } from '../evidence.js';
import { Case, endOf } from './case.js';
import { wasTaken } from './deliveries.js';

/** What a run was like. Shares are between 0 and 1. */
export interface Figures {
  /** Submissions that were answered with 200 or 202. */
  accepted: number;
  operations_by_status: Record<string, number>;
  failures_by_code: Record<string, number>;
  /** The longest time in which no operation ended although some had been accepted, and when it began. */
  longest_stall_ms: number;
  longest_stall_at: number | null;
  /** For each operation that was taken over: from the fault before it until its end. */
  take_over: { operations: number; p50_ms: number; max_ms: number };
  /** Of the writes that ended. */
  unknown_share: number;
  /** Of the deliveries that were taken, those that were taken more than once. */
  repeated_delivery_share: number;
  callbacks: number;
  /** Answers to submissions: 503, and none at all. */
  answered_503: number;
  unanswered: number;
  /** From a client's first try of a submission until it was accepted, however often it had to send it again. */
  acceptance: { p50_ms: number; max_ms: number };
}

/** The figures of a run, for its closing note. */
export function figures(evidence: Evidence): Figures {
  const run = new Case(evidence);
  const { submissions, rows, callbacks } = evidence;
  const answers = submissions.flatMap((submission) => submission.answers);
  const stall = longestStall(run);
  return {
    accepted: submissions.filter(({ accepted_at }) => accepted_at !== null).length,
    operations_by_status: countBy(rows.operations, ({ status }) => status),
    failures_by_code: countBy(rows.operations, ({ error_code }) => error_code),
    longest_stall_ms: stall.length_ms,
    longest_stall_at: stall.at,
    take_over: takeOver(run),
    unknown_share: unknownShare(rows.operations),
    repeated_delivery_share: repeatedShare(evidence),
    callbacks: callbacks.length,
    answered_503: answers.filter(({ status }) => status === 503).length,
    unanswered: answers.filter(({ status }) => status === 0).length,
    acceptance: acceptance(evidence),
  };
}

function acceptance({ submissions }: Evidence): Figures['acceptance'] {
  const waits = submissions.flatMap(({ sent_at, accepted_at }) =>
    accepted_at === null ? [] : [accepted_at - sent_at],
  );
  return { p50_ms: median(waits), max_ms: waits.reduce((a, b) => Math.max(a, b), 0) };
}

function countBy<T>(items: readonly T[], name: (item: T) => string | null): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const key = name(item);
    if (key !== null) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** Walks over acceptances and ends in their order; a stall lasts from an end, or from the first acceptance after all had ended. */
function longestStall(run: Case): { length_ms: number; at: number | null } {
  const steps: { at: number; change: 1 | -1 }[] = [];
  for (const operation of run.evidence.rows.operations) {
    const accepted = run.submissionOf(operation)?.accepted_at;
    if (accepted === undefined || accepted === null) continue;
    if (operation.timeline.some(({ to }) => to === 'waiting_user')) continue; // it waits for a person
    const end = endOf(operation);
    if (end !== undefined && end < accepted) continue; // it ended before its client knew of it
    steps.push({ at: accepted, change: 1 });
    if (end !== undefined) steps.push({ at: end, change: -1 });
  }
  steps.push({ at: run.readAt, change: -1 });
  steps.sort((a, b) => a.at - b.at || b.change - a.change);
  let waiting = 0;
  let since = 0;
  let longest: { length_ms: number; at: number | null } = { length_ms: 0, at: null };
  for (const { at, change } of steps) {
    if (change === 1 && waiting++ === 0) since = at;
    if (change === 1 || waiting === 0) continue;
    if (at - since > longest.length_ms) longest = { length_ms: at - since, at: since };
    since = at;
    waiting--;
  }
  return longest;
}

/** An operation was running when it was hit: the first fault of its lost attempt's time is taken for the one that did it. */
function takeOver(run: Case): Figures['take_over'] {
  const faults = run.faults.of('node', 'thread', 'clock', 'database', 'link', 'disk', 'other');
  const times = run.evidence.rows.operations.flatMap((operation) => {
    const end = endOf(operation);
    if (end === undefined || !operation.timeline.some(({ reason }) => reason === 'worker_lost')) return [];
    const life = run.lifeOf(operation);
    const lost = operation.attempts.find(({ status }) => status === 'abandoned' || status === 'outcome_unknown');
    const from = lost && !run.faults.clockWasWrong(life) ? lost.started_at : life.from;
    const fault = faults.find((one) => one.to >= from && one.from <= end);
    return fault ? [end - Math.max(fault.from, from)] : [];
  });
  return { operations: times.length, p50_ms: median(times), max_ms: times.reduce((a, b) => Math.max(a, b), 0) };
}

function unknownShare(operations: readonly OperationRecord[]): number {
  const writes = operations.filter(({ capability }) => capabilityNamed(capability)?.kind === 'write');
  return share(writes.filter(({ status }) => status === 'outcome_unknown').length, writes.length);
}

function repeatedShare({ callbacks }: Evidence): number {
  const taken = countBy(callbacks.filter(wasTaken), ({ delivery_id }) => delivery_id);
  const counts = Object.values(taken);
  return share(counts.filter((count) => count > 1).length, counts.length);
}

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
