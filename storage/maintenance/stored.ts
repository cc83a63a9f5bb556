import { NIL } from 'uuid';
import { LIMITS } from '../limits.js';
import { firstIdAt } from '../model/id-time.js';
import type { Database, Sql } from '../postgres/database.js';

/*
 * What a workspace takes: inputs, results and files of its operations, as the database keeps them, and its entries of the audit log (HTTP-27). Only of workspaces that have
 * a limit of it. The sum is measured slice by slice, one slice at a time in the installation; what is accepted meanwhile and until the next
 * time is noted by the nodes and added, and so are parts of files. The next measurement sees what else ends and what is erased. Where one limit
 * holds for all, only those are measured that something was noted of, and those that take half of it: the others cannot be near it.
 *
 *     resting ─ due ─▶ operations of a workspace ─ slice ─▶ … ─ last slice ─▶ its entries ─ slice ─▶ … ─ last slice ─▶ its sum is stored; the next
 *     workspace, or resting
 *
 * I1. A slice and the place where the next one goes on are one transaction: after a crash it is repeated.
 * I2. A measurement counts what was accepted before it began, and `noted` what was accepted since: what was under way just then may count in both.
 */

/** What these workspaces take now, as far as is known; those that were never measured are missing. */
export async function storedBytes(sql: Sql, workspaceIds: string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ workspace_id: string; bytes: number }>(
    'storedBytes',
    'select workspace_id, bytes from workspace_stored where workspace_id = any($1::uuid[])',
    [workspaceIds],
  );
  return new Map(rows.map(({ workspace_id, bytes }) => [workspace_id, bytes]));
}

/** Adds what was accepted; gives what these workspaces take then, with what the other nodes noted. Rows are locked in the order of their ids. */
export async function noteStored(sql: Sql, added: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const rows = await sql.query<{ workspace_id: string; bytes: number }>(
    'noteStored',
    `insert into workspace_stored as s (workspace_id, bytes, noted)
     select w.id, i.bytes, i.bytes from unnest($1::uuid[], $2::bigint[]) i(id, bytes) join workspace w on w.id = i.id order by w.id
     on conflict (workspace_id) do update set bytes = s.bytes + excluded.bytes, noted = s.noted + excluded.noted
     returning workspace_id, bytes`,
    [[...added.keys()], [...added.values()]],
  );
  return new Map(rows.map(({ workspace_id, bytes }) => [workspace_id, bytes]));
}

/** Of an `audit.entry e`: 80 of the row and its columns of a fixed size, and the others. */
const ENTRY_BYTES = `80 + pg_column_size(e.actor_kind) + pg_column_size(e.action) + coalesce(pg_column_size(e.actor_name), 0)
         + coalesce(pg_column_size(e.target_kinds), 0) + coalesce(pg_column_size(e.target_ids), 0) + coalesce(pg_column_size(e.address), 0)
         + coalesce(pg_column_size(e.details), 0)`;

interface TurnRow {
  workspace_id: string | null;
  until: string;
  after: string | null;
  /** Of the last entry that was counted, as text: a `Date` would cut off the microseconds. Null while operations are. */
  entries_at: string | null;
  entries_id: string | null;
  found: number;
  now_ms: number;
}

/**
 * Measures the next slice of the installation; `bound`: every workspace is limited to so many bytes that has no limit of its own, null where none
 * is. False when another node measures, or there is nothing to do now.
 */
export function measureStored(db: Database, bound: number | null): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [turn] = await tx.query<TurnRow>(
      'lockStoredTurn',
      `select workspace_id, until, after, entries_at::text as entries_at, entries_id, found, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
         set_config('synchronous_commit', 'off', true)
       from stored_turn where due_at <= now() for update skip locked`,
    );
    if (!turn) return false;
    const { workspace_id } = turn;
    if (workspace_id === null) return begin(tx, null, bound, turn.now_ms);
    const measuring = { ...turn, workspace_id };
    return turn.entries_at === null ? measureOperations(tx, measuring) : measureEntries(tx, measuring, bound);
  });
}

type Measuring = TurnRow & { workspace_id: string };

async function measureOperations(tx: Sql, { workspace_id, after, until, found }: Measuring): Promise<boolean> {
  const { looked, bytes, last } = await sliceOfOperations(tx, workspace_id, after, until);
  const over = looked < LIMITS.stored_slice_rows;
  await tx.query(
    'goOnStored',
    `update stored_turn set after = $1, found = $2, entries_at = case when $3 then '-infinity'::timestamptz end, entries_id = case when $3 then $4::uuid end`,
    [last, found + bytes, over, NIL],
  );
  return true;
}

