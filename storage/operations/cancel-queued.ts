import { isMailboxOf, MAILBOX, markOf } from '../jobs/mailbox-jobs.js';
import type { EndedOperation } from '../model/ended-operation.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';

/** Which operations of a workspace that have not begun are canceled; null: of any. */
export interface QueuedFilter {
  workspaceId: string;
  connectionId: string | null;
  /** Of connections that the client calls so (CONN-19). */
  reference: string | null;
  capability: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
}

/** A connection with a mailbox. */
export interface OpenMailbox {
  id: string;
  partition: number;
}

/**
 * Connections that fit and have operations that have not ended, in the order of their ids, behind `after`: those among the next `look`
 * connections, and the last of these; null when it was the last of all. Index: connection_by_workspace.
 */
export async function openMailboxes(
  sql: Sql,
  { workspaceId, connectionId, reference }: QueuedFilter,
  after: string,
  look: number,
): Promise<{ mailboxes: OpenMailbox[]; last: string | null }> {
  const rows = await sql.query<OpenMailbox & { open: boolean }>(
    'openMailboxes',
    `with page as materialized (
       select c.id, c.partition from connection c
       where c.workspace_id = $1 and ($2::uuid is null or c.id = $2) and ($3::text is null or c.reference = $3)
         and c.deleted_at is null and c.id > $4 order by c.id limit $5
     )
     select p.id, p.partition, (select j.id from ${MAILBOX} j where ${isMailboxOf('p.partition', 'p.id')}) is not null as open
     from page p order by p.id`,
    [workspaceId, connectionId, reference, after, look],
  );
  const mailboxes = rows.filter(({ open }) => open).map(({ id, partition }) => ({ id, partition }));
  return { mailboxes, last: rows.length < look ? null : (rows.at(-1)?.id ?? null) };
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

/**
 * queued → canceled for those that fit among the next `limit` operations of a mailbox behind the id `after`, from its mark on (OPS-5). The
 * trigger `operation_finish_told` announces them (EVT-20). An operation that another transaction starts meanwhile is waited for, and left
 * when it has begun. `last`: the last one that was looked at; null when it was the last of all.
 */
export async function cancelQueued(
  tx: Sql,
  { id, partition }: OpenMailbox,
  { capability, createdAfter, createdBefore }: QueuedFilter,
  after: string,
  limit: number,
): Promise<{ canceled: EndedOperation[]; last: string | null }> {
  const rows = await tx.query<EndedOperation & { seen: number; last: string | null }>(
    'cancelQueued',
    `with page as materialized (
       select o.id from ${MAILBOX} j cross join lateral (
         select q.id from operation q where q.connection_id = j.id and q.id >= ${markOf('j.data')} and q.id > $3::uuid
         order by q.id limit $4
       ) o where ${isMailboxOf('$2::smallint', '$1::uuid')}
     ), fitting as materialized (
       select o.id from operation o
       where o.id = any(array(select p.id from page p)) and o.status ${CANCEL_QUEUED.from} and ($6::text is null or o.capability = $6)
         and ($7::timestamptz is null or o.created_at >= $7) and ($8::timestamptz is null or o.created_at < $8)
       order by o.id for update
     ), canceled as (
       update operation o set status = ${CANCEL_QUEUED.to}, cancel_requested = true, timeline = o.timeline || $5::jsonb, updated_at = now()
       where o.id = any(array(select f.id from fitting f)) and o.status ${CANCEL_QUEUED.from}
       returning o.id, o.workspace_id, o.connection_id, o.capability, o.status, o.error_code, jsonb_array_length(o.attempts) as attempts,
         o.request_id, o.traceparent
     ), looked as (
       select count(*)::int as seen, max(p.id::text) as last from page p
     )
     select l.seen, l.last, c.* from looked l left join canceled c on true`,
    [
      ...[id, partition, after, limit],
      JSON.stringify([transition('queued', 'canceled', 'cancel_requested', new Date())]),
      ...[capability, createdAfter, createdBefore],
    ],
  );
  const [first] = rows;
  const canceled = rows.flatMap(({ seen: _, last: __, ...one }) => (one.id === null ? [] : [one]));
  return { canceled, last: first && first.seen === limit ? first.last : null };
}
