import { createHash } from 'node:crypto';
import { newId } from '../model/new-id.js';
import type { Sql, Transaction } from '../postgres/database.js';
import type { KeyRing } from '../secrets/encryption.js';
import { proxyCredentialsContext } from '../secrets/sealing.js';

/** Regional forward proxies: where the traffic of a connection leaves from (contract: "Connection"; CONN-2). */
export interface ProxyRow {
  id: string;
  /** Two upper-case letters. */
  region: string;
  /** `scheme://host:port`, never with credentials. */
  url: string;
  credentials_sealed: Buffer | null;
  active: boolean;
  created_at: Date;
  /** Since when nothing has got through it, and why; null: it works, as far as is known. */
  failing_since: Date | null;
  failure: string | null;
}

/** A proxy with its credentials open, as a browser takes it. */
export interface OpenProxy {
  id: string;
  server: string;
  username?: string;
  password?: string;
}

/** A proxy to add; its credentials are no part of the address. */
export interface NewProxy {
  region: string;
  url: string;
  username?: string | undefined;
  password?: string | undefined;
}

const COLUMNS = 'id, region, url, credentials_sealed, active, created_at, failing_since, failure';

/** @throws HttpError `encryption_key_unavailable` when it has credentials and no key can seal them */
export function addProxy(sql: Sql, ring: KeyRing, proxy: NewProxy): Promise<ProxyRow> {
  return storeProxy(sql, ring, newId(), proxy);
}

/** By region, oldest first: `limit` of them, without one all. There are few: the whole table is read. */
export function listProxies(sql: Sql, limit: number | null = null): Promise<ProxyRow[]> {
  return sql.query<ProxyRow>(
    'listProxies',
    `select ${COLUMNS} from regional_proxy order by region, created_at, id limit $1`,
    [limit],
  );
}

/** How many connections are pinned to each proxy that any is pinned to. Index: connection_by_proxy. */
export async function countPinned(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql.query<{ proxy_id: string; count: number }>(
    'countPinned',
    `select proxy_id, count(*) as count from connection where proxy_id is not null group by proxy_id`,
  );
  return new Map(rows.map(({ proxy_id, count }) => [proxy_id, count]));
}

/** Proxies that are offered and that no connection is pinned to, `limit` of them, the oldest first. Index: connection_by_proxy. */
export function listIdleProxies(sql: Sql, limit: number): Promise<ProxyRow[]> {
  return sql.query<ProxyRow>(
    'listIdleProxies',
    `select ${COLUMNS} from regional_proxy p
     where active and not exists (select from connection c where c.proxy_id = p.id) order by created_at, id limit $1`,
    [limit],
  );
}

/** Proxies that are offered and fail, `limit` of them, those that have failed for the longest first. There are few: the whole table is read. */
export function listFailingProxies(sql: Sql, limit: number): Promise<ProxyRow[]> {
  return sql.query<ProxyRow>(
    'listFailingProxies',
    `select ${COLUMNS} from regional_proxy where active and failing_since is not null order by failing_since, id limit $1`,
    [limit],
  );
}

/** Notes what became of a run through a proxy: `failure` is why nothing got through it, null that something did. Writes what changed only. */
export async function noteProxy(sql: Sql, proxyId: string, failure: string | null): Promise<void> {
  await sql.query(
    'noteProxy',
    `update regional_proxy set failing_since = case when $2::text is not null then now() end, failure = $2
     where id = $1 and (failing_since is null) = ($2::text is not null)`,
    [proxyId, failure],
  );
}

/**
 * Removes a proxy, and gives the connections that were pinned to it; undefined when there is no such proxy. They lose their pin under
 * the next `state_revision` (CONN-10), keep their session, and are pinned to another proxy by their next login. Waits for a login
 * that is being stored with this pin.
 */
export async function removeProxy(tx: Transaction, proxyId: string): Promise<string[] | undefined> {
  const [proxy] = await tx.query('lockProxy', 'select id from regional_proxy where id = $1 for update', [proxyId]);
  if (!proxy) return undefined;
  const unpinned = await tx.query<{ id: string }>(
    'unpinConnections',
    `update connection c set proxy_id = null, state_revision = c.state_revision + 1, ${RECRUITER_MOVED}
     from (select id from connection where proxy_id = $1 order by id for no key update) pinned
     where c.id = pinned.id returning c.id`,
    [proxyId],
  );
  await tx.query('removeProxy', 'delete from regional_proxy where id = $1', [proxyId]);
  return unpinned.map(({ id }) => id);
}

