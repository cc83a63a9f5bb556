import { permits, type SendPermission } from '../browser-pool/send-permission.js';
import { PARTITIONS } from '../storage/model/records.js';

export { permits, type SendPermission };

/** One instant on both clocks: monotonic nanoseconds, and milliseconds since 1970. */
export interface Instant {
  ns: bigint;
  ms: number;
}

/**
 * Until when this node may rely on its lease of each partition: cells shared by every thread, written by each statement that gave or
 * renewed that lease (its start + lease − margin) and read before anything external begins. Expiry itself is decided by the
 * database's clock only.
 *
 * I1. A bound holds on this machine's monotonic clock and on its wall clock. The first stands still while the machine
 *     sleeps, and the second can be set back; one that is set forward costs the time until the next renewal.
 */
export class LeaseCell {
  /** The memory of the cells, to be passed to other threads. */
  readonly shared: SharedArrayBuffer;
  /** Two a partition: monotonic nanoseconds, wall milliseconds. */
  readonly #cells: BigInt64Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(PARTITIONS * 2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#cells = new BigInt64Array(shared);
  }

  /** Now, on clocks that every thread of the process shares. */
  static now(): Instant {
    return { ns: process.hrtime.bigint(), ms: Date.now() };
  }

  /** The statement that began at `startedAt` gave these leases: trust them for `trusted_ms` from there. */
  renewed(startedAt: Instant, trusted_ms: number, partitions: Iterable<number>): void {
    for (const partition of partitions) {
      Atomics.store(this.#cells, partition * 2, startedAt.ns + BigInt(trusted_ms) * 1_000_000n);
      Atomics.store(this.#cells, partition * 2 + 1, BigInt(Math.floor(startedAt.ms) + trusted_ms));
    }
  }

  valid(partition: number): boolean {
    return this.permission(partition) !== undefined;
  }

  /**
   * Until when a request may begin to leave, as the last renewal gave it; undefined when nothing may. A later renewal does
   * not extend what was given out: the partition may have been lost and taken again in between.
   */
  permission(partition: number): SendPermission | undefined {
    const until_ns = Atomics.load(this.#cells, partition * 2);
    const until_ms = Number(Atomics.load(this.#cells, partition * 2 + 1));
    const permission = { until_ns, until_ms };
    return permits(permission) ? permission : undefined; // I1
  }
}
