import { newId } from '../model/new-id.js';
import type { Sql } from '../postgres/database.js';

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

/** Oldest first. */
export function listWorkspaces(sql: Sql): Promise<WorkspaceRow[]> {
  return sql.query<WorkspaceRow>(
    'listWorkspaces',
    'select id, name, created_at from workspace order by created_at, id',
  );
}

/** Those with these ids. Index: the primary key. */
export function findWorkspaces(sql: Sql, ids: string[]): Promise<WorkspaceRow[]> {
  return sql.query<WorkspaceRow>(
    'findWorkspaces',
    'select id, name, created_at from workspace where id = any($1::uuid[])',
    [ids],
  );
}
