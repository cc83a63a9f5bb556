import { HttpError } from '../model/errors.js';
import type { Transaction } from '../postgres/database.js';

/** Whose key gives way. */
export interface Rotation {
  table: 'api_key' | 'operator';
  columns: string;
  id: string;
  overlap_ms: number;
}

/**
 * Has a key end after `overlap_ms`, for its successor to take over. Gives it as it was, whose expiry the successor has, and when it ends now;
 * undefined when it is unknown, revoked or expired. Its row is locked, so that of two rotations the second sees the first.
 * @throws HttpError `key_ending` when it ends before the overlap, as one that was rotated before does: its successor would end with it
 */
export async function giveWay<Row extends object>(
  tx: Transaction,
  { table, columns, id, overlap_ms }: Rotation,
): Promise<{ old: Row; validUntil: Date } | undefined> {
  const [old] = await tx.query<Row & { ending: boolean }>(
    `lockUsable_${table}`,
    `select ${columns}, coalesce(expires_at < now() + $2 * interval '1 millisecond', false) as ending from ${table}
     where id = $1 and revoked_at is null and (expires_at is null or expires_at > now()) for update`,
    [id, overlap_ms],
  );
  if (!old) return undefined;
  if (old.ending) throw new HttpError('key_ending');
  const [cut] = await tx.query<{ expires_at: Date }>(
    `cutShort_${table}`,
    `update ${table} set expires_at = now() + $2 * interval '1 millisecond' where id = $1 returning expires_at`,
    [id, overlap_ms],
  );
  return { old, validUntil: cut!.expires_at };
}
