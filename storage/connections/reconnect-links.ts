import { createHash, timingSafeEqual } from 'node:crypto';
import { HttpError } from '../model/errors.js';
import { ofKeptConnection } from '../model/kept-connection.js';
import { newId } from '../model/new-id.js';
import type { Provider } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/**
 * Links by which the owner of an account signs it in again, without whoever asked for it seeing a password or a code (CONN-15).
 *
 *     issued ──a page gives the first password──▶ used, by that page alone ──▶ expired
 *        └── another link of the connection is issued, or the connection is deleted ──▶ gone
 *
 * I1. A link proves itself by the installation's secret: a made-up one is refused without a query, and who reads the table has none.
 * I2. The page that uses a link first has made up a text of its own, and every later request brings it: a lost answer is asked for again,
 *     and who finds the link afterwards can do nothing with it.
 * I3. A password that was given is the link's alone, until a login has proved it (`changeConnection`): a wrong one changes nothing.
 */
export interface ReconnectLink {
  id: string;
  connection_id: string;
  workspace_id: string;
  workspace_name: string;
  provider: Provider;
  username: string | null;
  actor_id: string | null;
  expires_at: Date;
  page_hash: Buffer | null;
  tries: number;
  /** The login of its last try. */
  operation_id: string | null;
}

/**
 * Begins the idempotency keys of logins by links. They stand beside those of the workspace's clients, which have printable ASCII alone, so
 * that no client can take one before its link does.
 */
const KEY_START = 'reconnect-link§';

/** The idempotency key of the login that a try submits: it is submitted once, and found by it. */
export const loginKey = ({ id, tries }: Pick<ReconnectLink, 'id' | 'tries'>): string => `${KEY_START}${id}/${tries}`;

/** Whether the operation `o` is a login by the link `l`. */
export const LOGIN_OF_LINK = `starts_with(o.idempotency_key, '${KEY_START}' || l.id || '/')`;

// By its key where it could not be noted: whoever submitted it was killed, or the database was away. Index: operation_idempotency.
const LOGIN = `coalesce(l.operation_id, (select o.id from operation o
  where o.workspace_id = (select c.workspace_id from connection c where c.id = l.connection_id)
    and o.idempotency_key = '${KEY_START}' || l.id || '/' || l.tries))`;

/** A link that is told once. */
export interface IssuedLink {
  token: string;
  expiresAt: Date;
}

const ID_BYTES = 16;
const PROOF_BYTES = 32;

/** The text that proves the link with this id (I1). Throws 503 `encryption_key_unavailable` while the node lacks the installation's secret. */
function tokenOf({ vault }: Sql, id: string): string {
  const proof = vault.hash(`reconnect-link/${id}`);
  if (!proof) throw new HttpError('encryption_key_unavailable');
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), proof]).toString('base64url');
}

/** Issues the connection's link, in place of the one before. Undefined when the connection is gone. */
export async function issueReconnectLink(
  sql: Sql,
  connectionId: string,
  valid_s: number,
): Promise<IssuedLink | undefined> {
  const id = newId();
  const token = tokenOf(sql, id);
  const [row] = await sql.query<{ expires_at: Date }>(
    'issueReconnectLink',
    `insert into reconnect_link as l (connection_id, id, expires_at)
     select c.id, $2, now() + $3 * interval '1 second' from connection c where c.id = $1 and c.deleted_at is null for key share
     on conflict (connection_id) do update set id = excluded.id, created_at = now(), expires_at = excluded.expires_at, page_hash = null,
       tries = 0, operation_id = null, password_sealed = null
     returning expires_at`,
    [connectionId, id, valid_s],
  );
  return row && { token, expiresAt: row.expires_at };
}

/** The link that this text proves, with the account that it is for. Undefined when there is none, or it has expired or was replaced. */
export async function findReconnectLink(sql: Sql, token: string): Promise<ReconnectLink | undefined> {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== ID_BYTES + PROOF_BYTES) return undefined;
  const hex = bytes.toString('hex', 0, ID_BYTES);
  const id = hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  if (!timingSafeEqual(Buffer.from(tokenOf(sql, id), 'base64url'), bytes)) return undefined; // I1
  const [row] = await sql.query<ReconnectLink>(
    'findReconnectLink',
    `select l.id, l.connection_id, c.workspace_id, w.name as workspace_name, c.provider, c.username, c.actor_id, l.expires_at,
       l.page_hash, l.tries, ${LOGIN} as operation_id
     from reconnect_link l join connection c on c.id = l.connection_id join workspace w on w.id = c.workspace_id
     where l.id = $1 and l.expires_at > now() and ${ofKeptConnection('l.connection_id')}`,
    [id],
  );
  return row;
}

const pageHash = (page: string) => createHash('sha256').update(page).digest();

/** True when this page uses the link, or when nobody does yet (I2). */
export function mayUse({ page_hash }: Pick<ReconnectLink, 'page_hash'>, page: string): boolean {
  return page_hash === null || timingSafeEqual(page_hash, pageHash(page));
}

/**
 * Counts a try of this page, which uses the link from now on (I2). Gives the number of the try; undefined when the link has expired or was
 * replaced, another page uses it, it signed the account in already, or it was tried `most` times. `passwordSealed` is what its login signs in with (I3),
 * null where the account has none.
 */
export async function useReconnectLink(
  tx: Sql,
  id: string,
  { page, passwordSealed }: { page: string; passwordSealed: Buffer | null },
  most: number,
): Promise<number | undefined> {
  const [row] = await tx.query<{ tries: number }>(
    'useReconnectLink',
    `update reconnect_link l set page_hash = $2, tries = tries + 1, operation_id = null, password_sealed = $4
     where id = $1 and (page_hash is null or page_hash = $2) and expires_at > now() and tries < $3
       and not exists (select from operation o where o.id = ${LOGIN} and o.status = 'succeeded')
     returning tries`,
    [id, pageHash(page), most, passwordSealed],
  );
  return row?.tries;
}

/** The login that this try of the link has submitted. */
export async function noteReconnectLogin(sql: Sql, id: string, tries: number, operationId: string): Promise<void> {
  await sql.query('noteReconnectLogin', 'update reconnect_link set operation_id = $3 where id = $1 and tries = $2', [
    id,
    tries,
    operationId,
  ]);
}

/** Deletes the passwords of links that have expired; the rows stay, to be used for the next link. Gives how many were deleted. */
export async function forgetGivenPasswords(sql: Sql, most: number): Promise<number> {
  const rows = await sql.query(
    'forgetGivenPasswords',
    `update reconnect_link set password_sealed = null where connection_id in (
       select connection_id from reconnect_link where password_sealed is not null and expires_at < now()
       order by expires_at limit $1 for update skip locked) returning 1`,
    [most],
  );
  return rows.length;
}
