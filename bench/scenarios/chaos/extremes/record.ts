/** A folder's limits as they are called here: its module below the program's `dist`, and the name before the dot. */
export const MODULES = {
  actors: 'actors/limits.js',
  deliveries: 'actors/deliveries/limits.js',
  storage: 'storage/limits.js',
} as const;

export type Module = keyof typeof MODULES;

/** What one limit may be in a run with `--extremes`. Names are those of `LIMITS`. */
export interface LimitRecord {
  /** The least and the most that is drawn. */
  from: number;
  to: number;
  /** `scale`: each order of magnitude is as likely as the next; `even`: each value is. */
  draw: 'scale' | 'even';
  /** Drawn for every node; else every other node keeps the usual value. */
  always?: true;
  /** Why it goes no further; nothing where the bounds are those of its meaning: one item at least, the usual value at most. */
  why?: string;
}

export type LimitRecords = Readonly<Record<string, LimitRecord>>;

/** Limits that keep their usual value, with the reason. */
export type KeptLimits = Readonly<Record<string, string>>;

/** How many of something, from one on, up to its usual value. */
export const upTo = (to: number, from = 1): LimitRecord => ({ from, to, draw: 'scale' });

/** A time or a size within these bounds. */
export const within = (from: number, to: number, why?: string): LimitRecord => ({
  from,
  to,
  draw: 'scale',
  ...(why && { why }),
});

/** A few, each as likely. */
export const few = (from: number, to: number, why?: string): LimitRecord => ({
  from,
  to,
  draw: 'even',
  ...(why && { why }),
});

/** The same reason for all of these. */
export const kept = (why: string, ...names: string[]): KeptLimits =>
  Object.fromEntries(names.map((name) => [name, why]));

/** A reason of many limits of time. */
export const BUSY = 'a busy database answers later than less, and nothing is stored any more';
