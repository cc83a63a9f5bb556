import { randomUUID } from 'node:crypto';

export type FaultMode =
  | 'error'
  | 'error_after_commit'
  | 'delay'
  | 'drop_after_commit'
  | 'drop_before_commit'
  | 'drop_and_commit_late'
  | 'drop_after_two_commits'
  | 'malformed'
  | 'endless_picture'
  | 'checkpoint'
  | 'sign_in_page'
  | 'endless_redirects'
  | 'logged_out'
  | 'hang';

/** A fault that the control API asked for. */
export interface Fault {
  id: string;
  mode: FaultMode;
  /** Username; null for all accounts. */
  account: string | null;
  /** Full name (`social.message.send`); null for every page and endpoint. */
  capability: string | null;
  /** Of `error` and `error_after_commit`. */
  status: number;
  /** The word and the `Retry-After` of `error`; null: the network's usual ones. */
  code: string | null;
  retry_after: string | null;
  /** Of `delay`. */
  ms: number;
  /** Requests it still hits; null without end. */
  times: number | null;
}

/** The faults in force, oldest first. A request is hit by the first that fits, and by that one only. */
export class Faults {
  #faults: Fault[] = [];
  /** The work of requests that were cut and is to be done when the control API says so. */
  #late: (() => void)[] = [];

  add(fault: Omit<Fault, 'id'>): Fault {
    const added = { id: randomUUID(), ...fault };
    this.#faults.push(added);
    return added;
  }

  list(): readonly Fault[] {
    return this.#faults;
  }

  /** Removes all; gives how many there were. */
  clear(): number {
    const cleared = this.#faults.length;
    this.#faults = [];
    return cleared;
  }

  commitLate(work: () => void): void {
    this.#late.push(work);
  }

  /** Does what is late; gives how much there was. */
  commitAll(): number {
    const late = this.#late;
    this.#late = [];
    for (const work of late) work();
    return late.length;
  }

  /** The fault this request is hit by. Counts it. */
  take(account: string | null, capabilities: readonly string[]): Fault | null {
    const fault = this.#faults.find(
      (candidate) =>
        (candidate.account === null || candidate.account === account) &&
        (candidate.capability === null || capabilities.includes(candidate.capability)),
    );
    if (fault === undefined) return null;
    if (fault.times !== null) {
      fault.times -= 1;
      if (fault.times <= 0) this.#faults = this.#faults.filter((other) => other !== fault);
    }
    return fault;
  }
}
