import { LIMITS } from '../limits.js';
import type { AuditAction, AuditActorKind, AuditTargetKind } from '../model/audit.js';
import type { Sql } from '../postgres/database.js';
import { type ListPlace, placeIn } from '../postgres/list-place.js';
import { auditEras, type Era, FIRST_ERA } from './eras.js';

/** An entry of the audit log (HTTP-30). */
export interface AuditRow {
  id: string;
  at: Date;
  /** The transaction that wrote it. */
  xact: string;
  /** `at` in microseconds since 1970. */
  created_us: number;
  workspace_id: string | null;
  actor_kind: AuditActorKind;
  actor_id: string | null;
  actor_name: string | null;
  action: AuditAction;
  /** Null: all targets are operations. */
  target_kinds: AuditTargetKind[] | null;
  target_ids: string[];
  request_id: string | null;
  address: string | null;
  details: Record<string, unknown> | null;
  /** Of a reveal, how often its targets were shown within the hour; null of others. */
  reads: number | null;
}

/** What a reader wants to see; null: whatever it is. */
export interface AuditFilter {
  workspaceId: string | null;
  actorId: string | null;
  action: AuditAction | null;
  targetId: string | null;
  since: Date | null;
  until: Date | null;
}

export interface FoundEntries {
  entries: AuditRow[];
  /** Where to go on from; null when nothing older is left. */
  next: ListPlace | null;
}

/** Of an `audit.entry e`. */
export const ENTRY_COLUMNS = `e.id, e.at, e.xact::text as xact, (extract(epoch from e.at) * 1000000)::bigint as created_us, e.workspace_id, e.actor_kind,
  e.actor_id, e.actor_name, e.action, e.target_kinds, e.target_ids, e.request_id, e.address, e.details,
  case when e.action like '%.reveal%' then (select sum(r.reads)::bigint from audit_reveal r where r.entry_id = e.id) end as reads`;

