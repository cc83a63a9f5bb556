import { NIL } from 'uuid';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Database, Sql, Transaction } from '../postgres/database.js';
import { Background } from '../process/background.js';
import { type AuditRow, ENTRY_COLUMNS } from './entries.js';

/*
 * The audit log in parts by month (HTTP-30), which an operator can write into files and drop. The tables are partitions of `audit.entry`:
 *
 *     2027-01 │ 2027-02 │ 2027-03 │ …      and `rest`, for a month whose part is missing
 *
 * Parts are made by `audit.make_parts()`, at each start and by each node, two months before they
 * are needed; one that cannot be made refuses no entry.
 */

/** An archive of a part: the file with this hash had as many entries. */
export interface AuditArchive {
  sha256: string;
  entries: number;
  archived_at: Date;
}

export interface AuditPart {
  name: string;
  /** Its entries are from then on; null of `rest`. */
  since: Date | null;
  /** And before that. */
  until: Date | null;
  /** Whether it may still get entries. */
  open: boolean;
  /** About: as of the last ANALYZE; -1 before the first one. */
  entries: number;
  /** With indexes. */
  bytes: number;
  archives: AuditArchive[];
}

/** A part, and who may drop it. */
export interface OwnedPart extends AuditPart {
  /** The table, quoted. */
  relation: string;
  owner: string;
  /** Whether this role has the owner's rights. */
  owned: boolean;
}

/** All parts, oldest first, `rest` last; of a name, that one. */
export function auditParts(sql: Sql, name: string | null = null): Promise<OwnedPart[]> {
  return sql.query<OwnedPart>(
    'auditParts',
    `select p.name, p.relation::text as relation, p.since, p.until, p.open, c.reltuples::bigint as entries, pg_total_relation_size(c.oid) as bytes,
       pg_get_userbyid(c.relowner) as owner, pg_has_role(c.relowner, 'usage') as owned,
       coalesce((select jsonb_agg(jsonb_build_object('sha256', a.sha256, 'entries', a.entries, 'archived_at', a.archived_at) order by a.archived_at)
         from audit_archive a where a.part = p.name), '[]') as archives
     from audit.part p join pg_class c on c.oid = p.relation
     where $1::text is null or p.name = $1
     order by p.name = 'rest', p.since nulls first`,
    [name],
  );
}

/** Makes the parts of this month and the next two that are missing; gives their names. */
export async function makeAuditParts(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>('makeAuditParts', 'select name from audit.make_parts() name');
  return rows.map(({ name }) => name);
}

/** All entries of a part, oldest first, page by page. Index: the primary key of the part. */
export async function* entriesOfPart(sql: Sql, { name, relation }: OwnedPart): AsyncGenerator<AuditRow[]> {
  let place: { at: string; id: string } = { at: '-infinity', id: NIL };
  for (;;) {
    const rows = await sql.query<AuditRow & { place: string }>(
      `entriesOfPart ${name}`,
      `select ${ENTRY_COLUMNS}, e.at::text as place from ${relation} e where (e.at, e.id) > ($1::timestamptz, $2) order by e.at, e.id limit $3`,
      [place.at, place.id, LIMITS.audit_archive_rows],
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    place = { at: last.place, id: last.id };
  }
}

/** Notes that a part was written into a file. */
export async function noteArchive(
  tx: Transaction,
  part: string,
  { sha256, entries }: Omit<AuditArchive, 'archived_at'>,
): Promise<void> {
  await tx.query(
    'noteArchive',
    'insert into audit_archive (part, sha256, entries) values ($1, $2, $3) on conflict do nothing',
    [part, sha256, entries],
  );
}

/**
 * Drops a part.
 * @throws pg.DatabaseError `55006` while it may get entries, `55000` when it has not as many, `55P03` when the log was in use for a second
 */
export async function dropAuditPart(tx: Transaction, part: string, entries: number): Promise<void> {
  await tx.query('dropAuditPart', 'select audit.drop_part($1, $2)', [part, entries]);
}

/** Forgets how often something was shown whose entries are gone with their part; false when more is left. Index: audit_reveal_by_hour. */
async function forgetReveals(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ forgotten: number }>(
    'forgetReveals',
    `with gone as (
       delete from audit_reveal where ctid = any(array(
         select ctid from audit_reveal where hour < (select date_trunc('hour', min(at)) from audit.entry) limit $1)) returning 1)
     select count(*)::int as forgotten from gone`,
    [LIMITS.audit_forget_rows],
  );
  return row!.forgotten < LIMITS.audit_forget_rows;
}

/** Makes parts before they are needed, and forgets what belonged to those that were dropped. Every node does. */
export function auditUpkeep({ db, log }: { db: Database; log: Logger }): Background {
  return new Background(async () => {
    try {
      const made = await makeAuditParts(db);
      if (made.length > 0) log.info({ parts: made }, 'audit: parts were made');
      return (await forgetReveals(db)) ? LIMITS.audit_parts_ms : LIMITS.audit_forget_pause_ms;
    } catch (error) {
      log.warn({ err: error }, 'audit: parts are not looked after now, trying again');
      return LIMITS.audit_parts_retry_ms;
    }
  });
}
