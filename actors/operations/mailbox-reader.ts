import {
  type DueMailbox,
  type OpenedMailboxes,
  type Opening,
  openMailboxes,
  type QueuedOperation,
  readLong,
  readQueued,
  type UnreadMailbox,
} from '../../storage/operations/mailboxes.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import type { OperationBatch } from './operation-counters.js';

/** A queued operation on its way to its mailbox. */
export interface QueuedHere {
  id: string;
  connectionId: string;
  workspaceId: string;
  /** In the order of acceptance. */
  place: number;
  /** Its input is large. */
  large: boolean;
}

/** A mailbox that was opened, and what was in memory of it by then: what leaves the hand while it is read was queued before. */
export interface Opened extends DueMailbox {
  /** All that is queued in it is in hand, but for what is new and what this thread stores from this id on. Null: it was not open. */
  unanswered: string | null;
  inHand: string[];
}

export interface ReadMailboxes {
  mailboxes: MailboxVersion[];
  /** What is queued in them and in nobody's hand. */
  queued: QueuedHere[];
  /** Those of connections that are no more. */
  gone: MailboxVersion[];
}

interface MailboxVersion {
  connectionId: string;
  version: string;
}

/**
 * Opens and reads mailboxes for all partitions of a thread: what several of them ask for goes into one statement, since what other nodes
 * accept comes to many partitions at once, and to each a little. An error, or a lost answer, is that of all who asked.
 */
export class MailboxReader {
  readonly #db: Database;
  readonly #openings: Batcher<Opening, OpenedMailboxes & { more: boolean }>;
  readonly #readings: Batcher<UnreadMailbox[], { queued: QueuedOperation[]; long: UnreadMailbox[] }>;

  /** `flushed` is told how many items a statement takes. */
  constructor(db: Database, flushed: (batch: OperationBatch, items: number) => void = () => {}) {
    this.#db = db;
    const options = { linger_ms: 0, bound: Number.POSITIVE_INFINITY }; // one a partition at most
    this.#openings = new Batcher({
      ...options,
      maxItems: LIMITS.opened_partitions,
      concurrency: 1,
      flushed: (items) => flushed('open', items),
      flush: async (partitions) => {
        const limit = Math.ceil(LIMITS.opened_mailboxes / partitions.length);
        const opened = await openMailboxes(db, partitions, limit);
        return opened.map((one) => ({ ...one, more: one.due.length === limit }));
      },
    });
    this.#readings = new Batcher({
      ...options,
      maxItems: LIMITS.opened_partitions,
      weigh: (mailboxes) => mailboxes.length,
      maxWeight: LIMITS.opened_mailboxes,
      concurrency: LIMITS.reading_statements,
      flushed: (items) => flushed('read', items),
      flush: (unread) => readEach(db, unread),
    });
  }

  /** Opens mailboxes of the partition that are due; none when its epoch is stale. `more`: others may be left. */
  open(partition: Opening): Promise<OpenedMailboxes & { more: boolean }> {
    return this.#openings.add(partition);
  }

  /** Reads what is queued in mailboxes of a partition that were just opened; of those that were open before, only what is new. */
  async read(partition: number, opened: Opened[]): Promise<ReadMailboxes> {
    const there = opened.filter((one) => one.workspace_id !== null);
    const rows = await this.#read(
      there.map(({ connection_id: connectionId, from, new: unread, unanswered }) => ({
        ...{ partition, connectionId },
        first: unanswered === null ? from : lower(unread ?? from, unanswered),
      })),
    );
    const byConnection = Map.groupBy(rows, (row) => row.connection_id);
    return {
      mailboxes: there.map(versionOf),
      queued: there.flatMap((one) => inNoHand(one, byConnection.get(one.connection_id) ?? [])),
      gone: opened.filter((one) => one.workspace_id === null).map(versionOf),
    };
  }

  /** A long mailbox takes long to read, and holds up nobody else's. */
  async #read(unread: UnreadMailbox[]): Promise<QueuedOperation[]> {
    if (unread.length === 0) return [];
    const { queued, long } = await this.#readings.add(unread);
    return long.length === 0 ? queued : [...queued, ...(await readLong(this.#db, long, LIMITS.mailbox_page))];
  }
}

const versionOf = ({ connection_id: connectionId, version }: Opened): MailboxVersion => ({ connectionId, version });

async function readEach(db: Database, unread: UnreadMailbox[][]) {
  const { queued, long } = await readQueued(db, unread.flat(), LIMITS.mailbox_page);
  if (unread.length === 1) return [{ queued, long }];
  const of = Map.groupBy(queued, (row) => row.connection_id);
  const isLong = new Set(long);
  return unread.map((mailboxes) => ({
    queued: mailboxes.flatMap(({ connectionId }) => of.get(connectionId) ?? []),
    long: mailboxes.filter((one) => isLong.has(one)),
  }));
}

/** Of the rows of a mailbox, in the order of their ids, those that its actor has not in hand. */
function inNoHand(
  { connection_id: connectionId, workspace_id, inHand }: Opened,
  rows: QueuedOperation[],
): QueuedHere[] {
  const first = rows[0]?.id;
  if (first === undefined) return [];
  const known = new Set(inHand.filter((id) => id >= first)); // of a long mailbox, few
  return rows
    .filter(({ id }) => !known.has(id))
    .map(({ id, place, large }) => ({ connectionId, workspaceId: workspace_id as string, id, place, large }));
}

const lower = (one: string, other: string) => (one < other ? one : other);

/** In the order of acceptance, each once. */
export function inOrder(operations: QueuedHere[]): QueuedHere[] {
  const sorted = operations.sort((one, other) => one.place - other.place || (one.id < other.id ? -1 : 1));
  return sorted.filter((operation, i) => operation.id !== sorted[i - 1]?.id);
}
