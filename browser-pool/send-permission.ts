/**
 * Until when the one request of a write may begin to leave: as long as no other node can have settled its operation. On
 * two clocks, because the monotonic one stands still while a machine sleeps, and the wall clock can be set back.
 */
export interface SendPermission {
  /** Monotonic nanoseconds (`process.hrtime`, one clock for all threads of a process) until which the request may begin to leave. */
  until_ns: bigint;
  /** The same on the wall clock, ms since 1970. */
  until_ms: number;
}

/** Whether the permission still holds, on both clocks. */
export function permits({ until_ns, until_ms }: SendPermission): boolean {
  return process.hrtime.bigint() < until_ns && Date.now() < until_ms;
}
