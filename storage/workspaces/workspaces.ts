import { newId } from '../model/new-id.js';
import type { Sql } from '../postgres/database.js';
import { isBehind, LIST_START, type ListPlace, placeOfRow } from '../postgres/list-place.js';
import { type OwnLimits, ownLimits } from './limits.js';

/** A workspace (contract: "Authentication"; CLI-1); its keys are in `keys.ts`. */
export interface WorkspaceRow {
  id: string;
  name: string;
  created_at: Date;
}

export async function createWorkspace(sql: Sql, name: string): Promise<WorkspaceRow> {
  const rows = await sql.query<WorkspaceRow>(
    'createWorkspace',
    'insert into workspace (id, name) values ($1, $2) returning id, name, created_at',
    [newId(), name],
  );
  return rows[0]!;
}

/** In order of creation, behind `after`: `limit` of them, without one all. Index: workspace_by_creation. */
export function listWorkspaces(
  sql: Sql,
  after: ListPlace = LIST_START,
  limit: number | null = null,
): Promise<(WorkspaceRow & ListPlace)[]> {
  return sql.query<WorkspaceRow & ListPlace>(
    'listWorkspaces',
    `select w.id, w.name, w.created_at, ${placeOfRow('w')} from workspace w where ${isBehind('w', '$1', '$2')}
     order by w.created_at, w.id limit $3`,
    [after.created_us, after.id, limit],
  );
}

/** Those with these ids, and their limits of their own. Index: the primary key. */
export function findWorkspaces(sql: Sql, ids: string[]): Promise<(WorkspaceRow & { limits: OwnLimits })[]> {
  return sql.query<WorkspaceRow & { limits: OwnLimits }>(
    'findWorkspaces',
    `select id, name, created_at, ${ownLimits('workspace.id')} as limits from workspace where id = any($1::uuid[])`,
    [ids],
  );
}
