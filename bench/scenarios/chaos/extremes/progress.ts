import { PARTITIONS } from '../../../../storage/model/records.js';

/** What a limit is, by its full name, such as `actors.poll_ms`. */
export type ValueOf = (name: string) => number;

/** What has to hold between limits, or nothing gets on: each names the limit that has to give way. */
export interface Need {
  limit: string;
  /** The least, or the most, that it may be beside the others. */
  least?: (of: ValueOf) => number;
  most?: (of: ValueOf) => number;
  /** What happens else. */
  why: string;
}

/** Until rows and memory of all partitions have been compared. */
const SWEPT_ms = 60_000;

const swept = (module: string): Need => ({
  limit: `${module}.sweep_partitions`,
  least: (of) => Math.min(PARTITIONS, Math.ceil((PARTITIONS * of(`${module}.sweep_ms`)) / SWEPT_ms)),
  why: 'what is in no hand is found a minute later or more, and the run has ended by then',
});

/** Items that a statement of a thread has time for, on a machine that is busy with other things too. */
const timely = (limit: string): Need => ({
  limit,
  most: (of) => Math.max(1, of('storage.thread_statement_ms') / ITEM_ms),
  why: 'a statement of so many takes longer than storage.thread_statement_ms, and is refused whole whenever it is tried',
});
const ITEM_ms = 5;

export const NEEDS: readonly Need[] = [
  ...[
    ...['actors.committer_batch_submissions', 'actors.execution_batch_items', 'actors.opened_mailboxes'],
    ...['actors.closing_mailboxes', 'actors.mailbox_page', 'deliveries.batch_items', 'deliveries.fetch_jobs'],
    'storage.announcement_rows',
  ].map(timely),
  {
    limit: 'actors.silent_thread_ms',
    least: (of) => 3 * of('actors.poll_ms'),
    why: 'a thread reports every actors.poll_ms: it counts as hanging, and is ended again and again',
  },
  {
    limit: 'actors.lease_ms',
    least: (of) => of('actors.lease_margin_ms') + 2 * of('actors.renew_ms') + 1_000,
    why: 'a lease is not renewed before its margin begins: nothing may begin any more',
  },
  {
    limit: 'actors.retry_cap_ms',
    least: (of) => of('actors.retry_ms'),
    why: 'the first wait is longer than the longest',
  },
  {
    limit: 'deliveries.statement_retry_cap_ms',
    least: (of) =>
      Math.max(
        of('deliveries.statement_retry_ms'),
        of('deliveries.locked_retry_ms'),
        of('deliveries.pause_note_retry_ms'),
      ),
    why: 'the first wait is longer than the longest',
  },
  {
    limit: 'deliveries.new_subscription_attempts',
    most: (of) => of('deliveries.subscription_attempts'),
    why: 'a new subscription has more attempts than one that answers',
  },
  {
    limit: 'storage.statement_margin_ms',
    most: (of) =>
      Math.min(of('storage.thread_statement_ms'), of('storage.edge_statement_ms'), of('storage.control_statement_ms')) /
      5,
    why: 'the server ends statements long before their time is over',
  },
  swept('actors'),
  swept('deliveries'),
];
