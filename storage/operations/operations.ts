import { LIMITS } from '../limits.js';
import type { EndedOperation } from '../model/ended-operation.js';
import { firstIdAt } from '../model/id-time.js';
import { ofKeptConnection } from '../model/kept-connection.js';
import type { OperationRow, OperationStatus } from '../model/records.js';
import { isTerminal, OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql, Transaction } from '../postgres/database.js';
import { inputContext, resultContext } from '../secrets/sealing.js';

/** Reads of operations, and what a caller may do to one: cancel. Looks have a file of their own. */
const COLUMNS = `id, workspace_id, connection_id, capability, status, result::text as result, result_sealed, error_code, error_details, challenge,
  cancel_requested, attempts, timeline, created_at, updated_at, evidence, evidence_look, evidence_look_sealed`;
/** The same without what may be large: neither results, but for why nothing was done, nor what looks found are read. */
const SMALL_COLUMNS = COLUMNS.replace(
  'result::text as result, result_sealed',
  `case when status = 'skipped' then result::text end as result, case when status = 'skipped' then result_sealed end as result_sealed`,
).replace('evidence_look, evidence_look_sealed', 'null::jsonb as evidence_look, null::bytea as evidence_look_sealed');

/**
 * What the operation ended with, as JSON text: most who ask pass it on. Throws KeyUnknown when the node lacks the key that it is
 * sealed under.
 */
export function resultTextOf(
  { vault }: Sql,
  { id, result, result_sealed }: Pick<OperationRow, 'id' | 'result' | 'result_sealed'>,
): string | null {
  return vault.openText({ plain: result, sealed: result_sealed }, resultContext(id));
}

/** The same as a value. */
export function resultOf(sql: Sql, row: Parameters<typeof resultTextOf>[1]): Record<string, unknown> | null {
  const text = resultTextOf(sql, row);
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}

/**
 * What the operation was submitted with, as it was: it may hold secrets. Undefined when there is no such operation, null when its input
 * was erased by its age (STO-6). Throws KeyUnknown
 * when the node lacks the key that it is sealed under.
 */
export async function readOperationInput(sql: Sql, id: string): Promise<Record<string, unknown> | null | undefined> {
  const [row] = await sql.query<{ input: Record<string, unknown> | null; input_sealed: Buffer | null }>(
    'readOperationInput',
    'select input, input_sealed from operation where id = $1',
    [id],
  );
  if (!row) return undefined;
  return sql.vault.openValue({ plain: row.input, sealed: row.input_sealed }, inputContext(id));
}

/** These operations, whatever their workspace; the caller compares it. */
export function findOperations(sql: Sql, ids: string[]): Promise<OperationRow[]> {
  return sql.query<OperationRow>(
    'findOperations',
    `select ${COLUMNS} from operation o where id = any($1::uuid[]) and ${ofKeptConnection('o.connection_id')}`,
    [ids],
  );
}

/** Whether an operation was submitted with this idempotency key. Index: operation_idempotency. */
export async function wasSubmitted(sql: Sql, workspaceId: string, idempotencyKey: string): Promise<boolean> {
  const rows = await sql.query(
    'wasSubmitted',
    'select from operation where workspace_id = $1 and idempotency_key = $2',
    [workspaceId, idempotencyKey],
  );
  return rows.length > 0;
}

/** Which of these operations nobody needs to wait for: terminal, or waiting for the user. */
export async function settledOperations(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'settledOperations',
    `select id from operation where id = any($1::uuid[]) and status <> all($2::text[])`,
    [ids, UNSETTLED],
  );
  return rows.map(({ id }) => id);
}

const UNSETTLED = ['queued', 'running'] satisfies OperationStatus[];

export interface OperationFilter {
  workspaceId: string;
  connectionId: string | null;
  status: OperationStatus | null;
  capability: string | null;
  /** Only operations that were created from then on, and before then. */
  createdAfter?: Date | null;
  createdBefore?: Date | null;
  errorCode?: string | null;
  /** Only operations of connections that the client calls so (CONN-19). */
  reference?: string | null;
  /** Only the operation that was submitted with this key. */
  idempotencyKey?: string | null;
  /** Only operations accepted before this one. */
  before: string | null;
  limit: number;
  /** Without them results, but for why nothing was done, and what looks found are null in the rows. */
  results: boolean;
  /** Operations that are looked at, whether they fit or not. */
  look: number;
}

export interface FoundOperations {
  operations: OperationRow[];
  /** The last one that was looked at, where fewer than `limit` were found among `look`; null when there is nothing behind them. */
  lookedTo: string | null;
}

/**
 * Newest first (OPS-15). Indexes: operation_by_workspace, operation_by_connection. No index names the status, whose updates must
 * stay within a row's page: it is looked at row by row, and so are the capability and whether the connection was deleted, as far as `look` goes.
 * Those that wait for their user have rows of their own: waiting_operation_listed, waiting_operation_by_connection. One key is looked up
 * by operation_idempotency. Times bound the ids that are looked at, with room for clocks that differ.
 */
