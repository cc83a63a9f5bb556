import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../model/new-id.js';
import type { Sql } from '../postgres/database.js';

/** How many, by kind: of what was erased, or what could not be yet. */
export type ErasedCounts = Record<'connections' | 'operations' | 'events' | 'deliveries' | 'invitations', number>;

export const NOTHING: ErasedCounts = { connections: 0, operations: 0, events: 0, deliveries: 0, invitations: 0 };

/** What was asked for. */
export type ErasureRequest =
  | { kind: 'connection'; connectionId: string }
  | { kind: 'person'; person: string; workspaceId: string | null };

export interface Receipt {
  id: string;
  kind: ErasureRequest['kind'];
  connection_id: string | null;
  workspace_id: string | null;
  requested_at: Date;
  /** Null while it runs, and of one that was killed, or whose files could not be cleaned. */
  completed_at: Date | null;
  erased: Partial<ErasedCounts>;
  /** What names the person and had not ended, or is held by others: to be erased by another run. */
  remaining: Partial<ErasedCounts>;
  /** The files were written anew: no byte of what was erased is left in them. */
  rewritten: boolean;
}

const COLUMNS = 'id, kind, connection_id, workspace_id, requested_at, completed_at, erased, remaining, rewritten';

const hashOf = (salt: Buffer, person: string): Buffer => createHash('sha256').update(salt).update(person).digest();

/** Notes the request before anything is erased. Gives its id. */
export async function openReceipt(sql: Sql, request: ErasureRequest): Promise<string> {
  const id = newId();
  const salt = request.kind === 'person' ? randomBytes(32) : null;
  await sql.query(
    'openReceipt',
    'insert into erasure_receipt (id, kind, connection_id, salt, person_hash, workspace_id) values ($1, $2, $3, $4, $5, $6)',
    [
      ...[id, request.kind, request.kind === 'connection' ? request.connectionId : null, salt],
      request.kind === 'person' && salt ? hashOf(salt, request.person) : null,
      request.kind === 'person' ? request.workspaceId : null,
    ],
  );
  return id;
}

/** That of an erasure of this connection which was killed; undefined when there is none. */
export async function findOpenReceipt(sql: Sql, connectionId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    'findOpenReceipt',
    'select id from erasure_receipt where connection_id = $1 and completed_at is null order by id desc limit 1',
    [connectionId],
  );
  return row?.id;
}

/** What went and what stayed. The bytes may still be in the files. */
export async function noteErased(
  sql: Sql,
  id: string,
  { erased, remaining }: Pick<Receipt, 'erased' | 'remaining'>,
): Promise<void> {
  await sql.query('noteErased', 'update erasure_receipt set erased = $2, remaining = $3 where id = $1', [
    ...[id, JSON.stringify(erased), JSON.stringify(remaining)],
  ]);
}

/** Once the files are cleaned as well. */
export async function closeReceipt(sql: Sql, id: string, rewritten: boolean): Promise<void> {
  await sql.query('closeReceipt', 'update erasure_receipt set completed_at = now(), rewritten = $2 where id = $1', [
    ...[id, rewritten],
  ]);
}

/** The newest first, `limit` of them before `before`. Index: the primary key. */
export function listReceipts(sql: Sql, before: string | null, limit: number): Promise<Receipt[]> {
  return sql.query<Receipt>(
    'listReceipts',
    `select ${COLUMNS} from erasure_receipt where $1::uuid is null or id < $1 order by id desc limit $2`,
    [before, limit],
  );
}

/** Undefined when there is none. `matches`: whether it is about this person; null where that was not asked, or it is of a connection. */
export async function findReceipt(
  sql: Sql,
  id: string,
  person: string | null,
): Promise<(Receipt & { matches: boolean | null }) | undefined> {
  const [row] = await sql.query<Receipt & { salt: Buffer | null; person_hash: Buffer | null }>(
    'findReceipt',
    `select ${COLUMNS}, salt, person_hash from erasure_receipt where id = $1`,
    [id],
  );
  if (!row) return undefined;
  const { salt, person_hash, ...receipt } = row;
  const matches = person !== null && salt && person_hash ? timingSafeEqual(hashOf(salt, person), person_hash) : null;
  return { ...receipt, matches };
}
