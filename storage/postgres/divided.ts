import { causedByOne, hitTimeLimit, NotSent, outcomeUnknown } from './liveness.js';

/**
 * How much of one tenant's work one statement takes: less after a failure, down to one, and more again after a success. A step that fails at
 * the time limit costs all of it, so sizes fall to a quarter then, and stay: the sizes of 256 items are 256, 64, 16, 4, 1.
 */
export class Portion {
  #size: number;
  #most: number;

  constructor(most: number, size = most) {
    this.#size = size;
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** What it may grow to. */
  get most(): number {
    return this.#most;
  }

  /** So many failed together. False when that was one alone: its failure is its own. */
  failed(error: unknown, size = this.#size): boolean {
    if (size <= 1) return false;
    const slow = hitTimeLimit(error);
    this.#size = Math.max(1, Math.min(this.#size, Math.floor(size / (slow ? 4 : 2))));
    if (slow) this.#most = this.#size;
    return true;
  }

  succeeded(): void {
    this.#size = Math.min(this.#most, this.#size * 2);
  }
}

export interface DividedOptions<T> {
  tenant: (item: T) => string;
  /** How long after its failure an item of a batch may wait for its part, in milliseconds; then it rejects with that failure. */
  within_ms: number;
  /** Does the work for a part, and answers its items. A throw fails the part. */
  flush: (items: T[]) => Promise<void>;
  /** The item failed: with its own error when it stood alone. */
  reject: (item: T, error: unknown) => void;
  /** These joined a tenant whose part is over by now: they go into the next batch, in this order. */
  release: (items: T[]) => void;
}

/** What is left of one tenant's share of the batches that failed, and what joined it since. */
interface Share<T> {
  /** Those that failed, in their order; behind them those that joined. */
  items: T[];
  failed: number;
  portion: Portion;
  error: unknown;
  until_ms: number;
}

/**
 * Divides a batch whose statement failed by what one item can have caused, until what fails stands alone: by tenant first, the smallest share
 * first, then each share into portions. Shares take turns, a portion each, one at a time and beside the batches of others: nobody waits for
 * more than one statement of another tenant.
 *
 * Owns: the items from `divide` or `join` until they are answered, rejected or released. Invariants:
 * I1 the items of a tenant stay in their order: what comes while it has a share joins it, and no two statements of it are under way;
 * I2 an item is in one flush that succeeds at most; a flush that failed here surely had no effect, or ends the division;
 * I3 where the database is away, an answer was lost, or an error is nobody's own, the division ends: the part rejects with that error, and
 *    what was not flushed again rejects as surely not stored;
 * I4 an item that failed is answered, or rejects, by the first turn of its tenant that comes `within_ms` later.
 */
export class Divided<T> {
  readonly #options: DividedOptions<T>;
  /** By tenant, in the order of their turns. */
  readonly #shares = new Map<string, Share<T>>();
  #size = 0;
  #busy = false;

  constructor(options: DividedOptions<T>) {
    this.#options = options;
  }

  /** Items held now. */
  get size(): number {
    return this.#size;
  }

  /** Takes an item of a tenant that has a share (I1); false for any other. */
  join(item: T): boolean {
    if (this.#size === 0) return false;
    const share = this.#shares.get(this.#options.tenant(item));
    if (!share) return false;
    share.items.push(item);
    this.#size++;
    return true;
  }

  /** Takes a batch of several that failed with what one of them can have caused. */
  divide(batch: T[], error: unknown): void {
    const until_ms = performance.now() + this.#options.within_ms;
    const shares = [...Map.groupBy(batch, this.#options.tenant)].sort(([, a], [, b]) => a.length - b.length);
    for (const [tenant, items] of shares) {
      const known = this.#shares.get(tenant);
      const share = known ?? { items: [], failed: 0, portion: new Portion(batch.length), error, until_ms };
      share.portion.failed(error, batch.length);
      share.items.splice(share.failed, 0, ...items);
      share.failed += items.length;
      if (!known) this.#shares.set(tenant, share);
    }
    this.#size += batch.length;
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (const [tenant, share] of this.#shares) {
      this.#shares.delete(tenant);
      this.#shares.set(tenant, share); // its next turn comes behind those of the others
      if (share.failed > 0) await this.#flush(share);
      if (share.failed > 0) continue;
      this.#shares.delete(tenant);
      this.#options.release(this.#take(share, share.items.length));
    }
    this.#busy = false;
  }

  async #flush(share: Share<T>): Promise<void> {
    if (performance.now() > share.until_ms) return this.#reject(share, share.failed, share.error); // I4
    const part = share.items.slice(0, Math.min(share.portion.size, share.failed));
    try {
      await this.#options.flush(part);
      share.portion.succeeded();
      this.#take(share, part.length);
      share.failed -= part.length;
    } catch (error) {
      share.error = error;
      if (!causedByOne(error)) this.#end(share, part.length, error);
      else if (!share.portion.failed(error, part.length)) this.#reject(share, 1, error);
    }
  }

  /** I3 */
  #end(share: Share<T>, flushed: number, error: unknown): void {
    this.#reject(share, flushed, error);
    const rest = outcomeUnknown(error) ? new NotSent(error) : error;
    for (const other of this.#shares.values()) this.#reject(other, other.failed, rest);
  }

  #reject(share: Share<T>, count: number, error: unknown): void {
    share.failed -= count;
    for (const item of this.#take(share, count)) this.#options.reject(item, error);
  }

  #take(share: Share<T>, count: number): T[] {
    this.#size -= count;
    return share.items.splice(0, count);
  }
}
