import { LIMITS } from '../limits.js';
import type { Database, Sql } from '../postgres/database.js';
import { isUnreachable } from '../postgres/liveness.js';
import { classesOf, ERASURES, type RetentionClass, type RetentionDays, wholeDays } from './classes.js';
import { ageOf } from './erasure.js';

/** A slice that was run. */
export interface Turn {
  class: RetentionClass;
  erased: number;
  /** When the next one is due. */
  pause_ms: number;
  /** It was the last one of its round. */
  last: boolean;
  /** Why it was undone; then the class has to wait for the next round. */
  failure?: unknown;
}

/** The round that is under way. */
interface Round {
  /** When it was begun. */
  round_ms: number;
  /** For how long its rows have come: since the round before was begun. Null for the first one. */
  came_ms: number | null;
  /** How long its slices have taken. */
  worked_ms: number;
  /** What the last round took of the time in which its rows had come; null before there is one. */
  share: number | null;
}

/** The newest round is over when there is no class. */
interface TurnRow extends Omit<Round, 'round_ms'> {
  class: string | null;
  after: string | null;
  marks: Partial<Record<RetentionClass, string>>;
  now_ms: number;
  due_ms: number;
  /** When the class was begun; null before the first. */
  begun_ms: number | null;
  /** Null before the first round. */
  round_ms: number | null;
}

/**
 * Runs the next slice of the installation, and notes where the one after it goes on and when, in one transaction: after a crash of a node or of the
 * database it is repeated, and finds nothing that is gone. A class erases what was too old when it was begun. Rounds go through the classes that have days.
 * A class whose slice fails keeps the others from nothing: it is gone on with in the next round.
 * Undefined when no slice is due, another node runs one, or nothing has days.
 */
export async function takeTurn(db: Database, days: RetentionDays): Promise<Turn | undefined> {
  const whole = wholeDays(days);
  const classes = classesOf(days);
  let current: RetentionClass | undefined;
  let round: Round | undefined;
  try {
    return await db.transaction(async (tx) => {
      const began = performance.now();
      const row = await lockTurn(tx);
      if (!row) return undefined;
      current = classes.find((one) => one === row.class) ?? classes[0];
      const age_days = current ? whole[current] : null;
      if (current === undefined || age_days === null) return undefined;
      round = roundOf(row);
      const goesOn = row.class === current && row.after !== null;
      const begun_ms = goesOn ? (row.begun_ms ?? row.now_ms) : row.now_ms;
      const after = (goesOn ? row.after : row.marks[current]) ?? null;
      const { erased, last, mark } = await ERASURES[current](tx, after, ageOf(begun_ms, age_days));
      if (mark) await setMark(tx, current, mark);
      if (last === null) await noteThrough(tx, current);
      const next = last === null ? behind(classes, current) : { class: current, after: last, begun_ms };
      const took_ms = performance.now() - began;
      const worked: Round = { ...round, worked_ms: round.worked_ms + took_ms };
      const through = next.class === null;
      const late_ms = Math.max(0, row.now_ms - row.due_ms);
      const pause_ms = Math.max(pauseBehind(took_ms, late_ms, worked), through ? restBehind(row.now_ms, worked) : 0);
      await passTurn(tx, next, worked, pause_ms);
      return { class: current, erased, pause_ms, last: through };
    });
  } catch (failure) {
    // Where the connection was lost the class keeps its turn: nothing is wrong with its slice.
    if (!current || !round || isUnreachable(failure)) throw failure;
    const next = behind(classes, current);
    const pause_ms = LIMITS.retention_poll_ms;
    await passTurn(db, next, round, pause_ms).catch(() => Promise.reject(failure));
    return { class: current, erased: 0, pause_ms, last: next.class === null, failure };
  }
}

/** The round of a slice: the one under way, or the one that the slice begins. */
function roundOf(row: TurnRow): Round {
  const { now_ms, round_ms, came_ms, worked_ms, share } = row;
  if (row.class !== null && round_ms !== null) return { round_ms, came_ms, worked_ms, share };
  return { round_ms: now_ms, came_ms: round_ms && Math.max(1, now_ms - round_ms), worked_ms: 0, share };
}

/**
 * What a round takes is spread over LIMITS.retention_round_ms: behind a slice comes a pause in the proportion of what the round leaves free, less what the slice was late.
 * A round is expected to take what the last one took, for as much longer or shorter as its own rows have come, or what it has taken already. With little to do it works a
 * tenth of the time and rests at the end; a backlog makes it work half of the time at most.
 */
function pauseBehind(took_ms: number, late_ms: number, { came_ms, worked_ms, share }: Round): number {
  const expected_ms = Math.max((share ?? 0) * (came_ms ?? 0), worked_ms);
  const times = Math.min(LIMITS.retention_most_pauses, Math.max(1, LIMITS.retention_round_ms / expected_ms - 1));
  return Math.max(took_ms, took_ms * times - late_ms);
}

/** What is left of the time of a round whose last slice this was. */
function restBehind(now_ms: number, { round_ms }: Round): number {
  return LIMITS.retention_round_ms - (now_ms - round_ms);
}

/** Where the next slice goes on; without a class a round is over. */
interface NextSlice {
  class: RetentionClass | null;
  after: string | null;
  begun_ms: number | null;
}

/** With the class behind this one. */
function behind(classes: RetentionClass[], current: RetentionClass): NextSlice {
  return { class: classes[classes.indexOf(current) + 1] ?? null, after: null, begun_ms: null };
}

/** Rows are looked up by index, one after the other, whatever the planner takes the sizes for: it expects much of a page, and would read whole tables to join them. */
async function lockTurn(tx: Sql): Promise<TurnRow | undefined> {
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
async function passTurn(sql: Sql, next: NextSlice, round: Round, pause_ms: number): Promise<void> {
  const { round_ms, came_ms, worked_ms } = round;
  const share = next.class === null ? came_ms && worked_ms / came_ms : round.share;
  await sql.query(
    'passRetentionTurn',
    `update retention_turn set class = $1, after = $2, begun_at = to_timestamp($3::float8 / 1000),
       due_at = clock_timestamp() + $4 * interval '1 millisecond',
       round_at = to_timestamp($5::float8 / 1000), came_ms = $6, worked_ms = $7, share = $8`,
    [next.class, next.after, next.begun_ms, pause_ms, round_ms, came_ms, worked_ms, share],
  );
}

async function setMark(tx: Sql, current: RetentionClass, mark: string): Promise<void> {
  await tx.query('markRetention', 'update retention_turn set marks = marks || jsonb_build_object($1::text, $2::text)', [
    current,
    mark,
  ]);
}

async function noteThrough(tx: Sql, current: RetentionClass): Promise<void> {
  await tx.query(
    'noteRetentionThrough',
    'update retention_turn set through = through || jsonb_build_object($1::text, extract(epoch from now()))',
    [current],
  );
}

/** How many seconds ago the installation was last through with a class, by any node; a class that never was is left out. */
export async function throughSince_s(sql: Sql): Promise<Partial<Record<RetentionClass, number>>> {
  const rows = await sql.query<{ class: RetentionClass; age_s: number }>(
    'retentionThrough',
    `select t.key as class, greatest(0, extract(epoch from now()) - t.value::float8)::float8 as age_s
     from retention_turn cross join jsonb_each_text(through) t`,
  );
  return Object.fromEntries(rows.map((row) => [row.class, row.age_s]));
}
