import { LIMITS } from '../../limits.js';
import { firstIdAt } from '../../model/id-time.js';
import type { Sql } from '../../postgres/database.js';

/** What is older than that goes. The time of a UUIDv7 is in it, so that an index of ids has the age as well. */
export interface Age {
  time: Date;
  /** Ids below it were made before that time, also by a node whose clock is behind by up to `LIMITS.id_clock_ms`. */
  id: string;
  /** When the class was begun: `time` is its days before. */
  begun: Date;
}

export function ageOf(now_ms: number, days: number): Age {
  const time_ms = now_ms - days * 24 * 60 * 60_000;
  return { time: new Date(time_ms), id: firstIdAt(time_ms - LIMITS.id_clock_ms), begun: new Date(now_ms) };
}

/**
 * One slice of a class, from the place `after` on; null: from the beginning. It reads and deletes `rows` at most, by an index that has their
 * age: those of one delivery, connection or operation where that is one. `last` is where the next one goes on; null when this was the last one. `mark`: where the next round begins, of a class whose
 * rows stay in their table; absent: at the beginning.
 */
export type Erasure = (
  tx: Sql,
  after: string | null,
  age: Age,
  rows: number,
) => Promise<{ erased: number; last: string | null; mark?: string | null }>;

/** The place behind the one row that a slice of one would take from `after` on; null: there is none. It is left to a later round. */
export type PassOver = (tx: Sql, after: string | null, age: Age) => Promise<string | null>;

/** Before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Of a class whose place is the id of a row. */
export const passRowOf =
  (table: string): PassOver =>
  async (tx, after, { id }) => {
    const [row] = await tx.query<{ id: string }>(
      `passRow.${table}`,
      `select id from ${table} where id > $1 and id < $2 order by id limit 1`,
      [after ?? FIRST_ID, id],
    );
    return row?.id ?? null;
  };

/** So many of `most` as a slice of `rows` is of a whole one. */
export const shareOf = (most: number, rows: number) => Math.max(1, Math.ceil((most * rows) / LIMITS.retention_rows));