export async function listOperations(sql: Sql, filter: OperationFilter): Promise<FoundOperations> {
  const {
    createdAfter = null,
    createdBefore = null,
    errorCode = null,
    reference = null,
    idempotencyKey = null,
  } = filter;
  const keyed = idempotencyKey !== null;
  const waiting = filter.status === 'waiting_user' && !keyed;
  const id = waiting ? 'operation_id' : 'id';
  // Several statements, not one with `or`: each then has the plan that its index allows.
  // The scope is hidden from the planner by a `select`. Of one that has much it would take the primary key, which is in order, and pass
  // what all others have submitted since. Of a connection the workspace is told so that no index is taken for it.
  const scope = keyed
    ? '($5::uuid is null or connection_id = $5)'
    : filter.connectionId
      ? 'connection_id = (select $5::uuid) and (workspace_id = $1) is true and $12::text is null'
      : '$5::uuid is null and workspace_id = (select $1::uuid) and $12::text is null';
  // The fence has the one row found by its key: the planner would look for it in order of the ids.
  const one = '(select * from operation where workspace_id = $1 and idempotency_key = $12 offset 0) one';
  const looked = `from ${keyed ? one : waiting ? 'waiting_operation' : 'operation'}
    where ${scope} and ${id} < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      and ${id} > coalesce($13::uuid, '00000000-0000-0000-0000-000000000000') order by ${id} desc`;
  const found = waiting
    ? `select * from operation where id = any(array(select ${id} ${looked} limit $6))`
    : `select * ${looked} limit $6`;
  const rows = await sql.query<OperationRow & { looked_to: string | null }>(
    `list${waiting ? 'Waiting' : ''}Operations${keyed ? 'OfKey' : filter.connectionId ? 'OfConnection' : ''}${filter.results ? '' : 'WithoutResults'}`,
    `with page as materialized (
       select ${filter.results ? COLUMNS : SMALL_COLUMNS} from (${found}) o
       where ($2::text is null or status = $2) and ($7::text is null or capability = $7) and ${ofKeptConnection('o.connection_id')}
         and ($8::text is null or error_code = $8) and ($9::timestamptz is null or created_at >= $9)
         and ($10::timestamptz is null or created_at < $10) and ($11::text is null or connection_id = any(array(
           select c.id from connection c where c.workspace_id = $1 and c.reference = $11 and c.deleted_at is null)))
       order by id desc limit $4
     ), looked as (select ${id} as looked_to ${looked} offset $6 - 1 limit 1)
     select p.*, l.looked_to from page p
       full join (select looked_to from looked where (select count(*) from page) < $4) l on false
     order by p.id desc nulls last`,
    [
      filter.workspaceId,
      filter.status,
      earlier(filter.before, createdBefore && firstIdAt(createdBefore.getTime() + LIMITS.clock_difference_ms)),
      filter.limit,
      filter.connectionId,
      filter.look,
      filter.capability,
      ...[errorCode, createdAfter, createdBefore, reference, idempotencyKey],
      createdAfter && firstIdAt(Math.max(0, createdAfter.getTime() - LIMITS.clock_difference_ms)),
    ],
  );
  const lookedTo = rows.at(-1)?.looked_to ?? null;
  return { operations: lookedTo === null ? rows : rows.slice(0, -1), lookedTo };
}

function earlier(one: string | null, other: string | null): string | null {
  return one === null || other === null ? (one ?? other) : one < other ? one : other;
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

/**
 * queued → canceled at once; running and waiting operations get `cancel_requested` and their owner ends them; a terminal
 * one stays as it is (OPS-5). The trigger `operation_finish_told` announces what is canceled here (EVT-20). Returns which of these it was, of a canceled one what ended; `repeated` when it was requested before, `gone`
 * when there is no such operation.
 */
export async function cancelOperation(
  tx: Transaction,
  operationId: string,
): Promise<EndedOperation | 'requested' | 'repeated' | 'terminal' | 'gone'> {
  const [row] = await tx.query<{ status: OperationStatus }>(
    'lockOperation',
    'select status from operation where id = $1 for update',
    [operationId],
  );
  if (!row) return 'gone';
  if (isTerminal(row.status)) return 'terminal';
  if (row.status !== 'queued') {
    const requested = await tx.query(
      'requestCancel',
      'update operation set cancel_requested = true, updated_at = now() where id = $1 and not cancel_requested returning 1',
      [operationId],
    );
    return requested.length > 0 ? 'requested' : 'repeated';
  }
  const [ended] = await tx.query<EndedOperation>(
    'cancelOperation',
    `update operation set status = ${CANCEL_QUEUED.to}, cancel_requested = true, timeline = timeline || $2::jsonb, updated_at = now()
     where id = $1
     returning id, workspace_id, connection_id, capability, status, error_code, jsonb_array_length(attempts) as attempts,
       request_id, traceparent`,
    [operationId, JSON.stringify([transition('queued', 'canceled', 'cancel_requested', new Date())])],
  );
  return ended ?? 'gone';
}
