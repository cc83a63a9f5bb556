import { LIMITS } from '../../limits.js';
import type { Sql } from '../../postgres/database.js';
import type { RetentionClass } from './classes.js';

/** The round that is under way. */
export interface Round {
  /** When it was begun. */
  round_ms: number;
  /** For how long its rows have come: since the round before was begun. Null for the first one. */
  came_ms: number | null;
  /** How long its slices have taken. */
  worked_ms: number;
  /** What the last round took of the time in which its rows had come; null before there is one. */
  share: number | null;
}

/** What a class takes since a slice of it failed, until it is through. */
export interface Narrow {
  /** Rows of the next slice, and of a slice at most. */
  size: number;
  most: number;
  /** Places that were passed over, because they failed alone. */
  passed: number;
}

/** The newest round is over when there is no class. */
export interface TurnRow extends Omit<Round, 'round_ms'> {
  class: string | null;
  after: string | null;
  marks: Partial<Record<RetentionClass, string>> & { narrow?: Narrow };
  now_ms: number;
  due_ms: number;
  /** When the class was begun; null before the first. */
  begun_ms: number | null;
  /** Null before the first round. */
  round_ms: number | null;
}

/** Where the next slice goes on; without a class a round is over. */
export interface NextSlice {
  class: RetentionClass | null;
  after: string | null;
  begun_ms: number | null;
  narrow: Narrow | null;
}

/** Rows are looked up by index, one after the other, whatever the planner takes the sizes for: it expects much of a page, and would read whole tables to join them. */
export async function lockTurn(tx: Sql): Promise<TurnRow | undefined> {
  const [row] = await tx.query<TurnRow>(
    'lockRetentionTurn',
    `select class, after, marks, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
       (extract(epoch from begun_at) * 1000)::bigint as begun_ms,
       (extract(epoch from due_at) * 1000)::bigint as due_ms, (extract(epoch from round_at) * 1000)::bigint as round_ms, came_ms, worked_ms, share,
       set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
     from retention_turn where due_at <= now() + $1 * interval '1 millisecond' for update skip locked`,
    [LIMITS.retention_early_ms],
  );
  return row;
}

/** Without a next class the round is over, and its share is noted. */
export async function passTurn(sql: Sql, next: NextSlice, round: Round, pause_ms: number): Promise<void> {
  const { round_ms, came_ms, worked_ms } = round;
  const narrow = next.narrow && JSON.stringify(next.narrow);
  const share = next.class === null ? came_ms && worked_ms / came_ms : round.share;
  await sql.query(
    'passRetentionTurn',
    `update retention_turn set class = $1, after = $2, begun_at = to_timestamp($3::float8 / 1000),
       due_at = clock_timestamp() + $4 * interval '1 millisecond',
       round_at = to_timestamp($5::float8 / 1000), came_ms = $6, worked_ms = $7, share = $8,
       marks = case when $9::jsonb is null then marks - 'narrow' else marks || jsonb_build_object('narrow', $9::jsonb) end`,
    [next.class, next.after, next.begun_ms, pause_ms, round_ms, came_ms, worked_ms, share, narrow],
  );
}

export async function setMark(tx: Sql, current: RetentionClass, mark: string): Promise<void> {
  await tx.query('markRetention', 'update retention_turn set marks = marks || jsonb_build_object($1::text, $2::text)', [
    current,
    mark,
  ]);
}

export async function noteThrough(tx: Sql, current: RetentionClass): Promise<void> {
  await tx.query(
    'noteRetentionThrough',
    'update retention_turn set through = through || jsonb_build_object($1::text, extract(epoch from now()))',
    [current],
  );
}
