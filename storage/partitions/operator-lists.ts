import { LIMITS } from '../limits.js';
import type { DeliveryStatus, Health, OperationStatus, Provider } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/**
 * What the command line lists (CLI-8), newest first. A page looks at `LIMITS.operator_list_rows` rows at most, whatever it looks for: it
 * may have few rows, or none, and go on. No column that is sealed, and no input or result, is read.
 */
export interface ListedPage<Row> {
  rows: Row[];
  /** What the next page comes behind; null behind the last one. */
  next: string | null;
}

/** Null in a filter: any. */
export interface PageOptions {
  workspaceId: string | null;
  /** The row that the page comes behind; null for the first page. */
  after: string | null;
  limit: number;
}

export interface ListedOperation {
  operation_id: string;
  workspace_id: string;
  connection_id: string;
  capability: string;
  status: OperationStatus;
  error_code: string | null;
  attempts: number;
  cancel_requested: boolean;
  created_at: Date;
  updated_at: Date;
}

export interface ListedConnection {
  connection_id: string;
  workspace_id: string;
  provider: Provider;
  /** Its account's name, or the id of its simulated actor. */
  account: string | null;
  health: Health;
  region: string | null;
  state_revision: number;
  created_at: Date;
}

export interface ListedDelivery {
  delivery_id: string;
  workspace_id: string;
  subscription_id: string;
  event_id: string;
  status: DeliveryStatus;
  attempt_count: number;
  replay_count: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  last_error: string | null;
}

/** Indexes: operation_by_connection, operation_by_workspace, operation_pkey. */
export function listAllOperations(
  sql: Sql,
  { connectionId, status, ...options }: PageOptions & { connectionId: string | null; status: OperationStatus | null },
): Promise<ListedPage<ListedOperation>> {
  const scope = connectionId ? 'OfConnection' : options.workspaceId ? 'OfWorkspace' : '';
  return page(sql, `listAllOperations${scope}`, options, [connectionId, status], {
    rows: `operation r where ${connectionId ? 'r.connection_id = $5' : options.workspaceId ? 'r.workspace_id = $1' : 'true'}
      and ${BEHIND} order by r.id desc`,
    columns: `r.id as operation_id, r.workspace_id, r.connection_id, r.capability, r.status, r.error_code,
      jsonb_array_length(r.attempts) as attempts, r.cancel_requested, r.created_at, r.updated_at`,
    filter: `($1::uuid is null or workspace_id = $1) and ($5::uuid is null or connection_id = $5)
      and ($6::text is null or status = $6)`,
  });
}

/** Indexes: connection_by_workspace, connection_pkey. */
export function listAllConnections(
  sql: Sql,
  { health, ...options }: PageOptions & { health: Health | null },
): Promise<ListedPage<ListedConnection>> {
  const { workspaceId } = options;
  return page(sql, `listAllConnections${workspaceId ? 'OfWorkspace' : ''}`, options, [health], {
    rows: workspaceId
      ? `connection r where r.workspace_id = $1 and ($2::uuid is null
           or (r.created_at, r.id) < (select b.created_at, b.id from connection b where b.id = $2))
         order by r.created_at desc, r.id desc`
      : `connection r where $1::uuid is null and ${BEHIND} order by r.id desc`,
    columns: `r.id as connection_id, r.workspace_id, r.provider, coalesce(r.username, r.actor_id) as account, r.health, r.region,
      r.state_revision, r.created_at, r.deleted_at is not null as deleted`,
    filter: 'not deleted and ($5::text is null or health = $5)',
  });
}

/** Index: delivery_pkey. */
export function listAllDeliveries(
  sql: Sql,
  { status, ...options }: PageOptions & { status: DeliveryStatus | null },
): Promise<ListedPage<ListedDelivery>> {
  return page(sql, 'listAllDeliveries', options, [status], {
    rows: `delivery r where ${BEHIND} order by r.id desc`,
    columns: `r.id as delivery_id, r.workspace_id, coalesce(r.parent_id, r.subscription_id) as subscription_id, r.event_id, r.status, r.attempt_count, r.replay_count,
      r.next_attempt_at, r.delivered_at, r.last_error`,
    filter: '($1::uuid is null or workspace_id = $1) and ($5::text is null or status = $5)',
  });
}

const BEHIND = "r.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')";

interface PageSql {
  /** Table, scope and order. */
  rows: string;
  columns: string;
  filter: string;
}

/** What a row has beside what is shown of it. */
interface Place {
  place: string | null;
  row_number: number;
  deleted?: boolean;
  /** Of the page. */
  looked: number;
  looked_to: string | null;
}

/** Parameters of every statement: $1 the workspace, $2 what it comes behind, $3 one row more than the page, $4 how many are looked at. */
async function page<Row extends object>(
  sql: Sql,
  name: string,
  { workspaceId, after, limit }: PageOptions,
  others: unknown[],
  { rows, columns, filter }: PageSql,
): Promise<ListedPage<Row>> {
  const found = await sql.query<Row & Place>(
    name,
    `with looked as materialized (
       select ${columns}, r.id as place, row_number() over () as row_number from (select * from ${rows} limit $4) r
     ), found as (
       select * from looked where ${filter} order by row_number limit $3
     )
     select f.*, l.looked, l.looked_to
     from (select count(*) as looked, (select place from looked order by row_number desc limit 1) as looked_to from looked) l
       left join found f on true
     order by f.row_number`,
    [workspaceId, after, limit + 1, LIMITS.operator_list_rows, ...others],
  );
  const listed = found.filter(({ place }) => place !== null);
  const { looked = 0, looked_to = null } = found[0] ?? {};
  const onPage = listed.slice(0, limit);
  const more = listed.length > limit;
  const next = more ? onPage.at(-1)?.place : looked === LIMITS.operator_list_rows ? looked_to : null;
  const shown = onPage.map(({ place, row_number, deleted, looked, looked_to, ...row }) => row as unknown as Row);
  return { rows: shown, next: next ?? null };
}
