/**
 * Until when this node may rely on its leases: one cell shared by every thread, written by the renewal (start of the last
 * successful renewal + lease − margin, on this machine's monotonic clock) and read before anything external begins. Expiry
 * itself is decided by the database's clock only.
 */
export class LeaseCell {
  /** The memory of the cell, to be passed to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #cell: BigInt64Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.#cell = new BigInt64Array(shared);
  }

  /** Monotonic now, in nanoseconds; the same clock in every thread of the process. */
  static now(): bigint {
    return process.hrtime.bigint();
  }

  /** The renewal that began at `startedAt` succeeded: trust it for `trusted_ms` from there. */
  renewed(startedAt: bigint, trusted_ms: number): void {
    Atomics.store(this.#cell, 0, startedAt + BigInt(trusted_ms) * 1_000_000n);
  }

  get valid(): boolean {
    return LeaseCell.now() < Atomics.load(this.#cell, 0);
  }
}
