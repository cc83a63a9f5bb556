import { isMailboxOf, MAILBOX, markOf } from '../jobs/mailbox-jobs.js';
import type { EndedOperation } from '../model/ended-operation.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';

/** Which operations of a mailbox that have not begun are canceled; null: of any. */
export interface QueuedFilter {
  capability: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
}

/** A connection, and the partition that its mailbox is in. */
export interface MailboxOf {
  id: string;
  partition: number;
}

/** Those of these connections that have operations which have not ended. */
export function withMailboxes(sql: Sql, connections: readonly MailboxOf[]): Promise<MailboxOf[]> {
  return sql.query<MailboxOf>(
    'withMailboxes',
    `select c.id, c.partition from unnest($1::uuid[], $2::smallint[]) c(id, partition)
     join ${MAILBOX} j on ${isMailboxOf('c.partition', 'c.id')}`,
    [connections.map(({ id }) => id), connections.map(({ partition }) => partition)],
  );
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

/**
 * queued → canceled for those that fit among the next `limit` operations of a mailbox behind the id `after`, from its mark on (OPS-5). The
 * trigger `operation_finish_told` announces them (EVT-20). An operation that another transaction starts meanwhile is waited for, and left
 * when it has begun. `last`: the last one that was looked at; null when it was the last of all.
 */
export async function cancelQueued(
  tx: Sql,
  { id, partition }: MailboxOf,
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
