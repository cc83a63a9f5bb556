import { permits, type SendPermission } from '../browser-pool/send-permission.js';

export type { SendPermission };

/** One instant on both clocks: monotonic nanoseconds, and milliseconds since 1970. */
export interface Instant {
  ns: bigint;
  ms: number;
}

/**
 * Until when this node may rely on its leases: one cell shared by every thread, written by the renewal (start of the last
 * successful renewal + lease − margin) and read before anything external begins. Expiry itself is decided by the database's
 * clock only.
 *
 * I1. The bound holds on this machine's monotonic clock and on its wall clock. The first stands still while the machine
 *     sleeps, and the second can be set back; one that is set forward costs the time until the next renewal.
 */
export class LeaseCell {
  /** The memory of the cell, to be passed to other threads. */
  readonly shared: SharedArrayBuffer;
  /** The bound: monotonic nanoseconds, wall milliseconds. */
  readonly #cell: BigInt64Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.shared = shared;
    this.#cell = new BigInt64Array(shared);
  }

  /** Now, on clocks that every thread of the process shares. */
  static now(): Instant {
    return { ns: process.hrtime.bigint(), ms: Date.now() };
  }

  /** The renewal that began at `startedAt` succeeded: trust it for `trusted_ms` from there. */
  renewed(startedAt: Instant, trusted_ms: number): void {
    Atomics.store(this.#cell, 0, startedAt.ns + BigInt(trusted_ms) * 1_000_000n);
    Atomics.store(this.#cell, 1, BigInt(Math.floor(startedAt.ms) + trusted_ms));
  }

  get valid(): boolean {
    return this.permission() !== undefined;
  }

  /**
   * Until when a request may begin to leave, as the last renewal gave it; undefined when nothing may. A later renewal does
   * not extend what was given out: the partition it was given for may have been lost and taken again in between.
   */
  permission(): SendPermission | undefined {
    const until_ns = Atomics.load(this.#cell, 0);
    const until_ms = Number(Atomics.load(this.#cell, 1));
    const permission = { until_ns, until_ms };
    return this.permits(permission) ? permission : undefined;
  }

  /** Whether the permission still holds (I1). */
  permits(permission: SendPermission): boolean {
    return permits(permission);
  }
}
