import type { Evidence, LostAnswer } from '../chaos/evidence.js';

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
  /** Operations that somebody took from a node that was gone: a node that ends cleanly leaves none. */
  taken_over: number;
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
    taken_over: rows.operations.filter(({ timeline }) => timeline.some(({ reason }) => reason === 'worker_lost'))
      .length,
  };
}
