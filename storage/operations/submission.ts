import { acceptIntoMailboxes, isMailboxOf, MAILBOX, markOf, OWN_VERSION } from '../jobs/mailbox-jobs.js';
import type { AuditSender } from '../model/audit.js';
import { newId } from '../model/new-id.js';
import { type Origin, UNKNOWN_ORIGIN } from '../model/origin.js';
import type { AttemptPhase, ConnectionRow, OperationRow } from '../model/records.js';
import { ATTEMPT_STEPS, acceptance, OPERATION_STEPS, transition } from '../model/transitions.js';
import type { OwnedPartition } from '../partitions/partitions.js';
import { bigints, byteas, jsonbs, smallints, texts, uuids } from '../postgres/arrays.js';
import type { Sql } from '../postgres/database.js';
import { CONNECTION_FIELDS, START_STEP, type StartedOperation } from './starts.js';

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

/** The first attempt of an operation that starts with its acceptance, where nothing of its connection stands before it. */
export interface FirstAttempt {
  id: string;
  phase: Extract<AttemptPhase, 'preparing' | 'reading'>;
  /** ISO 8601, by the clock of the node that starts it. */
  started_at: string;
}

/**
 * `created`: stored; `handed`: the caller, which owns the partition under the epoch it passed, has its mailbox open and takes the operation
 * at once; otherwise the mailbox is due. `place`: its own in the order of acceptance. `version`: of its job, where the mailbox was not open before. `running`: its first attempt has started under that
 * epoch, on this connection. `locked`: nothing was stored, because the connection is being changed; it may be tried again.
 */
export type Submitted =
  | { kind: 'created'; handed: boolean; place: number; version: string; running: ConnectionRow | undefined }
  | { kind: 'replayed'; operationId: string }
  | { kind: 'conflict' | 'not_found' | 'locked' };

/**
 * The place in the order of acceptance of what was stored at this time, as a number: microseconds of the database's clock since 1970. What was
 * accepted before another operation was asked for has the lower place, whatever the clocks of the nodes show; in one batch the ids tell.
 */
