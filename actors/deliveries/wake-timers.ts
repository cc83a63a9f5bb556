import { LIMITS } from './limits.js';

/**
 * When to fetch from each partition's queue again. Invariants:
 * I1 every moment that was announced is kept, not only the next one: otherwise the slow poll would find the later ones, a second late;
 * I2 a partition is woken once a tick (`wake_tick_ms`) at most, however many retries are due: moments are rounded up to ticks. What
 *    is kept is bounded by the longest wait in ticks;
 * I3 moments are kept on the monotonic clock: a node whose time is set anew wakes neither early nor late.
 */
export class WakeTimers {
  readonly #wake: (partition: number) => void;
  /** Of each partition, the ticks to come, in order. */
  readonly #ticks = new Map<number, number[]>();
  /** One timer a partition, for its first tick. */
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #closed = false;

  constructor(wake: (partition: number) => void) {
    this.#wake = wake;
  }

  /** Wakes the partition `due_in_ms` from now or less than a tick after it; for a moment that has passed, at once. */
  in(partition: number, due_in_ms: number): void {
    if (this.#closed) return;
    const now_ms = performance.now();
    const tick =
      due_in_ms <= 0 ? Math.floor(now_ms / LIMITS.wake_tick_ms) : Math.ceil((now_ms + due_in_ms) / LIMITS.wake_tick_ms);
    const ticks = this.#ticks.get(partition) ?? [];
    this.#ticks.set(partition, ticks);
    // Nearly always the last one, or known already.
    let place = ticks.length;
    while (place > 0 && (ticks[place - 1] as number) > tick) place--;
    if (ticks[place - 1] === tick) return; // I2
    ticks.splice(place, 0, tick); // I1
    if (place === 0) this.#set(partition, tick);
  }

  /** The partition is no longer this thread's. */
  forget(partition: number): void {
    clearTimeout(this.#timers.get(partition));
    this.#timers.delete(partition);
    this.#ticks.delete(partition);
  }

  /** Wakes nothing any more. */
  close(): void {
    this.#closed = true;
    for (const partition of [...this.#ticks.keys()]) this.forget(partition);
  }

  #set(partition: number, tick: number): void {
    clearTimeout(this.#timers.get(partition));
    const left_ms = Math.max(0, tick * LIMITS.wake_tick_ms - performance.now());
    this.#timers.set(
      partition,
      setTimeout(() => this.#expire(partition), left_ms),
    );
  }

  #expire(partition: number): void {
    const ticks = this.#ticks.get(partition) ?? [];
    // A timer may fire a little early, and several ticks may have passed while the thread was busy.
    const now = performance.now() / LIMITS.wake_tick_ms;
    const due = ticks.findIndex((tick) => tick > now);
    const passed = ticks.splice(0, due === -1 ? ticks.length : due);
    if (ticks[0] === undefined) this.forget(partition);
    else this.#set(partition, ticks[0]);
    if (passed.length > 0) this.#wake(partition);
  }
}
