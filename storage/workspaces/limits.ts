import type { Sql } from '../postgres/database.js';

/** What of a workspace is limited; the rates over all nodes. */
export const RATES = ['requests_per_second', 'submissions_per_second'] as const;
export const WORKSPACE_LIMITS = [...RATES, 'connections', 'subscriptions', 'stored_mib'] as const;
export type Rate = (typeof RATES)[number];
export type WorkspaceLimit = (typeof WORKSPACE_LIMITS)[number];

/** What every workspace may have, unless it has a limit of its own; null: as much as it likes. */
export type WorkspaceLimits = Readonly<Record<WorkspaceLimit, number | null>>;
/** The limits of its own that a workspace has, null without any. */
export type OwnLimits = Readonly<Partial<Record<WorkspaceLimit, number>>> | null;

/** A workspace's limit by this name: its own, else the usual one; null when none applies. */
export function limitOf(name: WorkspaceLimit, own: OwnLimits, usual: WorkspaceLimits): number | null {
  return own?.[name] ?? usual[name];
}

/** The limits of its own of the workspace that `id` names, as a column; null without any. Index: the primary key. */
export const ownLimits = (id: string) =>
  `(select jsonb_object_agg(l.name, l.value) from workspace_limit l where l.workspace_id = ${id})`;

export interface OwnLimitRow {
  workspace_id: string;
  name: WorkspaceLimit;
  value: number;
}

/** Those of one workspace, or of all. */
export function listOwnLimits(sql: Sql, workspaceId: string | null): Promise<OwnLimitRow[]> {
  return sql.query<OwnLimitRow>(
    'listOwnLimits',
    `select workspace_id, name, value from workspace_limit where $1::uuid is null or workspace_id = $1
     order by workspace_id, name`,
    [workspaceId],
  );
}

/** False when there is no such workspace. */
export async function setOwnLimit(sql: Sql, { workspace_id, name, value }: OwnLimitRow): Promise<boolean> {
  const set = await sql.query(
    'setOwnLimit',
    `insert into workspace_limit (workspace_id, name, value) select id, $2, $3 from workspace where id = $1
     on conflict (workspace_id, name) do update set value = excluded.value returning name`,
    [workspace_id, name, value],
  );
  return set.length > 0;
}

/** From then on the usual one counts. False when it had none of its own. */
export async function clearOwnLimit(sql: Sql, { workspace_id, name }: Omit<OwnLimitRow, 'value'>): Promise<boolean> {
  const cleared = await sql.query(
    'clearOwnLimit',
    'delete from workspace_limit where workspace_id = $1 and name = $2 returning name',
    [workspace_id, name],
  );
  return cleared.length > 0;
}

/**
 * Whether one more connection fits. Exact until the transaction ends, which is to insert it: creations take turns by the lock on their
 * workspace, on all nodes, which holds up nothing else. The statements are apart, so that the second one sees what the first one waited for.
 * Index only, and as far as the bound: connection_live.
 */
export async function roomForConnection(tx: Sql, workspaceId: string, bound: number): Promise<boolean> {
  await tx.query('lockWorkspaceForConnection', 'select from workspace where id = $1 for no key update', [workspaceId]);
  const [used] = await tx.query<{ connections: number }>(
    'countConnections',
    `select count(*)::int as connections from (
       select from connection where workspace_id = $1 and deleted_at is null limit $2) c`,
    [workspaceId, bound],
  );
  return used !== undefined && used.connections < bound;
}

/**
 * What a workspace has of what is counted. Connections only where `limited`, null else: counting them reads about as many entries as the limit
 * allows, and without one all there are. Indexes: connection_live, and the primary key of the counts.
 */
export async function workspaceUse(
  sql: Sql,
  workspaceId: string,
  limited: boolean,
): Promise<{ connections: number | null; subscriptions: number }> {
  const [used] = await sql.query<{ connections: number | null; subscriptions: number }>(
    'workspaceUse',
    `select case when $2 then (select count(*)::int from connection where workspace_id = $1 and deleted_at is null) end as connections,
       coalesce((select subscriptions::int from subscription_count where workspace_id = $1), 0) as subscriptions`,
    [workspaceId, limited],
  );
  return used!;
}
