import { LRUCache } from 'lru-cache';
import { settledOperations } from '../../storage/operations/operations.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Sql } from '../../storage/postgres/database.js';
import { atMost } from '../../storage/process/cache-size.js';
import { LIMITS } from '../limits.js';
import type { RemoteWait } from './bus.js';

/**
 * The operations of this node's partitions that are awaited at others. A wake-up is a hint: whoever waits reads the row, and reads it
 * anyway after a while.
 *
 * I1. A wait that is announced while its operation ends is woken: it is noted first, then the row is read, and one of the two shows the end.
 * I2. What is noted is bounded in number and in time. Who still waits announces it again, to the owner that there is by then.
 * I3. It costs nothing while nobody waits.
 */
export class RemoteWaits {
  readonly #nodes = new LRUCache<string, Set<string>>({ ...atMost(LIMITS.remote_waits), ttl: LIMITS.remote_wait_ms }); // I2
  readonly #looks: Batcher<string, boolean>;
  readonly #wake: (node: string, operationId: string) => void;

  constructor(db: Sql, wake: (node: string, operationId: string) => void) {
    this.#wake = wake;
    this.#looks = new Batcher({
      maxItems: LIMITS.remote_wait_looks,
      linger_ms: 0,
      concurrency: 1,
      bound: LIMITS.remote_waits,
      flush: async (ids) => {
        const settled = new Set(await settledOperations(db, ids));
        for (const id of settled) this.ended(id);
        return ids.map((id) => settled.has(id));
      },
    });
  }

  /** The operation is awaited there. Its end may have come before. */
  add({ operationId, node, settled }: RemoteWait): void {
    const nodes = this.#nodes.get(operationId) ?? new Set();
    this.#nodes.set(operationId, nodes.add(node));
    // I1. What is awaited of a settled one is no change of its status. A look that fails is made up for by the waiter's own.
    if (!settled) void this.#looks.add(operationId).catch(() => {});
  }

  /** The operation may have become awaitable: wakes those who wait for it. */
  ended(operationId: string): void {
    if (this.#nodes.size === 0) return; // I3
    const nodes = this.#nodes.get(operationId);
    this.#nodes.delete(operationId);
    for (const node of nodes ?? []) this.#wake(node, operationId);
  }
}
