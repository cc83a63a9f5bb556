import { LIMITS } from '../limits.js';
import type { Database, Sql } from '../postgres/database.js';
import { isUnreachable } from '../postgres/liveness.js';
import { classesOf, ERASURES, type RetentionClass, type RetentionDays, wholeDays } from './classes.js';
import { ageOf } from './erasure.js';

/** A slice that was run. */
export interface Turn {
  class: RetentionClass;
  erased: number;
  /** Why it was undone; then the class has to wait for the next round. */
  failure?: unknown;
}

interface TurnRow {
  class: string | null;
  after: string | null;
  marks: Partial<Record<RetentionClass, string>>;
  now_ms: number;
  /** When the class was begun; null before the first. */
  begun_ms: number | null;
}

/**
 * Runs the next slice of the installation, and notes where the one after it goes on, in one transaction: after a crash of a node or of the
 * database it is repeated, and finds nothing that is gone. A class erases what was too old when it was begun. Rounds go through the classes that have days, and rest when all are through.
 * A class whose slice fails keeps the others from nothing: it is gone on with in the next round.
 * Undefined when a round rests, another node runs a slice, or nothing has days.
 */
export async function takeTurn(db: Database, days: RetentionDays): Promise<Turn | undefined> {
  const whole = wholeDays(days);
  const classes = classesOf(days);
  let current: RetentionClass | undefined;
  try {
    return await db.transaction(async (tx) => {
      const row = await lockTurn(tx);
      if (!row) return undefined;
      current = classes.find((one) => one === row.class) ?? classes[0];
      const age_days = current ? whole[current] : null;
      if (current === undefined || age_days === null) return undefined;
      const goesOn = row.class === current && row.after !== null;
      const begun_ms = goesOn ? (row.begun_ms ?? row.now_ms) : row.now_ms;
      const after = (goesOn ? row.after : row.marks[current]) ?? null;
      const { erased, last, mark } = await ERASURES[current](tx, after, ageOf(begun_ms, age_days));
      if (mark) await setMark(tx, current, mark);
      if (last !== null) await passTurn(tx, { next: current, after: last, begun_ms }, 0);
      else {
        await noteThrough(tx, current);
        await passOn(tx, classes, current);
      }
      return { class: current, erased };
    });
  } catch (failure) {
    // Where the connection was lost the class keeps its turn: nothing is wrong with its slice.
    if (current === undefined || isUnreachable(failure)) throw failure;
    await passOn(db, classes, current).catch(() => Promise.reject(failure));
    return { class: current, erased: 0, failure };
  }
}

/** To the class behind this one, or to the rest behind the last one. */
async function passOn(sql: Sql, classes: RetentionClass[], current: RetentionClass): Promise<void> {
  const next = classes[classes.indexOf(current) + 1] ?? null;
  await passTurn(sql, { next, after: null, begun_ms: null }, next === null ? LIMITS.retention_rest_ms : 0);
}

/** Rows are looked up by index, one after the other, whatever the planner takes the sizes for: it expects much of a page, and would read whole tables to join them. */
async function lockTurn(tx: Sql): Promise<TurnRow | undefined> {
  const [row] = await tx.query<TurnRow>(
    'lockRetentionTurn',
    `select class, after, marks, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
       (extract(epoch from begun_at) * 1000)::bigint as begun_ms,
       set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
     from retention_turn where due_at <= now() for update skip locked`,
  );
  return row;
}

/** Where the next slice goes on. */
interface NextSlice {
  next: RetentionClass | null;
  after: string | null;
  begun_ms: number | null;
}

async function passTurn(sql: Sql, { next, after, begun_ms }: NextSlice, rest_ms: number): Promise<void> {
  await sql.query(
    'passRetentionTurn',
    `update retention_turn set class = $1, after = $2, due_at = now() + $3 * interval '1 millisecond',
       begun_at = to_timestamp($4::float8 / 1000)`,
    [next, after, rest_ms, begun_ms],
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
