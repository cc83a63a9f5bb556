import type { Sql } from '../../../storage/postgres/database.js';
import { secondHalf, slopeOf } from '../../kit/level.js';
import { median } from '../../kit/spread.js';

/** What retention erases from. */
export const TABLES = ['operation', 'event', 'event_position', 'delivery', 'delivery_attempt'] as const;

export type Table = (typeof TABLES)[number];

export interface TableSize {
  rows: number;
  /** Rows that nobody sees any more and no vacuum has cleared, as the database estimates them. */
  dead: number;
  /** With indexes and what is out of line. */
  bytes: number;
}

/** What the tables held at a moment. */
export interface Sizes {
  /** Seconds since the first round began. */
  at: number;
  tables: Record<Table, TableSize>;
}

/** Counts row by row, which takes seconds at a million. */
export async function sizesOf(db: Sql): Promise<Sizes['tables']> {
  const sizes: [Table, TableSize][] = [];
  for (const table of TABLES) {
    const [size] = await db.query<TableSize>(
      `retentionSize ${table}`,
      `select (select count(*) from ${table}) as rows, pg_total_relation_size('${table}') as bytes,
         pg_stat_get_dead_tuples('${table}'::regclass) as dead`,
    );
    if (size) sizes.push([table, size]);
  }
  return Object.fromEntries(sizes) as Sizes['tables'];
}

/** Whether a table stayed level. */
export interface TableVerdict {
  table: Table;
  first: TableSize;
  last: TableSize;
  /** By which share its bytes grew over the second half of the time, by their slope: in the first, a table that was packed gets the free space it goes on with. */
  bytes_growth: number;
  /** Neither its rows over the whole time, nor its bytes over the second half, grew by more than it may. */
  level: boolean;
}

/** `samples` are in the order of time; `most` is the share that a table may grow by. */
export function tableVerdicts(samples: readonly Sizes[], most: number): TableVerdict[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) throw new Error('nothing was measured');
  return TABLES.map((table) => {
    const half = secondHalf(samples).map(({ at, tables }) => ({ at, value: tables[table].bytes }));
    const span = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0);
    const bytes_growth = (slopeOf(half) * span) / median(half.map(({ value }) => value));
    const [was, is] = [first.tables[table], last.tables[table]];
    const level = is.rows <= was.rows * (1 + most) && bytes_growth <= most;
    return { table, first: was, last: is, bytes_growth, level };
  });
}