/** What another revision of the same session leaves of its recruiter contract: nothing is verified under it (CONN-9). */
const RECRUITER_MOVED = `recruiter_health = 'not_verified', recruiter_reason = 'session_changed'`;

/**
 * The proxy of the region that a connection is to be pinned to; undefined when the region has none. Each connection
 * ranks the region's proxies by a hash of both ids, so they share the load evenly, every node picks the same one,
 * and adding or removing a proxy moves only the connections it gains or loses.
 */
export async function activeProxyFor(sql: Sql, region: string, connectionId: string): Promise<ProxyRow | undefined> {
  const [row] = await sql.query<ProxyRow>(
    'activeProxyFor',
    `select ${COLUMNS} from regional_proxy where region = $1 and active
     order by md5(id::text || $2::text), id limit 1`,
    [region.toUpperCase(), connectionId],
  );
  return row;
}

/** The proxy with this id, active or not: what a connection's pin points to. */
export async function findProxy(sql: Sql, proxyId: string): Promise<ProxyRow | undefined> {
  const [row] = await sql.query<ProxyRow>('findProxy', `select ${COLUMNS} from regional_proxy where id = $1`, [
    proxyId,
  ]);
  return row;
}

/** Opens a row's credentials. Throws when the key that sealed them is gone. */
export function openProxy(ring: KeyRing, row: ProxyRow): OpenProxy {
  const target: OpenProxy = { id: row.id, server: row.url };
  if (!row.credentials_sealed) return target;
  const text = ring.open(row.credentials_sealed, proxyCredentialsContext(row.id)).toString('utf8');
  return { ...target, ...(JSON.parse(text) as { username: string; password: string }) };
}

/**
 * Stores the stand-in network's proxies. Their ids follow from their place in the list, so that a restart,
 * which gives them new ports and passwords, keeps the connections pinned to them where they are.
 */
export async function upsertSandboxProxies(
  sql: Sql,
  ring: KeyRing,
  proxies: readonly NewProxy[],
): Promise<StoredProxy[]> {
  const seen = new Map<string, number>();
  const rows: StoredProxy[] = [];
  for (const proxy of proxies) {
    const number = seen.get(proxy.region) ?? 0;
    seen.set(proxy.region, number + 1);
    rows.push(await storeProxy(sql, ring, sandboxProxyId(proxy.region, number), proxy));
  }
  return rows;
}

/** More than a stand-in network has in one region. */
const SANDBOX_PROXIES = 16;

/** Whether the proxy is a stand-in network's, which leads to nothing but that. */
export function isSandboxProxy({ id, region }: Pick<ProxyRow, 'id' | 'region'>): boolean {
  return Array.from({ length: SANDBOX_PROXIES }, (_, number) => sandboxProxyId(region, number)).includes(id);
}

function sandboxProxyId(region: string, number: number): string {
  const hash = createHash('sha256').update(`sandbox/${region.toUpperCase()}/${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** `made`: there was none of this id. */
type StoredProxy = ProxyRow & { made: boolean };

async function storeProxy(sql: Sql, ring: KeyRing, id: string, proxy: NewProxy): Promise<StoredProxy> {
  const credentials =
    proxy.username === undefined
      ? null
      : ring.seal(
          JSON.stringify({ username: proxy.username, password: proxy.password ?? '' }),
          proxyCredentialsContext(id),
        );
  const rows = await sql.query<StoredProxy>(
    'storeProxy',
    `insert into regional_proxy (id, region, url, credentials_sealed) values ($1, $2, $3, $4)
     on conflict (id) do update
       set url = excluded.url, credentials_sealed = excluded.credentials_sealed, active = true, failing_since = null, failure = null
     returning ${COLUMNS}, xmax = 0 as made`,
    [id, proxy.region.toUpperCase(), proxy.url, credentials],
  );
  return rows[0]!;
}
