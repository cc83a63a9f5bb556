import type { OperationRecord, SubmissionRecord } from '../evidence.js';
import { type Case, endOf, hasEnded, named } from './case.js';
import { LIMITS } from './limits.js';
import { arrivedAt } from './writes.js';

/** An operation, and when it came to pass. */
interface Turn {
  operation: OperationRecord;
  submission: SubmissionRecord;
  /** From when on it was on its way into its row: it has no order to what was accepted later than that. */
  asked: number;
  at: number;
}

/**
 * Turns that came before one whose acceptance was answered before they were sent for the first time, or, where they were sent
 * again and again, before they were stored. Nothing is said about two that were under way at once, nor about equal times. Each of those
 * overtaken is named once.
 */
function* overtaken(turns: readonly Turn[]): Iterable<{ earlier: Turn; later: Turn }> {
  const accepted = turns
    .flatMap((turn) => (turn.submission.accepted_at === null ? [] : [{ turn, at: turn.submission.accepted_at }]))
    .sort((a, b) => a.at - b.at);
  const known = new Set<Turn>();
  let next = 0;
  let last: Turn | undefined;
  for (const later of turns.toSorted((a, b) => a.asked - b.asked)) {
    for (; next < accepted.length && accepted[next]!.at < later.asked; next++) {
      const { turn } = accepted[next]!;
      if (!last || turn.at > last.at) last = turn;
    }
    if (!last || last.at <= later.at || known.has(last)) continue;
    known.add(last);
    yield { earlier: last, later };
  }
}

/** By how much the later one came before the earlier one. */
function lead({ operation: { id }, submission, at }: Turn, later: Turn): string {
  const passed = Number.isFinite(at) ? ` ${at - later.at} ms before ${id}` : `, and ${id} has not`;
  const accepted = later.asked - (submission.accepted_at ?? 0);
  return `${passed}, which was accepted ${accepted} ms before it was asked for`;
}

function turnsOf(run: Case, operations: readonly OperationRecord[], at: (one: OperationRecord) => number | undefined) {
  return operations.flatMap((operation): Turn[] => {
    const submission = run.submissionOf(operation);
    const time = at(operation);
    if (!submission || time === undefined) return [];
    const asked = Math.max(submission.sent_at, operation.created_at - LIMITS.same_clock_ms); // the row's statement began after it was sent
    return [{ operation, submission, asked, at: time }];
  });
}

/**
 * The operations of a connection run in the order of submission: one ends before the next begins. Judged by their ends, which
 * have the database's time. One that was canceled before its turn never ran; one that has not ended was overtaken by all that have.
 */
export function* ranInOrder(run: Case): Iterable<string> {
  for (const [connection, operations] of run.operationsByConnection) {
    const ran = operations.filter((operation) => operation.attempts.length > 0 || !hasEnded(operation));
    const turns = turnsOf(run, ran, (operation) => settledAt(run, operation) ?? Number.POSITIVE_INFINITY);
    for (const { earlier, later } of overtaken(turns)) {
      yield `connection ${connection}: ${later.operation.id} ended${lead(earlier, later)}`;
    }
  }
}

/**
 * Its end. The database stamps a row with the begin of the transaction, and a take-over may have waited in it for the very start
 * of the attempt that it then ends: no end is before the begin.
 */
function settledAt(run: Case, operation: OperationRecord): number | undefined {
  const end = endOf(operation);
  const begun = operation.attempts.at(-1)?.started_at;
  if (end === undefined || begun === undefined || run.faults.clockWasWrong(run.lifeOf(operation))) return end;
  return Math.max(end, begun);
}

/** The network sees the writes of a connection in the order of submission. */
export function* writtenInOrder(run: Case): Iterable<string> {
  for (const [connection, operations] of run.operationsByConnection) {
    const turns = turnsOf(run, operations, (operation) => {
      const [write] = run.writesOf(operation);
      return write && arrivedAt(run, operation, write);
    });
    for (const { earlier, later } of overtaken(turns)) {
      yield `connection ${connection}: ${later.operation.id} was written${lead(earlier, later)}`;
    }
  }
}

/**
 * One operation of a connection runs at a time: no attempt begins before the one before it is over. Attempts have the time of
 * their node, so what ran while some node's clock was wrong is left out; `ranInOrder` judges it.
 */
export function* oneRunsAtATime(run: Case): Iterable<string> {
  for (const [connection, operations] of run.operationsByConnection) {
    const runs = operations
      .filter((operation) => !run.faults.clockWasWrong(run.lifeOf(operation)))
      .flatMap((operation) =>
        operation.attempts.map((attempt) => ({ operation, attempt, ...spanOf(run, operation, attempt) })),
      )
      .sort((a, b) => a.from - b.from || a.to - b.to);
    let longest = runs[0];
    for (const next of runs.slice(1)) {
      if (longest && next.from < longest.to - LIMITS.same_clock_ms) {
        yield `connection ${connection}: attempt ${next.attempt.number} of ${named(next.operation)} began ${longest.to - next.from} ms before attempt ${longest.attempt.number} of ${longest.operation.id} was over`;
      }
      if (!longest || next.to > longest.to) longest = next;
    }
  }
}

/** An attempt that nobody closed runs until its operation's end. */
function spanOf(run: Case, operation: OperationRecord, attempt: OperationRecord['attempts'][number]) {
  const to = attempt.completed_at ?? endOf(operation) ?? run.readAt;
  return { from: attempt.started_at, to };
}
