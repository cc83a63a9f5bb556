import type { ConnectionRow, Provider } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { isBehind, type ListPlace, placeOfRow } from '../postgres/list-place.js';

/** A connection with the fields of its regional proxies that an answer shows (contract: "Connection"). */
export interface ConnectionView extends ConnectionRow {
  /** Why it has its health, where that is known, and since when. */
  health_reason: string | null;
  health_since: Date;
  /** An active proxy exists for its region. */
  proxy_configured: boolean;
  pinned_region: string | null;
  pinned_active: boolean | null;
  /** The client's own id of it, and what else it calls it (CONN-19). */
  reference: string | null;
  labels: string[];
}

/** The fields of a connection that a submission is checked against. */
export interface ConnectionRef {
  id: string;
  workspace_id: string;
  provider: Provider;
  actor_id: string | null;
  reference: string | null;
}

/** Of `connection c` and the `regional_proxy p` that it is pinned to. */
export const VIEW = `c.id, c.workspace_id, c.partition, c.provider, c.username, c.actor_kind, c.actor_id, c.health, c.health_reason,
  c.health_since, c.state_revision,
  c.region, c.proxy_id, c.recruiter_health, c.recruiter_reason, c.recruiter_contract, c.recruiter_verified_at,
  c.recruiter_verified_revision, c.recruiter_operation_id, c.created_at, c.reference, c.labels,
  exists (select 1 from regional_proxy r where r.region = c.region and r.active) as proxy_configured,
  p.region as pinned_region, p.active as pinned_active`;

/** `connection c` is not deleted, told so that no index of what is not deleted is taken for it: without statistics it seems to be shorter than the key's. */
const KEPT = 'num_nulls(c.deleted_at) = 1';

/** Connections of the workspace in order of creation, `limit` of them behind `after`. Index: connection_live. */
export function listConnections(
  sql: Sql,
  workspaceId: string,
  after: ListPlace,
  limit: number,
): Promise<(ConnectionView & ListPlace)[]> {
  return sql.query<ConnectionView & ListPlace>(
    'listConnections',
    `select ${VIEW}, ${placeOfRow('c')} from connection c left join regional_proxy p on p.id = c.proxy_id
     where c.workspace_id = $1 and c.deleted_at is null and ${isBehind('c', '$2', '$3')}
     order by c.created_at, c.id limit $4`,
    [workspaceId, after.created_us, after.id, limit],
  );
}

/** These connections, whatever their workspace; the caller compares it. */
export function findConnections(sql: Sql, ids: string[]): Promise<ConnectionView[]> {
  return sql.query<ConnectionView>(
    'findConnections',
    `select ${VIEW} from connection c left join regional_proxy p on p.id = c.proxy_id
     where c.id = any($1::uuid[]) and ${KEPT}`,
    [ids],
  );
}

/** The same with the few columns that a submission needs. */
export function findConnectionRefs(sql: Sql, ids: string[]): Promise<ConnectionRef[]> {
  return sql.query<ConnectionRef>(
    'findConnectionRefs',
    `select id, workspace_id, provider, actor_id, reference from connection c where id = any($1::uuid[]) and ${KEPT}`,
    [ids],
  );
}

/** The social connection with this identity key (CONN-1), for callers that have the account's username. */
export async function findConnectionByIdentity(
  sql: Sql,
  workspaceId: string,
  identityKey: string,
): Promise<ConnectionRef | undefined> {
  const [row] = await sql.query<ConnectionRef>(
    'findConnectionByIdentity',
    `select id, workspace_id, provider, actor_id, reference from connection
     where workspace_id = $1 and provider = 'social' and identity_key = $2`,
    [workspaceId, identityKey],
  );
  return row;
}

/** What a client calls a connection (CONN-19). */
export interface ClientNames {
  reference: string | null;
  labels: readonly string[];
}

interface NewConnection {
  id: string;
  workspaceId: string;
  partition: number;
  names?: ClientNames;
}

const NO_NAMES: ClientNames = { reference: null, labels: [] };

export interface NewSocialConnection extends NewConnection {
  identityKey: string;
  username: string;
  passwordSealed: Buffer;
  region: string;
}

/** Stores a social connection, `needs_login`. Violates `connection_identity` when the account has one already (CONN-1). */
export async function insertSocialConnection(sql: Sql, connection: NewSocialConnection): Promise<void> {
  const { names = NO_NAMES } = connection;
  await sql.query(
    'insertSocialConnection',
    `insert into connection (id, workspace_id, partition, provider, identity_key, username, password_sealed, actor_kind,
       health, health_reason, region, reference, labels)
     values ($1, $2, $3, 'social', $4, $5, $6, 'person', 'needs_login', 'created', $7, $8, $9)`,
    [
      connection.id,
      connection.workspaceId,
      connection.partition,
      connection.identityKey,
      connection.username,
      connection.passwordSealed,
      connection.region,
      names.reference,
      names.labels,
    ],
  );
}

export interface NewSimulatedConnection extends NewConnection {
  actor: { kind: string; id: string };
}

/** Stores a simulated connection, `ready` at once (CONN-3). Violates `connection_identity` like the other. */
export async function insertSimulatedConnection(sql: Sql, connection: NewSimulatedConnection): Promise<void> {
  const { id, workspaceId, partition, actor, names = NO_NAMES } = connection;
  await sql.query(
    'insertSimulatedConnection',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health, health_reason, reference,
       labels)
     values ($1, $2, $3, 'simulated', $4 || ':' || $5, $4, $5, 'ready', 'created', $6, $7)`,
    [id, workspaceId, partition, actor.kind, actor.id, names.reference, names.labels],
  );
}
