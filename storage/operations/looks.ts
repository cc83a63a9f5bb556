import { isRunning } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import { ofKeptConnection } from '../model/kept-connection.js';
import { newId } from '../model/new-id.js';
import type { ConnectionRow, OperationRow } from '../model/records.js';
import type { OwnedPartition } from '../partitions/partitions.js';
import type { Sql } from '../postgres/database.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';
import { lookContext } from '../secrets/sealing.js';
import { CONNECTION_COLUMNS } from './starts.js';

/**
 * Looks at the place where a write would show (OPS-22). A request stands in a row until the owner of the connection has looked, or
 * found that there is nothing to look at; the operation keeps what was found last.
 *
 *     requestLook ─▶ look_request ─ requestedLooks, openLook ─▶ storeLook | withdrawLook: the request goes
 *
 * I1. A request is answered once: what stores a look deletes it in the same statement.
 * I2. Only the owner's epoch stores, as with every start.
 */

/** A look that was asked for. */
export interface LookRequest {
  /** Of the request. */
  id: string;
  operation_id: string;
  workspace_id: string;
  connection_id: string;
  partition: number;
}

/** The operation that a look is for, with its connection as it is now. */
export interface LookedForOperation extends ConnectionRow {
  operation_id: string;
  capability: string;
  input: Record<string, unknown> | null;
  input_sealed: Buffer | null;
  /** When its last attempt began, before anything left; ISO 8601. */
  started_at: string;
}

/**
 * Asks for a look for an operation whose outcome is unknown, unless one is asked for already. `busy`: another operation of its
 * connection runs; `not_ready`: its connection has no session to look with; `erased`: its input, which says what to look for, is gone; `gone`:
 * there is no such operation.
 */
export async function requestLook(
  sql: Sql,
  operationId: string,
): Promise<'requested' | 'repeated' | 'busy' | 'not_ready' | 'erased' | 'gone'> {
  const [row] = await sql.query<{ ready: boolean; busy: boolean; erased: boolean; asked: boolean }>(
    'requestLook',
    `with found as (
       select o.id, o.workspace_id, o.connection_id, o.partition, c.health = 'ready' as ready, o.input_erased_at is not null as erased,
         ${isRunning('o.partition', 'o.connection_id')} as busy
       from operation o join connection c on c.id = o.connection_id
       where o.id = $1 and o.status = 'outcome_unknown' and c.deleted_at is null
       for key share of o
     ), requested as (
       insert into look_request (operation_id, id, workspace_id, connection_id, partition)
       select id, $2::uuid, workspace_id, connection_id, partition from found where ready and not busy and not erased
       on conflict (operation_id) do nothing returning 1
     )
     select ready, busy, erased, exists (select from requested) as asked from found`,
    [operationId, newId()],
  );
  if (!row) return 'gone';
  if (row.erased) return 'erased';
  if (row.busy) return 'busy';
  if (!row.ready) return 'not_ready';
  return row.asked ? 'requested' : 'repeated';
}

/** True until the look that was asked for has ended. */
export async function isLookRequested(sql: Sql, operationId: string): Promise<boolean> {
  const rows = await sql.query('isLookRequested', 'select 1 from look_request where operation_id = $1', [operationId]);
  return rows.length > 0;
}

/** The longest waiting request of each connection of these partitions, but for those in hand; a bounded number of them. */
export function requestedLooks(sql: Sql, partitions: number[], inHand: string[]): Promise<LookRequest[]> {
  return sql.query<LookRequest>(
    'requestedLooks',
    `select distinct on (connection_id) operation_id, id, workspace_id, connection_id, partition from look_request
     where partition = any($1::smallint[]) and not connection_id = any($2::uuid[])
     order by connection_id, requested_at, operation_id limit ${LIMITS.requested_looks}`,
    [partitions, inHand],
  );
}

/** What the look is for; undefined when it is no longer asked for, its connection was deleted, or what says what to look for was erased. */
export async function openLook(sql: Sql, { id, operation_id }: LookRequest): Promise<LookedForOperation | undefined> {
  const [row] = await sql.query<LookedForOperation>(
    'openLook',
    `select o.id as operation_id, o.capability, o.input, o.input_sealed, o.attempts -> -1 ->> 'started_at' as started_at,
       ${CONNECTION_COLUMNS}
     from look_request q join operation o on o.id = q.operation_id join connection c on c.id = o.connection_id
     where q.operation_id = $1 and q.id = $2 and o.input_erased_at is null and ${ofKeptConnection('o.connection_id')}`,
    [operation_id, id],
  );
  return row;
}

/**
 * Keeps what a look found in place of the one before, and ends its request; what erases by age comes by, though the operation is older than
 * where it is. False once the request has ended, or under a stale epoch.
 */
export async function storeLook(
  sql: Sql,
  { id, operation_id }: LookRequest,
  owner: OwnedPartition,
  look: object,
): Promise<boolean> {
  const { plain, sealed } = sql.vault.store(pgSafeJson(look), lookContext(operation_id));
  const rows = await sql.query(
    'storeLook',
    `with fence as materialized (
       select 1 from partition where id = $3::smallint and epoch = $4 for key share skip locked
     ), answered as (
       delete from look_request where operation_id = $1 and id = $2 and exists (select 1 from fence) returning operation_id
     ), noted as (
       insert into retention_passed (class, operation_id) select 'result', operation_id from answered
       on conflict (class, operation_id) do update set looked_at = now()
     )
     update operation o set evidence_look = $5::jsonb, evidence_look_sealed = $6, looked_at = now() from answered a where o.id = a.operation_id
     returning o.id`,
    [operation_id, id, owner.id, owner.epoch, plain, sealed],
  );
  return rows.length > 0;
}

/** Ends a request without a look. False once it has ended. */
export async function withdrawLook(sql: Sql, { id, operation_id }: LookRequest): Promise<boolean> {
  const rows = await sql.query(
    'withdrawLook',
    'delete from look_request where operation_id = $1 and id = $2 returning operation_id',
    [operation_id, id],
  );
  return rows.length > 0;
}

/** What the last look found. Throws KeyUnknown when the node lacks the key that it is sealed under. */
export function lookOf(
  { vault }: Sql,
  { id, evidence_look, evidence_look_sealed }: Pick<OperationRow, 'id' | 'evidence_look' | 'evidence_look_sealed'>,
): Record<string, unknown> | null {
  return vault.openValue({ plain: evidence_look, sealed: evidence_look_sealed }, lookContext(id));
}
