import { LIMITS } from '../limits.js';
import { firstIdAt } from '../model/id-time.js';
import type { Database, Sql } from '../postgres/database.js';

/*
 * What the operations of a workspace take: inputs, results and their files, as the database keeps them (HTTP-27). Only of workspaces that have
 * a limit of it. The sum is measured slice by slice, one slice at a time in the installation; what is accepted meanwhile and until the next
 * time is noted by the nodes and added, and so are parts of files. What else ends, and what is erased, is seen by the next measurement. Where one limit
 * holds for all, only those are measured that something was noted of, and those that take half of it: the others cannot be near it.
 *
 *     resting ─ due ─▶ measuring a workspace ─ slice ─▶ the same, further on ─ last slice ─▶ its sum is stored; the next workspace, or resting
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

interface TurnRow {
  workspace_id: string | null;
  until: string;
  after: string | null;
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
      `select workspace_id, until, after, found, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
         set_config('synchronous_commit', 'off', true)
       from stored_turn where due_at <= now() for update skip locked`,
    );
    if (!turn) return false;
    if (turn.workspace_id === null) return begin(tx, null, bound, turn.now_ms);
    const { looked, bytes, last } = await slice(tx, turn.workspace_id, turn.after, turn.until);
    const found = turn.found + bytes;
    if (looked < LIMITS.stored_slice_rows) {
      await storeMeasured(tx, turn.workspace_id, found);
      return begin(tx, turn.workspace_id, bound, turn.now_ms);
    }
    await tx.query('goOnStored', 'update stored_turn set after = $1, found = $2', [last, found]);
    return true;
  });
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
     update stored_turn set workspace_id = $1, until = $2, after = null, found = 0, due_at = now() + $3 * interval '1 millisecond'`,
    [id, firstIdAt(now_ms), id === null ? LIMITS.stored_rest_ms : 0],
  );
  return id !== null;
}

/** Sizes as they are stored, compressed or not: no large value is read. Index: operation_by_workspace. */
async function slice(tx: Sql, workspaceId: string, after: string | null, until: string) {
  const [row] = await tx.query<{ looked: number; bytes: number; last: string | null }>(
    'sliceOfStored',
    `with looked as materialized (
       select o.id, coalesce(pg_column_size(o.input), 0) + coalesce(pg_column_size(o.input_sealed), 0)
         + coalesce(pg_column_size(o.result), 0) + coalesce(pg_column_size(o.result_sealed), 0)
         + coalesce((select sum(pg_column_size(f.bytes)) from operation_file f where f.operation_id = o.id), 0) as bytes
       from operation o
       where o.workspace_id = $1 and o.id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid) and o.id < $3
       order by o.id limit $4
     )
     select count(*)::int as looked, coalesce(sum(bytes), 0)::bigint as bytes, (array_agg(id order by id desc))[1] as last from looked`,
    [workspaceId, after, until, LIMITS.stored_slice_rows],
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
