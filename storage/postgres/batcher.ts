import { Divided } from './divided.js';
import { causedByOne } from './liveness.js';

/**
 * Collects the items of one turn of the event loop and flushes them together: submissions, starts, finishes and reads
 * all reach PostgreSQL this way.
 *
 * Owns: the items from `add` until their flush settles. Invariants:
 * I1 an item is in exactly one flush, but where a failed batch is divided: then in one that succeeds at most;
 * I2 items are flushed in the order in which they were added; where a batch is divided, those of each tenant are;
 * I3 a flush holds at most `maxItems`, of at most `maxWeight` together; at most `concurrency` flushes are under way, and one of a divided batch;
 * I4 `size` never exceeds `bound`, and nothing is added while the oldest item has waited for `wait_ms`: `add` refuses instead.
 */
export interface BatcherOptions<In, Out> {
  /** Items a flush at most. */
  maxItems: number;
  /** What an item weighs; absent: nothing. */
  weigh?: (item: In) => number;
  /** What the items of a flush weigh together at most; one that weighs more goes alone. Absent: no matter. */
  maxWeight?: number;
  /** How long an item may wait for others while no flush is under way, in milliseconds; 0 is one turn. */
  linger_ms: number;
  /** Flushes under way at most; while all are busy, items gather. */
  concurrency: number;
  /** Items held at most, waiting or in a flush. Past it `add` rejects with `Full`. */
  bound: number;
  /** How long an item may wait for its flush; while one has waited longer, `add` rejects with `Full`. Absent: for ever. */
  wait_ms?: number;
  /**
   * A failed flush of several is divided where one item can have caused its error, so that it fails none of the others (`Divided`): by whose
   * an item is, then by number; and how long an item waits for its part. Absent: a failed flush rejects all of its items.
   */
  divide?: { tenant: (item: In) => string; within_ms: number };
  /** Is told how many items a flush takes. */
  flushed?: (items: number) => void;
  /** Does the work; answers one `Out` per item, in order. A throw fails the batch. */
  flush: (items: In[]) => Promise<Out[]>;
}

/** The batcher holds `bound` items, or one for too long: the caller must refuse, or wait. */
export class Full extends Error {
  constructor() {
    super('full');
  }
}

interface Waiting<In, Out> {
  item: In;
  since: number;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

export class Batcher<In, Out> {
  readonly #options: BatcherOptions<In, Out>;
  readonly #waiting: Waiting<In, Out>[] = [];
  #flushing = 0;
  #inFlight = 0;
  #scheduled = false;
  readonly #idle: (() => void)[] = [];
  readonly #divided: Divided<Waiting<In, Out>> | undefined;

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options;
    const { divide } = options;
    this.#divided =
      divide &&
      new Divided({
        tenant: ({ item }) => divide.tenant(item),
        within_ms: divide.within_ms,
        flush: (part) => this.#answer(part),
        reject: ({ reject }, error) => reject(error),
        release: (joined) => {
          for (const one of joined) this.#waiting.push(one);
          this.#settled();
        },
      });
  }

  /** Items held now. */
  get size(): number {
    return this.#waiting.length + this.#inFlight + (this.#divided?.size ?? 0);
  }

  /** Resolves with the answer of its flush. Rejects with what the flush threw, or with `Full` (I4). */
  add(item: In): Promise<Out> {
    if (this.#full()) return Promise.reject(new Full()); // I4
    return new Promise((resolve, reject) => {
      const one = { item, since: performance.now(), resolve, reject };
      if (this.#divided?.join(one)) return;
      this.#waiting.push(one);
      this.#schedule();
    });
  }

  /** Resolves when nothing is held. */
  drained(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #full(): boolean {
    const { bound, wait_ms = Number.POSITIVE_INFINITY } = this.#options;
    const [oldest] = this.#waiting; // I2
    return this.size >= bound || (oldest !== undefined && performance.now() - oldest.since > wait_ms);
  }

  #schedule(): void {
    // I3
    if (this.#scheduled || this.#flushing >= this.#options.concurrency) return;
    this.#scheduled = true;
    const run = () => {
      this.#scheduled = false;
      this.#start();
    };
    if (this.#options.linger_ms > 0 && this.#waiting.length < this.#options.maxItems) {
      setTimeout(run, this.#options.linger_ms);
    } else setImmediate(run);
  }

  #start(): void {
    // I1, I2
    while (this.#waiting.length > 0 && this.#flushing < this.#options.concurrency) {
      void this.#flush(this.#waiting.splice(0, this.#fitting()));
    }
  }

  /** How many of those that wait the next flush takes: one at least (I3). */
  #fitting(): number {
    const { maxItems, weigh, maxWeight = Number.POSITIVE_INFINITY } = this.#options;
    const most = Math.min(maxItems, this.#waiting.length);
    if (!weigh) return most;
    let weight = 0;
    for (let n = 0; n < most; n++) {
      weight += weigh((this.#waiting[n] as Waiting<In, Out>).item);
      if (weight > maxWeight) return Math.max(1, n);
    }
    return most;
  }

  async #flush(batch: Waiting<In, Out>[]): Promise<void> {
    this.#flushing++;
    this.#inFlight += batch.length;
    try {
      await this.#answer(batch);
    } catch (error) {
      if (this.#divided && batch.length > 1 && causedByOne(error)) this.#divide(this.#divided, batch, error);
      else for (const w of batch) w.reject(error);
    } finally {
      this.#flushing--;
      this.#inFlight -= batch.length;
      this.#settled();
    }
  }

  /** With those that wait of the same tenants, so that they stay behind (I2). */
  #divide(divided: Divided<Waiting<In, Out>>, batch: Waiting<In, Out>[], error: unknown): void {
    divided.divide(batch, error);
    for (const one of this.#waiting.splice(0)) if (!divided.join(one)) this.#waiting.push(one);
  }

  async #answer(batch: Waiting<In, Out>[]): Promise<void> {
    this.#options.flushed?.(batch.length);
    const outs = await this.#options.flush(batch.map((w) => w.item));
    batch.forEach((w, i) => {
      w.resolve(outs[i] as Out);
    });
  }

  #settled(): void {
    if (this.#waiting.length > 0) this.#schedule();
    else if (this.size === 0) for (const wake of this.#idle.splice(0)) wake();
  }
}
