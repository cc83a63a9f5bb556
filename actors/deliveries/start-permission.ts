import { type LeaseCell, permits, type SendPermission } from '../lease.js';
import { LIMITS } from './limits.js';

/**
 * For how long the answer of a statement that starts deliveries, or looks at them, may be relied on. It is made before that statement is sent: what
 * the answer says may have changed since, by a deactivation, or by another owner of the partition when its lease ran out.
 */
export class StartPermission {
  readonly #asked_ms = performance.now();
  readonly #leases = new Map<number, SendPermission>();

  constructor(lease: Pick<LeaseCell, 'permission'>, partitions: Iterable<number>) {
    for (const partition of partitions) {
      const permission = lease.permission(partition);
      if (permission) this.#leases.set(partition, permission);
    }
  }

  /** True when the partition had a lease as this was made. */
  covers(partition: number): boolean {
    return this.#leases.has(partition);
  }

  /** False when the answer took too long, or a lease has run out. A later renewal counts for nothing: the partition may have been lost in between. */
  get isFresh(): boolean {
    if (performance.now() - this.#asked_ms > LIMITS.late_start_ms) return false;
    for (const permission of this.#leases.values()) if (!permits(permission)) return false;
    return true;
  }
}
