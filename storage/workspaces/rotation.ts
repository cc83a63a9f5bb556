import type { Transaction } from '../postgres/database.js';

/**
 * Has a key end after `overlap_ms` at the latest, for its successor to take over. Gives it as it was, whose expiry the successor has, and
 * when it ends now; undefined when it is unknown, revoked or expired. Its row is locked, so that of two rotations the second sees the first.
 */
export async function giveWay<Row extends object>(
  tx: Transaction,
  {
    table,
    columns,
    id,
    overlap_ms,
  }: { table: 'api_key' | 'operator'; columns: string; id: string; overlap_ms: number },
): Promise<{ old: Row; validUntil: Date } | undefined> {
  const [old] = await tx.query<Row>(
    `lockUsable_${table}`,
    `select ${columns} from ${table}
     where id = $1 and revoked_at is null and (expires_at is null or expires_at > now()) for update`,
    [id],
  );
  if (!old) return undefined;
  const [cut] = await tx.query<{ expires_at: Date }>(
    `cutShort_${table}`,
    `update ${table} set expires_at = least(expires_at, now() + $2 * interval '1 millisecond') where id = $1 returning expires_at`,
    [id, overlap_ms],
  );
  return { old, validUntil: cut!.expires_at };
}