export const placeOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::float8`;

/** After a failover to a server whose clock is behind, what is accepted next stays behind what the caller had stored before. */
const ACCEPTED = "greatest(now(), timestamptz 'epoch' + $27::float8 * interval '1 microsecond')";

const HELD_CONNECTION = CONNECTION_FIELDS.map((field) => `c.${field} as c_${field}`).join(', ');
const RUNNING_CONNECTION = CONNECTION_FIELDS.map(
  (field) => `case when t.epoch is not null then t.c_${field} end as ${field}`,
);

// Rows go in in key order: two batches that share keys then wait for each other instead of deadlocking. `fence` and the look at the
// connection pass locked rows by: a partition that is being taken hands nothing over, a connection that is being changed holds up no other. So does one
// whose work up to an id above is being canceled: an operation from a clock that is behind would be canceled with it.
// `to_store`: each with its connection and mailbox as they were when the statement began, looked up by their keys; `epoch` is that of what
// starts with its acceptance, because nothing stood before it: whatever else is stored meanwhile was under way at the same time and has no order
// to it. `accepted`: by connection; `taken`: its open mailbox takes what was stored, because its job said so. All others are made due, or
// opened where they had no job. `audited`: an entry for all that one sender had stored.
// Few rows meet few here, and the planner cannot know it: arrays are looked through faster than nested loops of tuples.
const SUBMIT = `
  with fence as materialized (
    select p.id from partition p join unnest($12::smallint[], $13::bigint[]) f(id, epoch) on p.id = f.id and p.epoch = f.epoch
    for key share of p skip locked
  ), to_store as materialized (
    select i.*, ${HELD_CONNECTION}, fenced, j.open, j.mark,
      case when fenced and i.attempt is not null and (j.mark is null or j.open and j.mark <= i.id)
      then i.fence_epoch end as epoch
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::bytea[],
      $8::bytea[], $9::jsonb[], $10::bytea[], $11::jsonb[], $14::text[], $15::text[], $17::jsonb[], $19::bigint[], $20::smallint[]) with ordinality
      i(id, workspace_id, connection_id, partition, capability, idempotency_key, key_hash, fingerprint, input, input_sealed,
      timeline, request_id, traceparent, attempt, fence_epoch, sender, ord)
    cross join lateral (
      select * from connection c where c.id = i.connection_id and c.workspace_id = i.workspace_id and c.deleted_at is null
        and (c.cancel_through is null or i.id > c.cancel_through)
      for key share skip locked) c
    left join lateral (
      select j.state = 'active' and j.id = any($16::uuid[]) as open, ${markOf('j.data')} as mark
      from ${MAILBOX} j where ${isMailboxOf('i.partition', 'i.connection_id')} limit 1) j on true
    cross join lateral (select i.partition = any(array(select id from fence)) as fenced) f
    where not exists (select 1 from idempotency_tombstone t
      where t.workspace_id = i.workspace_id and t.key_hash = i.key_hash)
  ), stored as (
    insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
      input, input_sealed, created_at, updated_at, timeline, request_id, traceparent, epoch, attempts)
    select t.id, t.workspace_id, t.connection_id, t.partition, t.capability,
      case when t.epoch is null then ${OPERATION_STEPS.firstSql} else ${START_STEP.to} end, t.idempotency_key, t.fingerprint, t.input,
      t.input_sealed, ${ACCEPTED}, now(), case when t.epoch is null then t.timeline else t.timeline || $18::jsonb end, t.request_id, t.traceparent,
      t.epoch, case when t.epoch is null then '[]'
        else jsonb_build_array(t.attempt || jsonb_build_object('state_revision', t.c_state_revision)) end
    from to_store t order by t.idempotency_key, t.ord
    on conflict (workspace_id, idempotency_key) do nothing
    returning id, partition
  ), audited as (
    insert into audit.entry (id, workspace_id, actor_kind, actor_id, actor_name, address, action, target_ids)
    select a.id, a.workspace_id, a.kind, a.actor_id, a.name, a.address, 'operation.submit', s.ids
    from (select sender, array_agg(id order by id) as ids from to_store where id = any(array(select id from stored)) group by sender) s
    join unnest($21::uuid[], $22::uuid[], $23::text[], $24::uuid[], $25::text[], $26::text[]) with ordinality
      a(id, workspace_id, kind, actor_id, name, address, number) on a.number = s.sender
  ), accepted as materialized (
    select connection_id, partition, (array_agg(id order by id))[1] as mark, fenced, bool_and(fenced and open and mark <= id) as taken
    from to_store where id = any(array(select id from stored)) group by connection_id, partition, fenced
  ), mailbox as (
    ${acceptIntoMailboxes({
      from: 'accepted a',
      where: 'a.taken is not true',
      partition: 'a.partition',
      connection: 'a.connection_id',
      mark: 'a.mark',
      opened: 'a.fenced',
      started: 'a.fenced',
    })}
  ), handed as materialized (
    select connection_id from accepted where taken union all select id from mailbox where opened
  )
  select t.id as operation_id, t.connection_id = any(array(select connection_id from handed)) as handed, ${placeOf(ACCEPTED)} as place,
    ${OWN_VERSION} as version, t.epoch is not null as running, ${RUNNING_CONNECTION}
  from to_store t where t.id = any(array(select id from stored))`;

interface StoredRow extends ConnectionRow {
  operation_id: string;
  handed: boolean;
  place: number;
  version: string;
  running: boolean;
}

const NOTHING_EARLIER: ReadonlyMap<string, Submitted> = new Map();
const NO_ATTEMPTS: ReadonlyMap<string, FirstAttempt> = new Map();

/**
 * Stores a batch of operations in one statement; the unique index on (workspace, key) decides what is new (contract: "Operations",
 * Idempotency-Key; OPS-9). Answers in the order of `operations`.
 *
 * `owned` are the partitions that the caller owns: the fence is locked FOR KEY SHARE, so that a take-over either sees what was stored
 * or makes the fence fail. `open` are the connections whose mailboxes it has open and does not close meanwhile
 * (`mailboxes.ts` has the invariants). Behind what another node stored, and the caller has not read, nothing is handed over: it came first.
 *
 * `attempts`: by operation, the attempts that the caller would run at once, one a connection at most, of whose operations it has nothing in hand.
 * Such an operation is stored as running, if the partition is owned, its mailbox is open or has no job, and nothing of it is to be canceled.
 *
 * `lastPlace`: the highest place that the caller knows; no operation of this batch gets a lower one.
 */
export async function submitOperations(
  db: Sql,
  operations: NewOperation[],
  owned: OwnedPartition[],
  open: string[] = [],
  attempts = NO_ATTEMPTS,
  lastPlace = 0,
): Promise<Submitted[]> {
  const epochs = new Map(owned.map(({ id, epoch }) => [id, epoch]));
  const stored = await db.query<StoredRow>('submitOperations', SUBMIT, [
    uuids(operations.map((o) => o.id)),
    uuids(operations.map((o) => o.workspaceId)),
    uuids(operations.map((o) => o.connectionId)),
    smallints(operations.map((o) => o.partition)),
    texts(operations.map((o) => o.capability)),
    texts(operations.map((o) => o.idempotencyKey)),
    byteas(operations.map((o) => o.keyHash)),
    byteas(operations.map((o) => o.fingerprint)),
    jsonbs(operations.map((o) => o.input)),
    byteas(operations.map((o) => o.inputSealed)),
    jsonbs(operations.map((o) => JSON.stringify([acceptance(o.acceptedAt)]))),
    smallints(owned.map((p) => p.id)),
    bigints(owned.map((p) => p.epoch)),
    texts(operations.map(({ origin = UNKNOWN_ORIGIN }) => origin.requestId)),
    texts(operations.map(({ origin = UNKNOWN_ORIGIN }) => origin.traceparent)),
    uuids(open),
    jsonbs(operations.map((o) => firstAttempt(attempts.get(o.id)))),
    JSON.stringify([transition('queued', 'running', 'started', new Date())]),
    bigints(operations.map((o) => epochs.get(o.partition) ?? null)),
    ...sendersOf(operations),
    lastPlace,
  ]);
  const created = new Map(stored.map((row) => [row.operation_id, row]));
  const others = operations.filter((o) => !created.has(o.id));
  const earlier = others.length > 0 ? await findEarlier(db, others).catch(unlessStored(stored)) : NOTHING_EARLIER;
  return operations.map((o) => {
    const row = created.get(o.id);
    if (!row) return earlier.get(o.id) ?? { kind: 'locked' };
    const { handed, place, version } = row;
    return { kind: 'created', handed, place, version, running: row.running ? row : undefined };
  });
}

/** What was stored is told whatever becomes of the look at the others: of those nothing was, and they may be tried again. */
const unlessStored = (stored: StoredRow[]) => (error: unknown) => {
  if (stored.length === 0) throw error;
  return NOTHING_EARLIER;
};

/** Which of the senders submitted each operation, from 1, and then, column by column, the entry of each of them (HTTP-30). */
function sendersOf(operations: NewOperation[]): unknown[] {
  const entries = new Map<string, { workspaceId: string; sender: AuditSender; number: number }>();
  const numbers = operations.map(({ workspaceId, origin }) => {
    const sender = origin?.sender;
    if (!sender) return null;
    const who = `${workspaceId} ${sender.kind} ${sender.id} ${sender.address}`;
    const entry = entries.get(who) ?? { workspaceId, sender, number: entries.size + 1 };
    entries.set(who, entry);
    return entry.number;
  });
  const all = [...entries.values()];
  return [
    smallints(numbers),
    uuids(all.map(() => newId())),
    uuids(all.map(({ workspaceId }) => workspaceId)),
    texts(all.map(({ sender }) => sender.kind)),
    uuids(all.map(({ sender }) => sender.id)),
    texts(all.map(({ sender }) => sender.name)),
    texts(all.map(({ sender }) => sender.address)),
  ];
}

/** As it is stored, but for the revision of its connection. */
function firstAttempt(attempt: FirstAttempt | undefined): string | null {
  return attempt ? JSON.stringify({ ...attempt, number: 1, status: ATTEMPT_STEPS.first, completed_at: null }) : null;
}

/** The row of an operation that was just stored, without reading it back. */
export function storedRow(operation: NewOperation, place: number): OperationRow {
  const createdAt = placeTime(place);
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

/** An operation that was just stored as running, without reading it back. `input`: as it was sent. */
export function startedRow(
  { id, capability, origin = UNKNOWN_ORIGIN }: NewOperation,
  by: {
    input: Record<string, unknown>;
    place: number;
    connection: ConnectionRow;
    attempt: FirstAttempt;
    epoch: number;
  },
): StartedOperation {
  return {
    ...by.connection,
    operation_id: id,
    capability,
    input: by.input,
    input_sealed: null,
    attempt_number: 1,
    epoch: by.epoch,
    spent_ms: 0,
    accepted_at: placeTime(by.place),
    first_started_at: by.attempt.started_at,
    request_id: origin.requestId,
    traceparent: origin.traceparent,
  };
}

const placeTime = (place: number) => new Date(Math.floor(place / 1_000));

/** The reason why each was not stored: an operation with the key, a tombstone of one, no such connection, or a lock on it. */
async function findEarlier(db: Sql, operations: NewOperation[]): Promise<Map<string, Submitted>> {
  const rows = await db.query<Earlier>(
    'findEarlierOperations',
    `select i.id, o.id as earlier, o.fingerprint = i.fingerprint as same,
       (select c.deleted_at is null from connection c where c.id = i.connection_id and c.workspace_id = i.workspace_id limit 1) is true
         as connection,
       (select true from idempotency_tombstone t where t.workspace_id = i.workspace_id and t.key_hash = i.key_hash limit 1) is true as tombstone
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[], $6::uuid[])
       i(id, workspace_id, idempotency_key, key_hash, fingerprint, connection_id)
     left join lateral (select id, fingerprint from operation
       where workspace_id = i.workspace_id and idempotency_key = i.idempotency_key limit 1) o on true`,
    [
      uuids(operations.map((o) => o.id)),
      uuids(operations.map((o) => o.workspaceId)),
      texts(operations.map((o) => o.idempotencyKey)),
      byteas(operations.map((o) => o.keyHash)),
      byteas(operations.map((o) => o.fingerprint)),
      uuids(operations.map((o) => o.connectionId)),
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
