import { type DueMailbox, type QueuedOperation, readQueued } from '../../storage/operations/mailboxes.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';

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
  wasOpen: boolean;
  inHand: string[];
}

export interface ReadMailboxes {
  /** Of these connections. */
  mailboxes: string[];
  /** What is queued in them and in nobody's hand. */
  queued: QueuedHere[];
  /** Connections that are no more. */
  gone: string[];
}

/** Reads what is queued in mailboxes of a partition that were just opened; of those that were open before, only what is new. */
export async function readMailboxes(db: Database, partition: number, opened: Opened[]): Promise<ReadMailboxes> {
  const there = opened.filter((one) => one.workspace_id !== null);
  const unread = there.map(({ connection_id: connectionId, from, new: unread, wasOpen }) => ({
    connectionId,
    first: wasOpen ? (unread ?? from) : from,
  }));
  const rows = await readQueued(db, partition, unread, LIMITS.mailbox_page);
  const byConnection = Map.groupBy(rows, (row) => row.connection_id);
  return {
    mailboxes: there.map((one) => one.connection_id),
    queued: there.flatMap((one) => inNoHand(one, byConnection.get(one.connection_id) ?? [])),
    gone: opened.filter((one) => one.workspace_id === null).map((one) => one.connection_id),
  };
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

/** In the order of acceptance, each once. */
export function inOrder(operations: QueuedHere[]): QueuedHere[] {
  const sorted = operations.sort((one, other) => one.place - other.place || (one.id < other.id ? -1 : 1));
  return sorted.filter((operation, i) => operation.id !== sorted[i - 1]?.id);
}
