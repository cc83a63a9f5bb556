import type { NewAuditEntry } from '../model/audit.js';
import { newId } from '../model/new-id.js';
import type { Sql, Transaction } from '../postgres/database.js';
import { recordAudit } from './record.js';

/*
 * What was shown to whom: one entry of the audit log for each reader, object and hour, with how often (HTTP-30). A log that grew with each read
 * would grow at a reader's will.
 */

/** A reader, an object and an hour whose entry is there. */
export interface KnownReveal {
  reader: string;
  action: string;
  targetId: string;
  /** As the database has it. */
  hour: Date;
  entryId: string;
}

/** Who reads: the same key from another address is another reader. */
export const readerOf = ({ actor: { kind, id, address } }: NewAuditEntry): string => `${kind} ${id} ${address}`;

/**
 * Notes that these targets were shown, and adds an entry for those that this reader has not been shown within the hour; none where there are
 * none. Gives all of them, with how long the hour still lasts.
 */
export async function recordReveal(
  tx: Transaction,
  entry: NewAuditEntry,
): Promise<{ known: KnownReveal[]; left_ms: number }> {
  const entryId = newId();
  const rows = await tx.query<{ target_id: string; hour: Date; entry_id: string; left_ms: number }>(
    'noteReveals',
    `insert into audit_reveal as r (reader, action, target_id, hour, entry_id, reads)
     select $1, $2, t.id, date_trunc('hour', now()), $4, 1 from unnest($3::uuid[]) t(id) order by t.id
     on conflict (reader, target_id, action, hour) do update set reads = r.reads + 1
     returning target_id, hour, entry_id, (extract(epoch from hour + interval '1 hour' - now()) * 1000)::int as left_ms`,
    [readerOf(entry), entry.action, entry.targets.map(([, id]) => id), entryId],
  );
  const first = new Set(rows.filter(({ entry_id }) => entry_id === entryId).map(({ target_id }) => target_id));
  if (first.size > 0) {
    await recordAudit(tx, { ...entry, targets: entry.targets.filter(([, id]) => first.has(id)) }, entryId);
  }
  const known = rows.map(({ target_id, hour, entry_id }) => {
    return { reader: readerOf(entry), action: entry.action, targetId: target_id, hour, entryId: entry_id };
  });
  return { known, left_ms: rows[0]?.left_ms ?? 0 };
}

/** Adds reads to entries that are there. Rows are locked in the order of their keys. */
export async function countReveals(sql: Sql, counted: readonly (KnownReveal & { reads: number })[]): Promise<void> {
  await sql.query(
    'countReveals',
    `insert into audit_reveal as r (reader, action, target_id, hour, entry_id, reads)
     select * from unnest($1::text[], $2::text[], $3::uuid[], $4::timestamptz[], $5::uuid[], $6::bigint[]) i(reader, action, target_id, hour, entry_id, reads)
     order by i.reader, i.target_id, i.action, i.hour
     on conflict (reader, target_id, action, hour) do update set reads = r.reads + excluded.reads`,
    [
      counted.map(({ reader }) => reader),
      counted.map(({ action }) => action),
      counted.map(({ targetId }) => targetId),
      counted.map(({ hour }) => hour),
      counted.map(({ entryId }) => entryId),
      counted.map(({ reads }) => reads),
    ],
  );
}
