import { type Origin, UNKNOWN_ORIGIN } from '../model/origin.js';
import type { OperationRow } from '../model/records.js';
import { acceptance, OPERATION_STEPS } from '../model/transitions.js';
import type { OwnedPartition } from '../partitions/partitions.js';
import type { Sql } from '../postgres/database.js';
import { insertFormerJobs } from '../postgres/former-jobs.js';
import { acceptIntoMailboxes, isMailboxOf, MAILBOX, markOf } from '../postgres/mailbox-jobs.js';

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
  /** By this node's clock, for its timeline. */
  acceptedAt: Date;
  /** Absent: of no request. */
  origin?: Origin | undefined;
}

/** From more bytes than these on an input is large: it is stored, and run, apart from the others. */
export const LARGE_INPUT_bytes = 64 * 1024;

/** What the input of an operation takes. */
export function inputBytes({ input, inputSealed }: NewOperation): number {
  return (input?.length ?? 0) + (inputSealed?.length ?? 0);
}

export function isLarge(operation: NewOperation): boolean {
  return inputBytes(operation) > LARGE_INPUT_bytes;
}

/**
 * `created`: stored; `handed`: the caller, which owns the partition under the epoch it passed, has its mailbox open and takes the operation
 * at once; otherwise the mailbox is due. `place`: its own in the order of acceptance. `locked`: nothing was stored, because the connection is being changed; it may be tried again.
 */
export type Submitted =
  | { kind: 'created'; handed: boolean; place: number }
  | { kind: 'replayed'; operationId: string }
  | { kind: 'conflict' | 'not_found' | 'locked' };

/**
 * The place in the order of acceptance of what was stored at this time, as a number: microseconds of the database's clock since 1970. What was
 * accepted before another operation was asked for has the lower place, whatever the clocks of the nodes show; in one batch the ids tell.
 */
export const placeOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::float8`;

// Rows go in in key order: two batches that share keys then wait for each other instead of deadlocking. `fence` and `target` pass
// locked rows by: a partition that is being taken hands nothing over, a connection that is being changed holds up no other.
// `taking`: whose open mailbox takes what was stored, because its job says so now. All others are made due, or opened where they
// had no job. `former`: for a node of the version before, which has a job an operation instead.
const SUBMIT = `
  with fence as materialized (
    select p.id from partition p join unnest($12::smallint[], $13::bigint[]) f(id, epoch) on p.id = f.id and p.epoch = f.epoch
    for key share of p skip locked
  ), target as materialized (
    select c.id, c.workspace_id from connection c
    where c.id = any($3) and c.deleted_at is null order by c.id for key share skip locked
  ), input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::bytea[],
      $8::bytea[], $9::jsonb[], $10::bytea[], $11::jsonb[], $14::text[], $15::text[]) with ordinality
      i(id, workspace_id, connection_id, partition, capability, idempotency_key, key_hash, fingerprint, input, input_sealed,
      timeline, request_id, traceparent, ord)
  ), stored as (
    insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
      input, input_sealed, created_at, updated_at, timeline, request_id, traceparent)
    select i.id, i.workspace_id, i.connection_id, i.partition, i.capability, ${OPERATION_STEPS.firstSql}, i.idempotency_key,
      i.fingerprint, i.input, i.input_sealed, now(), now(), i.timeline, i.request_id, i.traceparent
    from input i join target c on c.id = i.connection_id and c.workspace_id = i.workspace_id
    where not exists (select 1 from idempotency_tombstone t
      where t.workspace_id = i.workspace_id and t.key_hash = i.key_hash)
    order by i.idempotency_key, i.ord
    on conflict (workspace_id, idempotency_key) do nothing
    returning id, connection_id, partition
  ), accepted as materialized (
    select connection_id, partition, (array_agg(id order by id))[1] as mark, partition = any(array(select id from fence)) as fenced
    from stored group by connection_id, partition
  ), taking as materialized (
    select a.connection_id from accepted a join ${MAILBOX} j on ${isMailboxOf('a.partition', 'a.connection_id')}
    where a.fenced and a.connection_id = any($16::uuid[]) and j.state = 'active' and ${markOf('j.data')} <= a.mark
  ), mailbox as (
    ${acceptIntoMailboxes({
      from: 'accepted a',
      where: 'a.connection_id <> all (array(select connection_id from taking))',
      partition: 'a.partition',
      connection: 'a.connection_id',
      mark: 'a.mark',
      opened: 'a.fenced',
      started: 'a.fenced',
    })}
  ), handed as (
    select connection_id from taking union all select id from mailbox where opened
  ), former as (
    ${insertFormerJobs('stored s where s.connection_id <> all (array(select connection_id from handed))')}
  )
  select s.id, h.connection_id is not null as handed, ${placeOf('now()')} as place
  from stored s left join handed h on h.connection_id = s.connection_id`;

/**
 * Stores a batch of operations in one statement; the unique index on (workspace, key) decides what is new (contract: "Operations",
 * Idempotency-Key; OPS-9). Answers in the order of `operations`.
 *
 * `owned` are the partitions that the caller owns: the fence is locked FOR KEY SHARE, so that a take-over either sees what was stored
 * or makes the fence fail. `open` are the connections whose mailboxes it has open and does not settle meanwhile
 * (`mailboxes.ts` has the invariants). Behind what another node stored, and the caller has not read, nothing is handed over: it came first.
 */
export async function submitOperations(
  db: Sql,
  operations: NewOperation[],
  owned: OwnedPartition[],
  open: string[] = [],
): Promise<Submitted[]> {
  const stored = await db.query<{ id: string; handed: boolean; place: number }>('submitOperations', SUBMIT, [
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
    operations.map((o) => JSON.stringify([acceptance(o.acceptedAt)])),
    owned.map((p) => p.id),
    owned.map((p) => p.epoch),
    operations.map(({ origin = UNKNOWN_ORIGIN }) => origin.requestId),
    operations.map(({ origin = UNKNOWN_ORIGIN }) => origin.traceparent),
    open,
  ]);
  const created = new Map(stored.map((row) => [row.id, row]));
  const others = operations.filter((o) => !created.has(o.id));
  const earlier = others.length > 0 ? await findEarlier(db, others) : new Map<string, Submitted>();
  return operations.map((o) => {
    const row = created.get(o.id);
    return row ? { kind: 'created', handed: row.handed, place: row.place } : (earlier.get(o.id) as Submitted);
  });
}

/** The row of an operation that was just stored, without reading it back. */
export function storedRow(operation: NewOperation, place: number): OperationRow {
  const createdAt = new Date(Math.floor(place / 1_000));
  return {
    id: operation.id,
    workspace_id: operation.workspaceId,
    connection_id: operation.connectionId,
    capability: operation.capability,
    status: OPERATION_STEPS.first,
    result: null,
    result_sealed: null,
    error_code: null,
    error_details: null,
    evidence: null,
    challenge: null,
    cancel_requested: false,
    attempts: [],
    timeline: [acceptance(operation.acceptedAt)],
    created_at: createdAt,
    updated_at: createdAt,
    evidence_look: null,
    evidence_look_sealed: null,
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
