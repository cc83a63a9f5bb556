import { PARTITIONS } from '../storage/model/records.js';

/** A moment on both clocks of this machine. */
export interface Instant {
  /** Monotonic, nanoseconds; the same clock in every thread of the process. It stands still while the machine sleeps. */
  ns: bigint;
  /** Wall clock, milliseconds since 1970. It goes on while the machine sleeps, and may be set. */
  ms: number;
}

/** Until when something external may begin to leave: the earlier of both clocks counts. */
export interface SendPermission {
  until_ns: bigint;
  until_ms: number;
}

/**
 * Until when this node may rely on its lease of each partition: cells shared by every thread, written by each renewal that brought
 * the partition back (its start + lease − margin) and read before anything external begins. Expiry itself is decided by the
 * database's clock only. A machine that slept has run out, although its monotonic clock stood still; a wall clock that is
 * set forward costs the time to the next renewal.
 */
export class LeaseCell {
  /** The memory of the cells, to be passed to other threads. */
  readonly shared: SharedArrayBuffer;
  /** Two cells a partition: nanoseconds of the monotonic clock, milliseconds of the wall clock. */
  readonly #cells: BigInt64Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(PARTITIONS * 2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#cells = new BigInt64Array(shared);
  }

  static now(): Instant {
    return { ns: process.hrtime.bigint(), ms: Date.now() };
  }

  /** True until the permission has run out. */
  static permits({ until_ns, until_ms }: SendPermission): boolean {
    const now = LeaseCell.now();
    return now.ns < until_ns && now.ms < until_ms;
  }

  /** The renewal that began at `startedAt` brought these partitions back: trust it for `trusted_ms` from there. */
  renewed(startedAt: Instant, trusted_ms: number, partitions: Iterable<number>): void {
    for (const partition of partitions) {
      Atomics.store(this.#cells, partition * 2, startedAt.ns + BigInt(trusted_ms) * 1_000_000n);
      Atomics.store(this.#cells, partition * 2 + 1, BigInt(startedAt.ms + trusted_ms));
    }
  }

  /** The permission that the lease of the partition gives now; undefined when it gives none. */
  permission(partition: number): SendPermission | undefined {
    const permission = {
      until_ns: Atomics.load(this.#cells, partition * 2),
      until_ms: Number(Atomics.load(this.#cells, partition * 2 + 1)),
    };
    return LeaseCell.permits(permission) ? permission : undefined;
  }

  valid(partition: number): boolean {
    return this.permission(partition) !== undefined;
  }
}
