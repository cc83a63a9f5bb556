import { LIMITS } from '../../limits.js';
import type { Database, Sql } from '../../postgres/database.js';
import { Portion } from '../../postgres/divided.js';
import { causedByOne, isUnreachable } from '../../postgres/liveness.js';
import { classesOf, ERASURES, PASS_OVER, type RetentionClass, type RetentionDays, wholeDays } from './classes.js';
import { type Age, ageOf } from './erasure.js';
import { lockTurn, type NextSlice, noteThrough, passTurn, type Round, setMark, type TurnRow } from './turn-row.js';

/** A slice that was run. */
export interface Turn {
  class: RetentionClass;
  erased: number;
  /** When the next one is due. */
  pause_ms: number;
  /** It was the last one of its round. */
  last: boolean;
  /** Why it was undone. */
  failure?: unknown;
}

/**
 * Runs the next slice of the installation, and notes where the one after it goes on and when, in one transaction: after a crash of a node or of the
 * database it is repeated, and finds nothing that is gone. A class erases what was too old when it was begun. Rounds go through the classes that have days.
 * A slice that fails is tried again with fewer rows, and what fails alone is passed over; it is looked at again in the next round.
 * Undefined when no slice is due, another node runs one, or nothing has days.
 */
export async function takeTurn(db: Database, days: RetentionDays): Promise<Turn | undefined> {
  const whole = wholeDays(days);
  const classes = classesOf(days);
  const began = performance.now();
  let slice: Slice | undefined;
  try {
    return await db.transaction(async (tx) => {
      const row = await lockTurn(tx);
      if (!row) return undefined;
      const current = classes.find((one) => one === row.class) ?? classes[0];
      const age_days = current ? whole[current] : null;
      if (current === undefined || age_days === null) return undefined;
      slice = sliceOf(row, current, age_days);
      const { round, after, portion, passed } = slice;
      const { erased, last, mark } = await ERASURES[current](tx, after, slice.age, portion.size);
      if (mark) await setMark(tx, current, mark);
      if (last === null && passed === 0) await noteThrough(tx, current);
      portion.succeeded();
      const next = last === null ? behind(classes, current) : goingOn({ ...slice, after: last });
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
    if (!slice || isUnreachable(failure)) throw failure;
    const pause_ms = Math.max(performance.now() - began, LIMITS.retention_early_ms);
    const next = await passFailed(db, classes, slice, pause_ms, failure).catch(() => Promise.reject(failure));
    return { class: slice.class, erased: 0, pause_ms, last: next.class === null, failure };
  }
}

/** A slice as it is begun. */
interface Slice {
  class: RetentionClass;
  after: string | null;
  begun_ms: number;
  age: Age;
  round: Round;
  portion: Portion;
  /** Places of its class that were passed over. */
  passed: number;
}

function sliceOf(row: TurnRow, current: RetentionClass, age_days: number): Slice {
  const goesOn = row.class === current && row.after !== null;
  const begun_ms = goesOn ? (row.begun_ms ?? row.now_ms) : row.now_ms;
  const after = (goesOn ? row.after : row.marks[current]) ?? null;
  const { most = LIMITS.retention_rows, size = most, passed = 0 } = (row.class === current && row.marks.narrow) || {};
  const portion = new Portion(most, size);
  return { class: current, after, begun_ms, age: ageOf(begun_ms, age_days), round: roundOf(row), portion, passed };
}

/** The same class from there on. */
function goingOn({ class: current, after, begun_ms, portion: { size, most }, passed }: Slice): NextSlice {
  const whole = most === LIMITS.retention_rows && size === most && passed === 0;
  return { class: current, after, begun_ms, narrow: whole ? null : { size, most, passed } };
}

/** Passes the turn on behind a slice that failed: to a smaller one, to what comes behind a single row, or to the next class. */
async function passFailed(
  db: Database,
  classes: RetentionClass[],
  slice: Slice,
  pause_ms: number,
  failure: unknown,
): Promise<NextSlice> {
  const { class: current, after, age, round, portion, passed } = slice;
  let next = behind(classes, current);
  if (causedByOne(failure) && portion.failed(failure)) next = goingOn(slice);
  else if (causedByOne(failure) && passed < LIMITS.retention_failures) {
    const place = await PASS_OVER[current](db, after, age).catch(() => null);
    if (place !== null) next = goingOn({ ...slice, after: place, passed: passed + 1 });
  }
  await passTurn(db, next, round, pause_ms);
  return next;
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

/** With the class behind this one. */
function behind(classes: RetentionClass[], current: RetentionClass): NextSlice {
  return { class: classes[classes.indexOf(current) + 1] ?? null, after: null, begun_ms: null, narrow: null };
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
