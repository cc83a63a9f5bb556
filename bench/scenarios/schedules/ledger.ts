/** What an operation of a schedule is to do at its provider; what is of a version after has no provider here. */
export type Work = 'read' | 'write' | 'file' | 'future';

/** An operation as its client knows it, and what its provider did for it. */
export interface Entry {
  /** Its idempotency key, and what it is called in words. */
  name: string;
  connectionId: string;
  work: Work;
  /** When it was asked for first, and when its acceptance was answered; in moments of the ledger. */
  asked: number;
  accepted: number | undefined;
  operationId: string | undefined;
  /** When its provider began, each time. */
  begun: number[];
  /** Under which epochs of which nodes its provider wrote, each time. */
  written: string[];
  /** The database has lost that it had started: whoever looks at its row takes it for queued. */
  startLost: boolean;
  /** The database has lost that it passed its write boundary: only who let it pass knows. */
  boundaryLost: boolean;
  /** When its cancel was answered with its end. */
  canceled: number | undefined;
}

/** One run at a provider. */
export interface Run {
  entry: Entry;
  /** Of the node that it runs on, from its start to its death. */
  node: string;
  over: boolean;
}

/** What clients and providers saw of a schedule, and what was wrong the moment that it happened. */
export class Ledger {
  readonly entries = new Map<string, Entry>();
  readonly breaches: string[] = [];
  readonly #runs = new Set<Run>();
  #moment = 0;
  #asked = 0;

  ask(connectionId: string, work: Work): Entry {
    const name = `operation ${++this.#asked}`;
    const nothing = {
      accepted: undefined,
      operationId: undefined,
      begun: [],
      written: [],
      startLost: false,
      boundaryLost: false,
      canceled: undefined,
    };
    const entry = { name, connectionId, work, asked: ++this.#moment, ...nothing };
    this.entries.set(name, entry);
    return entry;
  }

  /** It was refused, and is not asked for again. */
  forget({ name }: Entry): void {
    this.entries.delete(name);
  }

  accept(entry: Entry, operationId: string): void {
    if (entry.operationId !== undefined && entry.operationId !== operationId)
      this.breach(`${entry.name} was accepted twice`);
    entry.operationId = operationId;
    entry.accepted ??= ++this.#moment;
  }

  cancel(entry: Entry): void {
    entry.canceled = ++this.#moment;
  }

  breach(what: string): void {
    if (!this.breaches.includes(what)) this.breaches.push(what);
  }

  /** A provider begins. `leased`: its node may rely on its lease. */
  begin(name: string, { node, leased }: { node: string; leased: boolean }): Run {
    const entry = this.entries.get(name);
    if (!entry) throw new Error(`nobody asked for ${name}`);
    entry.begun.push(++this.#moment);
    const run = { entry, node, over: false };
    if (!leased) this.breach(`${name} began on ${node} after its lease had run out`);
    for (const other of this.runsOf(entry.connectionId)) {
      if (other.node === node) this.breach(`${name} began on ${node} while ${other.entry.name} ran there`);
    }
    this.#runs.add(run);
    return run;
  }

  /** It is over, or may do nothing more. */
  end(run: Run): void {
    run.over = true;
    this.#runs.delete(run);
  }

  write({ entry, node }: Run, epoch: number): void {
    entry.written.push(`${node} ${epoch}`);
  }

  /** What runs now of a connection. */
  runsOf(connectionId: string): Run[] {
    return [...this.#runs].filter(({ entry }) => entry.connectionId === connectionId);
  }
}
