import { hasRunningOperation } from '../connections/connection-changes.js';
import { ofKeptConnection } from '../model/kept-connection.js';
import type { OperationRow, OperationStatus } from '../model/records.js';
import { isTerminal, OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Database, Sql } from '../postgres/database.js';
import { removeJobs } from '../postgres/job-table.js';

/** Reads of operations, and what a caller may do to one: cancel, reconcile. */
const COLUMNS = `id, workspace_id, connection_id, capability, status, result, error_code, error_details, challenge,
  cancel_requested, attempts, timeline, created_at, updated_at`;

/** These operations, whatever their workspace; the caller compares it. */
export function findOperations(sql: Sql, ids: string[]): Promise<OperationRow[]> {
  return sql.query<OperationRow>(
    'findOperations',
    `select ${COLUMNS} from operation o where id = any($1::uuid[]) and ${ofKeptConnection('o.connection_id')}`,
    [ids],
  );
}

export interface OperationFilter {
  workspaceId: string;
  connectionId: string | null;
  status: OperationStatus | null;
  /** Only operations accepted before this one. */
  before: string | null;
  limit: number;
}

/** Newest first (OPS-15). Indexes: operation_by_workspace, operation_by_connection. */
export function listOperations(sql: Sql, filter: OperationFilter): Promise<OperationRow[]> {
  // Two statements, not one with `or`: each then has the plan that its index allows.
  const scope = filter.connectionId
    ? 'connection_id = $5 and workspace_id = $1'
    : '$5::uuid is null and workspace_id = $1';
  return sql.query<OperationRow>(
    filter.connectionId ? 'listOperationsOfConnection' : 'listOperations',
    `select ${COLUMNS} from operation o
     where ${scope} and ($2::text is null or status = $2) and ${ofKeptConnection('o.connection_id')}
       and id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by id desc limit $4`,
    [filter.workspaceId, filter.status, filter.before, filter.limit, filter.connectionId],
  );
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

/**
 * queued → canceled at once; running and waiting operations get `cancel_requested` and their owner ends them; a terminal
 * one stays as it is (OPS-5). Returns which of these it was; `gone` when there is no such operation.
 */
export function cancelOperation(
  db: Database,
  operationId: string,
): Promise<'canceled' | 'requested' | 'terminal' | 'gone'> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ status: OperationStatus; partition: number }>(
      'lockOperation',
      'select status, partition from operation where id = $1 for update',
      [operationId],
    );
    if (!row) return 'gone';
    if (isTerminal(row.status)) return 'terminal';
    if (row.status !== 'queued') {
      await tx.query(
        'requestCancel',
        'update operation set cancel_requested = true, updated_at = now() where id = $1 and not cancel_requested',
        [operationId],
      );
      return 'requested';
    }
    await tx.query(
      'cancelOperation',
      `update operation set status = ${CANCEL_QUEUED.to}, cancel_requested = true, timeline = timeline || $2::jsonb, updated_at = now()
       where id = $1`,
      [operationId, JSON.stringify([transition('queued', 'canceled', 'cancel_requested', new Date())])],
    );
    await removeJobs(tx, [{ queue: 'operation', partition: row.partition, id: operationId }]);
    return 'canceled';
  });
}

/**
 * Whether evidence may be read now (contract: reconcile). No provider gives evidence that could be read without a
 * person, so the operation stays `outcome_unknown` either way.
 */
export async function reconcilable(sql: Sql, operation: OperationRow): Promise<'yes' | 'not_outcome_unknown' | 'busy'> {
  if (operation.status !== 'outcome_unknown') return 'not_outcome_unknown';
  return (await hasRunningOperation(sql, operation.connection_id)) ? 'busy' : 'yes';
}
