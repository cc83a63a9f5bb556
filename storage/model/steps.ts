/** One step as the parts of a statement: `where d.status ${step.from}` and `set status = ${step.to}`. */
export interface SqlStep {
  /** A comparison with the statuses that the step leaves. */
  readonly from: string;
  /** The status that it enters, as a literal. */
  readonly to: string;
}

/**
 * The allowed steps between the statuses of one kind of row. Every statement that changes a status takes the change from
 * such a table, when the module is loaded or when the statement runs; an illegal step throws an Error, because it is a bug.
 */
export class Steps<Status extends string> {
  readonly #subject: string;
  readonly #first: Status;
  readonly #next: Readonly<Record<Status, readonly Status[]>>;

  /** `subject` names the row in errors, `first` is the status it is stored with, `next` what may follow each status. */
  constructor(subject: string, first: Status, next: Readonly<Record<Status, readonly Status[]>>) {
    this.#subject = subject;
    this.#first = first;
    this.#next = next;
  }

  /** Throws unless `from` may become `to`; `from` is null for a new row. `reason` stands in the error. */
  check(from: Status | null, to: Status, reason?: string): void {
    const legal = from === null ? to === this.#first : this.#next[from].includes(to);
    if (legal) return;
    throw new Error(
      `illegal ${this.#subject} transition ${from} -> ${to}${reason === undefined ? '' : ` (${reason})`}`,
    );
  }

  /** The step from any of these statuses to `to`, checked, as SQL. */
  sql(from: Status | readonly Status[], to: Status): SqlStep {
    const left = typeof from === 'string' ? [from] : from;
    for (const status of left) this.check(status, to);
    const literals = left.map((status) => `'${status}'`);
    return { from: literals.length === 1 ? `= ${literals[0]}` : `in (${literals.join(', ')})`, to: `'${to}'` };
  }

  /** The status of a new row, as an SQL literal. */
  get firstSql(): string {
    return `'${this.#first}'`;
  }

  /** True for the statuses that no step leaves. */
  isTerminal(status: Status): boolean {
    return this.#next[status].length === 0;
  }
}