/** Behind every entry. */
const NEWEST: ListPlace = { created_us: 253_402_300_799_000_000, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** The time in an id, whose first 48 bits are its milliseconds. PostgreSQL has a function for it from 17 on only. */
const timeIn = (id: string) =>
  `to_timestamp(('x' || left(replace(${id}::uuid::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;
const SUBMITTED_AT = timeIn('$7');
// A submission is stored soon after its id was made: it is looked for there, without an index of its targets.
const SUBMITTED = `e.action = 'operation.submit' and e.target_ids @> array[$7::uuid]
  and e.at between ${SUBMITTED_AT} - interval '${LIMITS.submission_lead_s} s' and ${SUBMITTED_AT} + interval '${LIMITS.submission_lag_s} s'`;
const TARGETED = `e.action <> 'operation.submit' and e.target_ids @> array[$7::uuid]`;

/**
 * Newest first, `limit` of them before `before`. Indexes: the primary key, entry_by_workspace, entry_by_actor, entry_by_target; what they do
 * not choose is looked at row by row, `audit_look_rows` of them at most, so that a page costs the same at any size of the log. One that
 * looks for something rare may be short, or empty, and go on.
 */
export async function listAudit(
  sql: Sql,
  filter: AuditFilter,
  before: ListPlace | null,
  limit: number,
): Promise<FoundEntries> {
  const { created_us, id } = before ?? NEWEST;
  const { workspaceId, actorId, action, targetId, since, until } = filter;
  const placed = [
    workspaceId === null ? '$3::uuid is null' : 'e.workspace_id = $3',
    actorId === null ? '$4::uuid is null' : 'e.actor_id = $4',
    '($5::timestamptz is null or e.at >= $5)',
    '($6::timestamptz is null or e.at < $6)',
    `(e.at, e.id) < (${placeIn('$1', '$2')})`,
  ].join(' and ');
  const name = ['listAudit', workspaceId && 'OfWorkspace', actorId && 'ByActor', targetId && 'Target']
    .filter(Boolean)
    .join('');
  const scoped = (targeted: string) =>
    `(select * from audit.entry e where ${placed} and ${targeted} order by e.at desc, e.id desc limit $8)`;
  const looked =
    targetId === null ? scoped('$7::uuid is null') : `(${scoped(TARGETED)} union all ${scoped(SUBMITTED)})`;
  const rows = await sql.query<AuditRow & { looked_at: number }>(
    name,
    `select ${ENTRY_COLUMNS} from ${looked} e where ($9::text is null or e.action = $9) order by e.at desc, e.id desc limit $10`,
    [created_us, id, workspaceId, actorId, since, until, targetId, LIMITS.audit_look_rows, action, limit + 1],
  );
  if (rows.length > limit) return { entries: rows.slice(0, limit), next: rows[limit - 1] ?? null };
  if (action === null || targetId !== null) return { entries: rows, next: null };
  const [last] = await sql.query<ListPlace>(
    `${name}To`,
    `select e.id, (extract(epoch from e.at) * 1000000)::bigint as created_us from ${looked} e where $9::text is not null
     order by e.at desc, e.id desc offset $8 - 1 limit $10`,
    [created_us, id, workspaceId, actorId, since, until, targetId, LIMITS.audit_look_rows, action, 1],
  );
  return { entries: rows, next: last ?? null };
}

/** Where a follower has come to: the transaction and the id of the last entry that it has. */
export interface AuditPosition {
  xact: string;
  id: string;
}

export const AUDIT_START: AuditPosition = { xact: '0', id: '00000000-0000-0000-0000-000000000000' };

/** Where what begins from now on will stand: behind every transaction that has ended. */
export async function auditEnd(sql: Sql): Promise<AuditPosition> {
  const [end] = await sql.query<{ xact: string }>(
    'auditEnd',
    'select pg_snapshot_xmin(pg_current_snapshot())::text as xact',
  );
  return { xact: end!.xact, id: AUDIT_START.id };
}

/**
 * The next entries behind a position, of one workspace or of all: era after era (`eras.ts`), each in the order of (xact, id). Of the last era only
 * those of transactions below the oldest one under way: nothing can appear before them any more, so none is lost or comes twice.
 */
export async function followAudit(
  sql: Sql,
  workspaceId: string | null,
  position: AuditPosition,
  limit: number,
): Promise<AuditRow[]> {
  const { eras, from } = await leftBehind(sql, position);
  for (const [i, era] of eras.entries()) {
    const rows = await followEra(sql, workspaceId, era, i === 0 ? from : AUDIT_START, limit);
    if (rows.length > 0) return rows;
  }
  return [];
}

/**
 * The eras behind a position, with that of its entry, and where to go on in the first of them. The log of a backup may lack that entry: then behind
 * the last one of its time. Indexes: entry_by_xact, the primary key.
 */
async function leftBehind(sql: Sql, position: AuditPosition): Promise<{ eras: Era[]; from: AuditPosition }> {
  const eras = await auditEras(sql);
  // The beginning, or the end of the log.
  if (position.id === AUDIT_START.id) {
    return { eras: position.xact === AUDIT_START.xact ? eras : eras.slice(-1), from: position };
  }
  const [last] = await sql.query<AuditPosition & { era: number }>(
    'placeInAudit',
    `select e.xact::text as xact, e.id, (select count(*) from audit_era where until < e.at)::integer as era from (
       (select xact, id, at from audit.entry where xact = $1::xid8 and id = $2)
       union all
       (select xact, id, at from audit.entry where at <= ${timeIn('$2')} order by at desc, id desc limit 1)) e limit 1`,
    [position.xact, position.id],
  );
  return last ? { eras: eras.slice(last.era), from: last } : { eras, from: AUDIT_START };
}

/** Indexes: entry_by_xact, entry_by_workspace_xact. */
function followEra(
  sql: Sql,
  workspaceId: string | null,
  { after, until, ended }: Era,
  { xact, id }: AuditPosition,
  limit: number,
): Promise<AuditRow[]> {
  const only = !ended && after === FIRST_ERA;
  const conditions = [
    workspaceId === null ? '$1::uuid is null' : 'e.workspace_id = $1',
    '(e.xact, e.id) > ($2::xid8, $3::uuid)',
    ended ? 'true' : 'e.xact < pg_snapshot_xmin(pg_current_snapshot())',
    // Not by the index of times: what it finds would have to be sorted.
    only
      ? 'num_nulls($5::timestamptz, $6::timestamptz) = 0'
      : `coalesce(e.at, 'infinity') > $5::timestamptz and coalesce(e.at, 'infinity') <= $6::timestamptz`,
  ];
  return sql.query<AuditRow>(
    `followAudit${workspaceId === null ? '' : 'OfWorkspace'}${only ? '' : ended ? 'Ended' : 'Behind'}`,
    `select ${ENTRY_COLUMNS} from audit.entry e where ${conditions.join(' and ')} order by e.xact, e.id limit $4`,
    [workspaceId, xact, id, limit, after, until],
  );
}
