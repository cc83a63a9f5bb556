import type { Sql } from '../postgres/database.js';

/**
 * The eras of the audit log (HTTP-30). Entries are followed in the order of their transactions, which each server counts for itself. A dump that
 * is loaded into another server ends an era:
 *
 *     the server that was dumped ── its newest entry: `until` ──▶ the server that it was loaded into, from its own first transaction on
 *
 * I1 an entry whose transaction this server has not begun is another server's. So an era is noted by whoever looks first: a start, or a
 *    follower, before this server has counted that far;
 * I2 in an era that has ended nothing is added: all of it may be read.
 */
export interface Era {
  /** Entries after this moment, up to that one, as text: a `Date` would cut off the microseconds. */
  after: string;
  until: string;
  ended: boolean;
}

/** Entries of one server that are looked at for the newest: those of the last transactions, which may have begun in another order. */
const LAST_ENTRIES = 1_000;

// Index: entry_by_xact, in which nothing is found until a dump has been loaded.
const LOOK = `
  select coalesce((select array_agg(e.until::text order by e.until) from audit_era e), '{}') as noted, (
    select max(l.at)::text from (
      select at from audit.entry where xact >= pg_snapshot_xmax(pg_current_snapshot()) order by xact desc limit ${LAST_ENTRIES}) l
    where l.at > coalesce((select max(until) from audit_era), '-infinity')) as restored`;

/** The eras, oldest first: the last one is this server's. Notes one that has ended (I1). */
export async function auditEras(sql: Sql): Promise<Era[]> {
  const [row] = await sql.query<{ noted: string[]; restored: string | null }>('lookForAuditEras', LOOK);
  const ends = row?.noted ?? [];
  if (row?.restored) {
    await sql.query('noteAuditEra', 'insert into audit_era (until) values ($1) on conflict do nothing', [row.restored]);
    ends.push(row.restored);
  }
  return [...ends, 'infinity'].map((until, i) => ({
    ...{ after: ends[i - 1] ?? '-infinity', until },
    ended: i < ends.length,
  }));
}
