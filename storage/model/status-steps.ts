import { checkStep, type Steps } from '../process/steps.js';

/** One step as the parts of a statement: `where d.status ${step.from}` and `set status = ${step.to}`. */
export interface SqlStep {
  /** A comparison with the statuses that the step leaves. */
  readonly from: string;
  /** The status that it enters, as a literal. */
  readonly to: string;
}

/**
 * The allowed steps between the statuses of one kind of row. Every statement that changes a status takes the change from
 * such a table, when its module is loaded or when it runs; an illegal step throws an Error, because it is a bug.
 */
export class StatusSteps<Status extends string> {
  readonly #row: string;
  readonly #first: Status;
  readonly #steps: Steps<Status>;

  /** `row` names the kind of row in errors, `first` is the status it is stored with, `steps` has what may follow each status. */
  constructor(row: string, first: Status, steps: Steps<Status>) {
    this.#row = row;
    this.#first = first;
    this.#steps = steps;
  }

  /** Throws unless `from` may become `to`. `reason` stands in the error. */
  check(from: Status, to: Status, reason?: string): void {
    checkStep(reason === undefined ? this.#row : `${this.#row} (${reason})`, this.#steps, from, to);
  }

  /** The step from any of these statuses to `to`, checked, as SQL. */
  sql(from: Status | readonly Status[], to: Status): SqlStep {
    const left = typeof from === 'string' ? [from] : from;
    for (const status of left) this.check(status, to);
    const literals = left.map((status) => `'${status}'`);
    return { from: literals.length === 1 ? `= ${literals[0]}` : `in (${literals.join(', ')})`, to: `'${to}'` };
  }

  /** Every status of the table. */
  get statuses(): Status[] {
    return Object.keys(this.#steps) as Status[];
  }

  /** The statuses that may follow this one. */
  after(status: Status): readonly Status[] {
    return this.#steps[status];
  }

  /** The status of a new row. */
  get first(): Status {
    return this.#first;
  }

  /** The status of a new row, as an SQL literal. */
  get firstSql(): string {
    return `'${this.#first}'`;
  }

  /** True for the statuses that no step leaves. */
  isTerminal(status: Status): boolean {
    return this.#steps[status].length === 0;
  }
}
