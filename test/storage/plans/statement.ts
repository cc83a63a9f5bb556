import type { Database } from '../../../storage/postgres/database.js';
import type { Pool } from './plan-session.js';

/** Something the service does often, and what its statements may read of tables that grow. */
export interface HotWork {
  /** Functions of storage, with what they are given where that matters. */
  name: string;
  pool: Pool;
  /** Rows that each of its statements may look at; absent: `ROWS`. */
  rows?: number;
  /** Pages that each may touch, those that it writes too; absent: `BLOCKS`. */
  blocks?: number;
  /** Why it may look at more than others. */
  why?: string;
  /** Why a plan that was made for small tables may be wrong for a while: until the first time that they are analysed. */
  notKept?: string;
  /** Why a plan for any parameters need not be right: the server does not choose it. */
  notGeneric?: string;
  /** What it may read instead where the large tables have no statistics. */
  withoutStatistics?: { rows: number; blocks: number; why: string };
  work(db: Database): Promise<unknown>;
}

/** For a batch of `BATCH` items: some rows of some tables each. */
export const ROWS = 400;
export const BLOCKS = 5_000;
/** More rows than these are never sorted. */
export const SORTED_ROWS = 5_000;
