import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf } from '../cost/cpu.js';
import { LIMITS } from '../limits.js';
import { ended, signal } from '../processes.js';

/**
 * The process of a PostgreSQL server, from its start to its end. With `restart_ms`, one that ends although nobody ended it is
 * started again after that time.
 */
export class Postmaster {
  readonly #launch: () => ChildProcess;
  readonly #restart_ms: number | undefined;
  #child: ChildProcess | undefined;
  #wanted = false;
  #keeping: Promise<void> | undefined;

  constructor(launch: () => ChildProcess, restart_ms?: number) {
    this.#launch = launch;
    this.#restart_ms = restart_ms;
  }

  /** Of the process that runs now, or ran last; 0 before the first. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Whether neither a process runs nor another one will be started. */
  get isOver(): boolean {
    return this.#keeping === undefined;
  }

  /** Starts it, unless it runs. */
  start(): void {
    this.#wanted = true;
    this.#keeping ??= this.#keep().finally(() => {
      this.#keeping = undefined;
    });
    this.#keeping.catch(() => {}); // whoever waits for it sees that it is over
  }

  /** A fast shutdown, which disconnects clients. One that takes too long is killed. */
  async stop(): Promise<void> {
    this.#wanted = false;
    this.#child?.kill('SIGINT');
    const late = setTimeout(() => void this.kill(), LIMITS.postgres_stop_ms);
    await this.#keeping;
    clearTimeout(late);
  }

  /** SIGKILL of the process and of every backend, as a machine that loses power would do. */
  async kill(): Promise<void> {
    this.#wanted = false;
    const { pid } = this;
    if (pid !== 0 && !this.isOver) {
      const backends = descendantsOf(pid);
      for (const one of [pid, ...backends]) signal(one, 'SIGKILL');
    }
    await this.#keeping;
  }

  /** Until it is not wanted, or has ended and is not started again. */
  async #keep(): Promise<void> {
    while (this.#wanted) {
      this.#child = this.#launch();
      await ended(this.#child);
      if (this.#restart_ms === undefined) return;
      if (this.#wanted) await delay(this.#restart_ms);
    }
  }
}
