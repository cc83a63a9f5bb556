import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import type { KeyUse, UsableKey } from './keys.js';
import { ownLimits } from './limits.js';
import { operatorKey } from './operators.js';

/*
 * Sessions of the console (HTTP-24): a browser proves with a random token, of which the hash is stored, that its user knew a key.
 *
 *     made by a sign-in ─▶ usable ─▶ ended: signed out, not used for `session_idle_ms`, `session_ms` old, or its key ended
 *
 * I1. A session is never worth more than its key: each look-up takes the key's row as well, as it is then.
 * I2. Ended ones cannot be used again. They are deleted once their time is over (../maintenance/expired-secrets.ts).
 */

/** What a session is made of. */
export interface NewSession {
  tokenHash: Buffer;
  key: UsableKey;
  address: string;
  userAgent: string;
}

/** A session that can be used, and what it opens. */
export interface ConsoleSession {
  /** SHA-256 of its token, in hex. */
  hash: string;
  key: UsableKey;
  created_at: Date;
  expires_at: Date;
}

const SESSIONS_LOCK = 7_301_850;

/** A sign-in. Past `key_sessions` of one key its oldest are deleted. Run it in a transaction. Index of both: console_session_by_holder. */
export async function createSession(
  sql: Sql,
  { tokenHash, key, address, userAgent }: NewSession,
): Promise<ConsoleSession> {
  // Sign-ins of one key take turns: each sees the sessions of those before it.
  await sql.query('lockSessionsOf', 'select pg_advisory_xact_lock($1, hashtext($2))', [SESSIONS_LOCK, key.id]);
  const [row] = await sql.query<{ created_at: Date; expires_at: Date }>(
    'createSession',
    `with ended as (
       delete from console_session where token_hash = any(array(
         select token_hash from console_session where coalesce(key_id, operator_id) = $8
         order by created_at desc offset $7)))
     insert into console_session (token_hash, key_id, operator_id, expires_at, address, user_agent)
     values ($1, $2, $3, least(now() + $6 * interval '1 millisecond', $9), $4, $5)
     returning created_at, expires_at`,
    [
      tokenHash,
      key.kind === 'key' ? key.id : null,
      key.kind === 'operator' ? key.id : null,
      address,
      userAgent.slice(0, LIMITS.user_agent_characters),
      LIMITS.session_ms,
      LIMITS.key_sessions - 1,
      key.id,
      key.expires_at,
    ],
  );
  return { hash: tokenHash.toString('hex'), key, ...row! };
}

interface SessionRow {
  hash: string;
  created_at: Date;
  expires_at: Date;
  kind: UsableKey['kind'];
  id: string;
  workspace_id: string;
  name: string | null;
  scopes: UsableKey['scopes'];
  networks: string[] | null;
  limits: UsableKey['limits'];
  key_expires_at: Date | null;
}

/**
 * The sessions with these token hashes that can be used now, with their keys as they are now (I1), under the hash in hex. Indexes: the
 * primary keys.
 */
export async function findSessions(sql: Sql, hashes: string[]): Promise<Map<string, ConsoleSession>> {
  const rows = await sql.query<SessionRow>(
    'findSessions',
    `select encode(session.token_hash, 'hex') as hash, session.created_at, session.expires_at,
       case when session.operator_id is null then 'key' else 'operator' end as kind,
       coalesce(api_key.id, operator.id) as id, api_key.workspace_id, coalesce(api_key.name, operator.name) as name,
       api_key.scopes, coalesce(api_key.networks, operator.networks) as networks, coalesce(api_key.expires_at, operator.expires_at) as key_expires_at,
       ${ownLimits('api_key.workspace_id')} as limits
     from console_session session
     left join api_key on api_key.id = session.key_id and api_key.revoked_at is null
       and (api_key.expires_at is null or api_key.expires_at > now())
     left join operator on operator.id = session.operator_id and operator.revoked_at is null
       and (operator.expires_at is null or operator.expires_at > now())
     where session.token_hash = any(array(select decode(h, 'hex') from unnest($1::text[]) h))
       and session.revoked_at is null and session.expires_at > now()
       and session.last_seen_at > now() - $2 * interval '1 millisecond'
       and (api_key.id is not null or operator.id is not null)`,
    [hashes, LIMITS.session_idle_ms],
  );
  return new Map(rows.map((row) => [row.hash, sessionOf(row)]));
}

function sessionOf({
  hash,
  created_at,
  expires_at,
  key_expires_at,
  kind,
  id,
  name,
  ...row
}: SessionRow): ConsoleSession {
  const key: UsableKey =
    kind === 'operator'
      ? operatorKey({ id, name: name ?? '', networks: row.networks, expires_at: key_expires_at })
      : { kind, id, name, ...row, expires_at: key_expires_at };
  return { hash, key, created_at, expires_at };
}

/** Ends a session for good. False where there is none that goes on. */
export async function endSession(sql: Sql, hash: string): Promise<boolean> {
  const ended = await sql.query(
    'endSession',
    `update console_session set revoked_at = now() where token_hash = decode($1, 'hex') and revoked_at is null returning 1`,
    [hash],
  );
  return ended.length > 0;
}

/**
 * Records that sessions, named by their hashes, were used, at most once in `key_touch_ms` each, whatever the number of nodes. In the order of
 * their hashes, as keys are.
 */
export async function touchSessions(sql: Sql, uses: readonly KeyUse[]): Promise<void> {
  await sql.query(
    'touchSessions',
    `with due as materialized (
       select token_hash from console_session where token_hash = any(select decode(h, 'hex') from unnest($1::text[]) h)
         and last_seen_at < now() - $2 * interval '1 millisecond' order by token_hash for no key update
     ) update console_session s set last_seen_at = now() from due where s.token_hash = due.token_hash`,
    [uses.map(({ id }) => id), LIMITS.key_touch_ms],
  );
}

/** Deletes at most `rows` whose time is over, and says how many; those that another node deletes are left to it. */
export async function deleteExpiredSessions(sql: Sql, rows: number): Promise<number> {
  const [deleted] = await sql.query<{ count: number }>(
    'deleteExpiredSessions',
    `with gone as (
       delete from console_session where token_hash = any(array(
         select token_hash from console_session where expires_at < now()
         order by expires_at limit $1 for update skip locked))
       returning 1)
     select count(*)::integer as count from gone`,
    [rows],
  );
  return deleted?.count ?? 0;
}
