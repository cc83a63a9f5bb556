import { LIMITS } from '../limits.js';
import type { StoredEvidence } from '../model/evidence.js';
import { firstIdAt } from '../model/id-time.js';
import type { Attempt, OperationStatus, Transition } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** What an operator reads of an operation (CLI-1): nothing that a client or the provider wrote, sealed or not. */
export interface OperationView {
  operation_id: string;
  workspace_id: string;
  connection_id: string;
  capability: string;
  status: OperationStatus;
  error_code: string | null;
  error_details: Record<string, unknown> | null;
  evidence: StoredEvidence | null;
  /** A look has found something or nothing where the write would show (OPS-22). */
  looked: boolean;
  challenge: { kind: string; expires_at: string; accepts_code: boolean; tries: number } | null;
  cancel_requested: boolean;
  attempts: Attempt[];
  timeline: Transition[];
  created_at: Date;
  updated_at: Date;
  request_id: string | null;
  traceparent: string | null;
  partition: number;
  /** Under which it was started last. */
  epoch: number | null;
  /** Who owns its partition now, and until when. */
  owner: { node_id: string; epoch: number; lease_until: string } | null;
}

/** Undefined when there is no such operation. */
export async function viewOperation(sql: Sql, id: string): Promise<OperationView | undefined> {
  const [row] = await sql.query<OperationView>(
    'viewOperation',
    `select o.id as operation_id, o.workspace_id, o.connection_id, o.capability, o.status, o.error_code, o.error_details, o.evidence,
       num_nonnulls(o.evidence_look, o.evidence_look_sealed, o.looked_at) > 0 as looked,
       case when o.challenge is not null then jsonb_build_object('kind', o.challenge -> 'kind', 'expires_at', o.challenge -> 'expires_at',
         'accepts_code', o.challenge -> 'accepts_code', 'tries', o.challenge -> 'tries') end as challenge,
       o.cancel_requested, o.attempts, o.timeline, o.created_at, o.updated_at, o.request_id, o.traceparent, o.partition, o.epoch,
       case when p.node_id is not null then
         jsonb_build_object('node_id', p.node_id, 'epoch', p.epoch, 'lease_until', p.lease_until) end as owner
     from operation o join partition p on p.id = o.partition where o.id = $1`,
    [id],
  );
  return row;
}

/** An operation that a request submitted. */
export type SubmittedView = Pick<
  OperationView,
  'operation_id' | 'workspace_id' | 'connection_id' | 'capability' | 'status' | 'error_code' | 'created_at'
>;

export interface SubmittedBy {
  /** Newest first, at most `LIMITS.found_operations`. */
  operations: SubmittedView[];
  /** How many were looked at. */
  examined: number;
  /** All of that time was looked through. */
  complete: boolean;
}

/** The part of a window of time that one statement looks through. */
interface Slice extends SubmittedView {
  examined: number;
  oldest: string | null;
}

/**
 * The operations that the request with this id submitted since `since`. No index names the request: all operations of that time, or
 * those of one workspace, are looked at in the order of their ids, which carry their time, in slices.
 * Indexes: operation_pkey, operation_by_workspace.
 */
export async function findSubmitted(
  sql: Sql,
  { requestId, since, workspaceId }: { requestId: string; since: Date; workspaceId: string | null },
): Promise<SubmittedBy> {
  const found: SubmittedBy = { operations: [], examined: 0, complete: true };
  const first = firstIdAt(since.getTime());
  const of = workspaceId === null ? '$5::uuid is null' : 'workspace_id = $5';
  for (let before: string | null = LAST_ID; before; ) {
    const rows: Slice[] = await sql.query<Slice>(
      workspaceId === null ? 'findSubmitted' : 'findSubmittedOfWorkspace',
      `with slice as materialized (
         select id as operation_id, workspace_id, connection_id, capability, status, error_code, created_at, request_id
         from operation where ${of} and id >= $2 and id < $3 order by id desc limit $4
       )
       select s.examined, s.oldest, m.* from (
         select count(*)::int as examined, (select operation_id from slice order by operation_id limit 1) as oldest from slice
       ) s left join (
         select operation_id, workspace_id, connection_id, capability, status, error_code, created_at from slice where request_id = $1
       ) m on true order by m.operation_id desc`,
      [requestId, first, before, LIMITS.examined_operations, workspaceId],
    );
    const { examined = 0, oldest = null } = rows[0] ?? {};
    found.examined += examined;
    for (const { examined: _, oldest: __, ...operation } of rows)
      if (operation.operation_id) found.operations.push(operation);
    before = examined < LIMITS.examined_operations ? null : oldest;
    if (found.operations.length < LIMITS.found_operations) continue;
    found.complete = before === null && found.operations.length === LIMITS.found_operations;
    found.operations.length = LIMITS.found_operations;
    break;
  }
  return found;
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
