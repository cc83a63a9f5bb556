import { type DueMailbox, type QueuedOperation, readQueued } from '../../storage/operations/mailboxes.js';
import type { Sql } from '../../storage/postgres/database.js';
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

/** A mailbox that was opened, and what is in memory of it. */
export interface Opened extends DueMailbox {
  held: { open: boolean; actor: { inHand: string[] } } | undefined;
}

export interface ReadMailboxes {
  /** Of these connections. */
  mailboxes: string[];
  /** What is queued in them and in nobody's hand. */
  queued: QueuedHere[];
  /** Connections that are no more. */
  gone: string[];
}

/** Reads what is queued in mailboxes that were just opened, a page after the other; of those that were open before, only what is new. */
export async function readMailboxes(db: Sql, opened: Opened[]): Promise<ReadMailboxes> {
  const workspaces = new Map<string, string>();
  const gone: string[] = [];
  const known = new Set<string>();
  let pages: { connectionId: string; first: string }[] = [];
  for (const { connection_id: connectionId, workspace_id, from, new: unread, held } of opened) {
    if (workspace_id === null) {
      gone.push(connectionId);
      continue;
    }
    workspaces.set(connectionId, workspace_id);
    const first = held?.open ? (unread ?? from) : from;
    for (const id of held?.actor.inHand ?? []) if (id >= first) known.add(id); // of a long mailbox, few
    pages.push({ connectionId, first });
  }
  const queued: QueuedHere[] = [];
  while (pages.length > 0) {
    const rows = await readQueued(db, pages, LIMITS.mailbox_page);
    const read = new Map<string, QueuedOperation[]>();
    for (const row of rows) {
      const of = read.get(row.connection_id);
      if (of) of.push(row);
      else read.set(row.connection_id, [row]);
      if (known.has(row.id)) continue;
      known.add(row.id); // the last one of a page is the first one of the next
      const workspaceId = workspaces.get(row.connection_id) as string;
      queued.push({ connectionId: row.connection_id, workspaceId, id: row.id, place: row.place, large: row.large });
    }
    pages = [...read].flatMap(([connectionId, page]) => {
      const last = page.at(-1);
      return last && page.length === LIMITS.mailbox_page ? [{ connectionId, first: last.id }] : [];
    });
  }
  return { mailboxes: [...workspaces.keys()], queued, gone };
}

/** In the order of acceptance, each once. */
export function inOrder(operations: QueuedHere[]): QueuedHere[] {
  const sorted = operations.sort((one, other) => one.place - other.place || (one.id < other.id ? -1 : 1));
  return sorted.filter((operation, i) => operation.id !== sorted[i - 1]?.id);
}
