import type { Evidence, LostAnswer, OperationRecord } from '../chaos/evidence.js';

/** How the clients were answered. */
export interface Answers {
  /** Of the submissions: each answer by its status, 0 for none. */
  by_status: Record<string, number>;
  /** Of all requests, those that got no answer. */
  lost: Record<LostAnswer['how'], number>;
  /** Submissions that in the end were not accepted. */
  not_accepted: number;
  /** The longest time from the first try of a submission to its acceptance. */
  longest_acceptance_ms: number;
  /**
   * Operations that had not passed the boundary when their partition was handed over, and were put back: how many, and the longest
   * time from the begin of such an attempt. More than a lease: nobody handed it over, it ran out.
   */
  put_back: { operations: number; longest_ms: number };
}

export function answersOf({ submissions, lost = [], rows }: Evidence): Answers {
  const by_status: Record<string, number> = {};
  for (const { status } of submissions.flatMap(({ answers }) => answers))
    by_status[status] = (by_status[status] ?? 0) + 1;
  const lostBy = (how: LostAnswer['how']) => lost.filter((one) => one.how === how).length;
  return {
    by_status,
    lost: { refused: lostBy('refused'), reset: lostBy('reset'), late: lostBy('late') },
    not_accepted: submissions.filter(({ accepted_at }) => accepted_at === null).length,
    longest_acceptance_ms: submissions.reduce(
      (longest, { sent_at, accepted_at }) => Math.max(longest, (accepted_at ?? sent_at) - sent_at),
      0,
    ),
    put_back: putBack(rows.operations),
  };
}

function putBack(operations: readonly OperationRecord[]): Answers['put_back'] {
  const times = operations.flatMap(({ timeline }) =>
    timeline.flatMap(({ reason, at }, step) => (reason === 'worker_lost' ? [at - (timeline[step - 1]?.at ?? at)] : [])),
  );
  return { operations: times.length, longest_ms: times.reduce((a, b) => Math.max(a, b), 0) };
}
