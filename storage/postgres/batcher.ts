/**
 * Collects the items of one turn of the event loop and flushes them together: submissions, starts, finishes and reads
 * all reach PostgreSQL this way.
 *
 * Owns: the items from `add` until their flush settles. Invariants:
 * I1 an item is in exactly one flush, but for `isolate`, which flushes those of a failed batch once more, each alone;
 * I2 items are flushed in the order in which they were added;
 * I3 a flush holds at most `maxItems`, of at most `maxWeight` together; at most `concurrency` flushes are under way;
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
   * Whether one item alone can have caused this error of a flush of several: then each is flushed alone, so that a single bad
   * one cannot fail the others. Must be false for a database that cannot be reached, where each would wait anew. Absent: never.
   */
  isolate?: (error: unknown) => boolean;
  /** Is told how many items a flush takes. */
  flushed?: (items: number) => void;
  /** Does the work; answers one `Out` per item, in order. A throw rejects every item of the batch. */
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

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options;
  }

  /** Items held now. */
  get size(): number {
    return this.#waiting.length + this.#inFlight;
  }

  /** Resolves with the answer of its flush. Rejects with what the flush threw, or with `Full` (I4). */
  add(item: In): Promise<Out> {
    if (this.#full()) return Promise.reject(new Full()); // I4
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject });
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

  async #flushEach(batch: Waiting<In, Out>[]): Promise<void> {
    for (const { item, resolve, reject } of batch) {
      try {
        const [out] = await this.#options.flush([item]);
        resolve(out as Out);
      } catch (error) {
        reject(error);
      }
    }
  }

  async #flush(batch: Waiting<In, Out>[]): Promise<void> {
    this.#flushing++;
    this.#inFlight += batch.length;
    this.#options.flushed?.(batch.length);
    try {
      const outs = await this.#options.flush(batch.map((w) => w.item));
      batch.forEach((w, i) => {
        w.resolve(outs[i] as Out);
      });
    } catch (error) {
      if (batch.length > 1 && this.#options.isolate?.(error)) await this.#flushEach(batch);
      else for (const w of batch) w.reject(error);
    } finally {
      this.#flushing--;
      this.#inFlight -= batch.length;
      if (this.#waiting.length > 0) this.#schedule();
      else if (this.size === 0) for (const wake of this.#idle.splice(0)) wake();
    }
  }
}
