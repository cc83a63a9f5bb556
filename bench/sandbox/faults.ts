import { randomUUID } from 'node:crypto';

export type FaultMode =
  | 'error'
  | 'delay'
  | 'drop_after_commit'
  | 'drop_before_commit'
  | 'malformed'
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
  /** Of `error`. */
  status: number;
  /** Of `delay`. */
  ms: number;
  /** Requests it still hits; null without end. */
  times: number | null;
}

/** The faults in force, oldest first. A request is hit by the first that fits, and by that one only. */
export class Faults {
  #faults: Fault[] = [];

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
