import { WAKE_tick_ms } from './limits.js';

/**
 * When to look into each partition's queue again. Every moment that was announced is kept, not only the next one: deliveries
 * that failed together are due together, but the rest of them would be found by the slow poll, a second late. Moments are rounded up
 * to ticks of `WAKE_tick_ms`, so that however many retries are due, a partition is woken so often at most; what it keeps
 * is bounded by the longest wait in ticks.
 */
export class WakeTimers {
  /** Of each partition, the ticks to come, in order. */
  readonly #ticks = new Map<number, number[]>();
  /** One timer a partition, for its first tick. */
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #closed = false;

  constructor(private readonly wake: (partition: number) => void) {}

  /** Wakes the partition at `at` or less than a tick after it; for a moment that has passed, at once. */
  at(partition: number, at: Date): void {
    if (this.#closed) return;
    const now_ms = Date.now();
    const passed = at.getTime() <= now_ms;
    const tick = passed ? Math.floor(now_ms / WAKE_tick_ms) : Math.ceil(at.getTime() / WAKE_tick_ms);
    const ticks = this.#ticks.get(partition) ?? [];
    this.#ticks.set(partition, ticks);
    // Nearly always the last one, or there already.
    let place = ticks.length;
    while (place > 0 && (ticks[place - 1] as number) > tick) place--;
    if (ticks[place - 1] === tick) return;
    ticks.splice(place, 0, tick);
    if (place === 0) this.#set(partition, tick);
  }

  /** The partition is not ours any more. */
  forget(partition: number): void {
    clearTimeout(this.#timers.get(partition));
    this.#timers.delete(partition);
    this.#ticks.delete(partition);
  }

  close(): void {
    this.#closed = true;
    for (const partition of [...this.#ticks.keys()]) this.forget(partition);
  }

  #set(partition: number, tick: number): void {
    clearTimeout(this.#timers.get(partition));
    const left_ms = Math.max(0, tick * WAKE_tick_ms - Date.now());
    this.#timers.set(
      partition,
      setTimeout(() => this.#ring(partition), left_ms),
    );
  }

  #ring(partition: number): void {
    const ticks = this.#ticks.get(partition) ?? [];
    // A timer may be a little early, and several ticks may have passed when the thread was busy.
    const now = Date.now() / WAKE_tick_ms;
    const due = ticks.findIndex((tick) => tick > now);
    const passed = ticks.splice(0, due === -1 ? ticks.length : due);
    if (ticks[0] === undefined) this.forget(partition);
    else this.#set(partition, ticks[0]);
    if (passed.length > 0) this.wake(partition);
  }
}
