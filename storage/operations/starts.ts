import { type ConnectionRow, type OperationStatus, PARTITIONS } from '../model/records.js';
import { ATTEMPT_STEPS, OPERATION_STEPS, transition } from '../model/transitions.js';
import { bigints, smallints, texts, uuids } from '../postgres/arrays.js';
import type { Sql } from '../postgres/database.js';

/**
 * The starts of operations; `OPERATION_STEPS` has the states, `execution.ts` what follows. Each statement takes a batch. An execution holds
 * (partition, epoch, attempt).
 *
 * Invariant: I1 a start locks the partition's row FOR KEY SHARE and writes only while the epoch is the same, so a take-over waits for it
 * or makes it write nothing.
 */
export interface HeldOperation {
  id: string;
  partition: number;
  epoch: number;
  attemptId: string;
}

/** A queued operation that is to start; `attemptId` becomes its next attempt. */
export interface StartingOperation extends HeldOperation {
  connectionId: string;
}

/** A started operation, with its connection's row. */
export interface StartedOperation extends ConnectionRow {
  operation_id: string;
  capability: string;
  input: Record<string, unknown> | null;
  input_sealed: Buffer | null;
  attempt_number: number;
  /** The epoch that the attempt runs under. */
  epoch: number;
  /** Milliseconds of running time that earlier attempts took (OPS-17). */
  spent_ms: number;
  accepted_at: Date;
  /** When its first attempt started, by the clock of the node that started it. */
  first_started_at: string;
  request_id: string | null;
  traceparent: string | null;
}

export const CONNECTION_FIELDS = [
  'id',
  'workspace_id',
  'partition',
  'provider',
  'username',
  'actor_kind',
  'actor_id',
  'health',
  'state_revision',
  'region',
  'proxy_id',
  'recruiter_health',
  'recruiter_reason',
  'recruiter_contract',
  'recruiter_verified_at',
  'recruiter_verified_revision',
  'recruiter_operation_id',
  'created_at',
] as const;

export const START_STEP = OPERATION_STEPS.sql('queued', 'running');

export const CONNECTION_COLUMNS = CONNECTION_FIELDS.map((column) => `c.${column}`).join(', ');

/** Milliseconds that the attempts of the operation row `o` before the last one ran, as far as their ends noted it. */
const SPENT = `case when jsonb_array_length(o.attempts) < 2 then 0
  else (select coalesce(sum((a ->> 'running_ms')::float8), 0) from jsonb_array_elements(o.attempts) a) end as spent_ms`;

export const STARTED = `o.id as operation_id, o.capability, o.input, o.input_sealed, o.epoch,
  o.created_at as accepted_at, o.attempts -> 0 ->> 'started_at' as first_started_at, o.request_id, o.traceparent,
  jsonb_array_length(o.attempts) as attempt_number, ${SPENT}, ${CONNECTION_COLUMNS}`;

/**
 * I1 The partitions of the common table `input` under their epochs, locked: pairs as one number each, because the planner cannot know how few
 * rows a fence has. Rows that are locked (a partition that is being taken, a connection that is being changed) are left out here and in
 * what starts, instead of holding up the others.
 */
export const FENCE = `select p.epoch * ${PARTITIONS} + p.id as pair from partition p
  where (p.id, p.epoch) in (select i.partition, i.epoch from input i) for key share skip locked`;

/** Starts the operations of the common table `input` under the pairs of `fence`; the parameters are the capabilities that write, the time and the step. */
export const startSql = ({
  writes,
  at,
  step,
  where = 'true',
}: {
  writes: string;
  at: string;
  step: string;
  where?: string;
}) => `
  update operation o set status = ${START_STEP.to}, epoch = i.epoch, updated_at = now(),
    attempts = o.attempts || jsonb_build_object('id', i.attempt_id, 'state_revision', c.state_revision,
      'number', jsonb_array_length(o.attempts) + 1, 'status', ${ATTEMPT_STEPS.firstSql},
      'phase', case when o.capability = any(${writes}::text[]) then 'preparing' else 'reading' end,
      'started_at', ${at}::text, 'completed_at', null),
    timeline = o.timeline || ${step}::jsonb
  from input i cross join lateral (select * from connection where id = i.connection_id for key share skip locked) c
  where o.id = i.id and o.status ${START_STEP.from} and o.connection_id = i.connection_id and ${where}
    and (c.cancel_through is null or o.id > c.cancel_through)
    and i.epoch * ${PARTITIONS} + i.partition = any(array(select pair from fence))
    and not o.attempts @> jsonb_build_array(jsonb_build_object('id', i.attempt_id))
  returning ${STARTED}`;

const START = `
  with input as (
    select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::uuid[], $8::uuid[])
      i(id, partition, epoch, attempt_id, connection_id)
  ), fence as materialized (${FENCE})
  ${startSql({ writes: '$5', at: '$6', step: '$7' })}`;

/**
 * queued → running, with a new attempt. Its owner starts one of a connection at a time. Returns those that started, with their
 * connection as it is now. An operation is left out when it is no longer queued, its attempt was started before, the
 * epoch is stale, or a row that it needs is locked: `startsLeftOut` tells which. The connection is locked FOR KEY SHARE, which
 * serialises with the FOR UPDATE of PATCH, disconnect and delete (CONN-5). An attempt starts once, however often it is asked for.
 *
 * `writes`: the capabilities that write. Their attempts begin as `preparing`, those of all others as `reading` (OPS-11).
 */
export async function startOperations(
  db: Sql,
  operations: StartingOperation[],
  writes: readonly string[],
): Promise<StartedOperation[]> {
  const at = new Date();
  return db.query<StartedOperation>('startOperations', START, [
    uuids(operations.map((o) => o.id)),
    smallints(operations.map((o) => o.partition)),
    bigints(operations.map((o) => o.epoch)),
    uuids(operations.map((o) => o.attemptId)),
    texts(writes),
    at.toISOString(),
    JSON.stringify([transition('queued', 'running', 'started', at)]),
    uuids(operations.map((o) => o.connectionId)),
  ]);
}

/** Why an operation was left out of a start. */
export type LeftOut =
  /** It runs under this very attempt: the answer to its start was lost. */
  | { kind: 'started'; started: StartedOperation }
  /** It still waits: a row was locked, or its partition is being taken. */
  | { kind: 'queued' }
  /** It runs or waits under another attempt, whose worker is not the caller. */
  | { kind: 'elsewhere' }
  /** It ended, or is gone. */
  | { kind: 'over' };

/** What became of operations that `startOperations` left out, in their order. */
export async function startsLeftOut(db: Sql, operations: StartingOperation[]): Promise<LeftOut[]> {
  const rows = await db.query<StartedOperation & { status: OperationStatus; attempt_id: string | null }>(
    'startsLeftOut',
    `select o.status, o.attempts -> -1 ->> 'id' as attempt_id, ${STARTED}
     from operation o cross join lateral (select * from connection where id = o.connection_id limit 1) c where o.id = any($1::uuid[])`,
    [operations.map((o) => o.id)],
  );
  const byId = new Map(rows.map((row) => [row.operation_id, row]));
  return operations.map(({ id, attemptId }): LeftOut => {
    const row = byId.get(id);
    if (row?.status === 'queued') return { kind: 'queued' };
    if (row?.status === 'running' && row.attempt_id === attemptId) return { kind: 'started', started: row };
    return { kind: row?.status === 'running' || row?.status === 'waiting_user' ? 'elsewhere' : 'over' };
  });
}
