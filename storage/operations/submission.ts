import type { OperationRow } from '../model/records.js';
import { acceptance, OPERATION_STEPS } from '../model/transitions.js';
import type { OwnedPartition } from '../partitions/partitions.js';
import type { Sql } from '../postgres/database.js';
import { hasDueJob, insertJobs } from '../postgres/job-table.js';

/** One accepted request on its way into the table; its input is plain or sealed, never both. */
export interface NewOperation {
  id: string;
  workspaceId: string;
  connectionId: string;
  partition: number;
  capability: string;
  idempotencyKey: string;
  keyHash: Buffer;
  fingerprint: Buffer;
  input: string | null;
  inputSealed: Buffer | null;
  acceptedAt: Date;
}

/**
 * `created`: stored, with its job. `handed`: the job counts as fetched by the caller, which owns the partition under
 * the epoch it passed; otherwise the job waits to be fetched. `locked`: nothing was stored, because the connection is being
 * changed; it may be tried again.
 */
export type Submitted =
  | { kind: 'created'; handed: boolean }
  | { kind: 'replayed'; operationId: string }
  | { kind: 'conflict' | 'not_found' | 'locked' };

// As an array, not a join: the planner cannot know how few rows a fence has.
const HANDED = 's.partition = any(array(select id from fence))';

// Rows go in in key order: two batches that share keys then wait for each other instead of deadlocking. `fence` and `target` pass
// locked rows by: a partition that is being taken hands nothing over, a connection that is being changed holds up no other.
const SUBMIT = `
  with fence as materialized (
    select p.id from partition p join unnest($12::smallint[], $13::bigint[]) f(id, epoch) on p.id = f.id and p.epoch = f.epoch
    where not ${hasDueJob('operation', 'p.id')}
    for key share of p skip locked
  ), target as materialized (
    select c.id, c.workspace_id from connection c
    where c.id = any($3) and c.deleted_at is null order by c.id for key share skip locked
  ), input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::bytea[],
      $8::bytea[], $9::jsonb[], $10::bytea[], $11::timestamptz[], $14::jsonb[]) with ordinality
      i(id, workspace_id, connection_id, partition, capability, idempotency_key, key_hash, fingerprint, input, input_sealed,
      accepted_at, timeline, ord)
  ), stored as (
    insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
      input, input_sealed, created_at, updated_at, timeline)
    select i.id, i.workspace_id, i.connection_id, i.partition, i.capability, ${OPERATION_STEPS.firstSql}, i.idempotency_key,
      i.fingerprint, i.input, i.input_sealed, i.accepted_at, i.accepted_at, i.timeline
    from input i join target c on c.id = i.connection_id and c.workspace_id = i.workspace_id
    where not exists (select 1 from idempotency_tombstone t
      where t.workspace_id = i.workspace_id and t.key_hash = i.key_hash)
    order by i.idempotency_key, i.ord
    on conflict (workspace_id, idempotency_key) do nothing
    returning id, partition
  ), job as (
    ${insertJobs({
      queue: 'operation',
      from: 'stored s join input i on i.id = s.id',
      partition: 's.partition',
      id: 's.id',
      fetched: HANDED,
      createdOn: "now() + i.ord * interval '1 microsecond'",
    })}
  )
  select s.id, ${HANDED} as handed from stored s`;

/**
 * Stores a batch of operations and their jobs in one statement; the unique index on (workspace, key) decides what is
 * new (contract: "Operations", Idempotency-Key; OPS-9). Answers in the order of `operations`.
 *
 * `owned` are the partitions whose jobs the caller takes at once instead of fetching them: the fence is
 * locked FOR KEY SHARE, so that a take-over either sees these jobs and puts them back or makes the fence fail. Behind a
 * job that waits to be fetched no job is handed over: another node stored it, and it came first.
 */
export async function submitOperations(
  db: Sql,
  operations: NewOperation[],
  owned: OwnedPartition[],
): Promise<Submitted[]> {
  const stored = await db.query<{ id: string; handed: boolean }>('submitOperations', SUBMIT, [
    operations.map((o) => o.id),
    operations.map((o) => o.workspaceId),
    operations.map((o) => o.connectionId),
    operations.map((o) => o.partition),
    operations.map((o) => o.capability),
    operations.map((o) => o.idempotencyKey),
    operations.map((o) => o.keyHash),
    operations.map((o) => o.fingerprint),
    operations.map((o) => o.input),
    operations.map((o) => o.inputSealed),
    operations.map((o) => o.acceptedAt),
    owned.map((p) => p.id),
    owned.map((p) => p.epoch),
    operations.map((o) => JSON.stringify([acceptance(o.acceptedAt)])),
  ]);
  const created = new Map(stored.map((row) => [row.id, row.handed]));
  const others = operations.filter((o) => !created.has(o.id));
  const earlier = others.length > 0 ? await findEarlier(db, others) : new Map<string, Submitted>();
  return operations.map((o) => {
    const handed = created.get(o.id);
    return handed === undefined ? (earlier.get(o.id) as Submitted) : { kind: 'created', handed };
  });
}

/** The row of an operation that was just stored, without reading it back. */
export function storedRow(operation: NewOperation): OperationRow {
  return {
    id: operation.id,
    workspace_id: operation.workspaceId,
    connection_id: operation.connectionId,
    capability: operation.capability,
    status: OPERATION_STEPS.first,
    result: null,
    error_code: null,
    error_details: null,
    challenge: null,
    cancel_requested: false,
    attempts: [],
    timeline: [acceptance(operation.acceptedAt)],
    created_at: operation.acceptedAt,
    updated_at: operation.acceptedAt,
  };
}

/** The reason why each was not stored: an operation with the key, a tombstone of one, no such connection, or a lock on it. */
async function findEarlier(db: Sql, operations: NewOperation[]): Promise<Map<string, Submitted>> {
  const rows = await db.query<Earlier>(
    'findEarlierOperations',
    `select i.id, o.id as earlier, o.fingerprint = i.fingerprint as same,
       exists (select 1 from connection c where c.id = i.connection_id and c.workspace_id = i.workspace_id
         and c.deleted_at is null) as connection,
       exists (select 1 from idempotency_tombstone t where t.workspace_id = i.workspace_id and t.key_hash = i.key_hash) as tombstone
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[], $6::uuid[])
       i(id, workspace_id, idempotency_key, key_hash, fingerprint, connection_id)
     left join operation o on o.workspace_id = i.workspace_id and o.idempotency_key = i.idempotency_key`,
    [
      operations.map((o) => o.id),
      operations.map((o) => o.workspaceId),
      operations.map((o) => o.idempotencyKey),
      operations.map((o) => o.keyHash),
      operations.map((o) => o.fingerprint),
      operations.map((o) => o.connectionId),
    ],
  );
  return new Map(rows.map((row) => [row.id, notStored(row)]));
}

interface Earlier {
  id: string;
  earlier: string | null;
  same: boolean | null;
  connection: boolean;
  tombstone: boolean;
}

function notStored({ earlier, same, connection, tombstone }: Earlier): Submitted {
  if (earlier) return same ? { kind: 'replayed', operationId: earlier } : { kind: 'conflict' };
  if (tombstone) return { kind: 'conflict' };
  return { kind: connection ? 'locked' : 'not_found' };
}
