import type { Case } from './case.js';

/** A promise that a run broke. */
export interface Violation {
  /** The name of the invariant's function. */
  invariant: string;
  /** One line: which operation, connection, event or row, and why. */
  what: string;
}

/** Looks for breaches of one promise: one line each. */
export type Invariant = (run: Case) => Iterable<string>;