async function measureEntries(tx: Sql, turn: Measuring, bound: number | null): Promise<boolean> {
  const { looked, bytes, last_at, last_id } = await sliceOfEntries(tx, turn);
  const found = turn.found + bytes;
  if (looked < LIMITS.stored_slice_rows) {
    await storeMeasured(tx, turn.workspace_id, found);
    return begin(tx, turn.workspace_id, bound, turn.now_ms);
  }
  await tx.query('goOnStoredEntries', 'update stored_turn set entries_at = $1, entries_id = $2, found = $3', [
    last_at,
    last_id,
    found,
  ]);
  return true;
}

/** Begins with the limited workspace behind this one; rests where there is none. Indexes: the primary keys. */
async function begin(tx: Sql, behind: string | null, bound: number | null, now_ms: number): Promise<boolean> {
  const [next] = await tx.query<{ id: string | null }>(
    'nextLimitedWorkspace',
    `select least(
       (select workspace_id from workspace_limit
        where name = 'stored_mib' and ($1::uuid is null or workspace_id > $1) order by workspace_id limit 1),
       (select workspace_id from workspace_stored
        where (noted > 0 or bytes >= $2) and $2 is not null and ($1::uuid is null or workspace_id > $1) order by workspace_id limit 1)) as id`,
    [behind, bound && Math.ceil(bound / 2)],
  );
  const id = next?.id ?? null;
  await tx.query(
    'beginStored',
    `with reset as (update workspace_stored set noted = 0 where workspace_id = $1)
     update stored_turn set workspace_id = $1, until = $2, after = null, entries_at = null, entries_id = null, found = 0, due_at = now() + $3 * interval '1 millisecond'`,
    [id, firstIdAt(now_ms), id === null ? LIMITS.stored_rest_ms : 0],
  );
  return id !== null;
}

/** Sizes as they are stored, compressed or not: no large value is read. Index: operation_by_workspace. */
async function sliceOfOperations(tx: Sql, workspaceId: string, after: string | null, until: string) {
  const [row] = await tx.query<{ looked: number; bytes: number; last: string | null }>(
    'sliceOfStored',
    `with looked as materialized (
       select o.id, coalesce(pg_column_size(o.input), 0) + coalesce(pg_column_size(o.input_sealed), 0)
         + coalesce(pg_column_size(o.result), 0) + coalesce(pg_column_size(o.result_sealed), 0)
         + coalesce((select sum(pg_column_size(f.bytes)) from operation_file f where f.operation_id = o.id), 0) as bytes
       from operation o
       where o.workspace_id = $1 and o.id > coalesce($2, '${NIL}'::uuid) and o.id < $3
       order by o.id limit $4
     )
     select count(*)::int as looked, coalesce(sum(bytes), 0)::bigint as bytes, (array_agg(id order by id desc))[1] as last from looked`,
    [workspaceId, after, until, LIMITS.stored_slice_rows],
  );
  return row!;
}

/** Index: entry_by_workspace. */
async function sliceOfEntries(tx: Sql, { workspace_id, entries_at, entries_id }: Measuring) {
  const [row] = await tx.query<{ looked: number; bytes: number; last_at: string | null; last_id: string | null }>(
    'sliceOfStoredEntries',
    `with looked as materialized (
       select e.at, e.id, ${ENTRY_BYTES} as bytes from audit.entry e
       where e.workspace_id = $1 and (e.at, e.id) > ($2::timestamptz, $3::uuid) order by e.at, e.id limit $4
     )
     select count(*)::int as looked, coalesce(sum(bytes), 0)::bigint as bytes, (array_agg(at::text order by at desc, id desc))[1] as last_at,
       (array_agg(id order by at desc, id desc))[1] as last_id from looked`,
    [workspace_id, entries_at, entries_id, LIMITS.stored_slice_rows],
  );
  return row!;
}

async function storeMeasured(tx: Sql, workspaceId: string, found: number): Promise<void> {
  await tx.query(
    'storeMeasured',
    `insert into workspace_stored as s (workspace_id, bytes, measured_at) select id, $2, now() from workspace where id = $1
     on conflict (workspace_id) do update set bytes = excluded.bytes + s.noted, measured_at = now()`,
    [workspaceId, found],
  );
}
