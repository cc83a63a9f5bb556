import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Logger } from '../../storage/log.js';
import { LIMITS } from '../limits.js';

/**
 * Keeps a fixed number of long-lived piscina tasks alive, one a thread. piscina replaces a dead thread by itself, at once and
 * without end; the back-off and the restart intensity are ours.
 *
 *     starting ──▶ running ──throw, exit──▶ waiting (back-off) ──▶ starting
 *        └─ too many restarts within a minute ──▶ failed: the node reports unhealthy instead of looping
 *     running ──the task resolves──▶ ended (drain)
 */
export interface SupervisorOptions {
  name: string;
  /** Compiled module whose default export is the task. */
  filename: string;
  threads: number;
  log: Logger;
  /** Makes the argument of a thread's task; `port` is its line to the main thread. */
  task(index: number, port: MessagePort): { argument: object; transfer: MessagePort[] };
  /** A thread begins, for the first time or again; its line is `port`. */
  started(index: number, port: MessagePort): void;
  /** A thread is gone; it comes back by `started`. */
  died(index: number): void;
  /** The intensity was reached: nothing is restarted any more. */
  failed(): void;
}

export class Supervisor {
  readonly #pool: Piscina;
  readonly #ended: Promise<void>[] = [];
  #restarts: number[] = [];
  #stopping = false;

  constructor(private readonly options: SupervisorOptions) {
    this.#pool = new Piscina({
      filename: options.filename,
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The threads live on their ports' messages: they must not block waiting for piscina's next task.
      atomics: 'disabled',
    });
    this.#pool.on('error', () => {}); // every task reports its own end
  }

  start(): void {
    for (let index = 0; index < this.options.threads; index++) this.#ended.push(this.#keep(index));
  }

  /** No more restarts; resolves when every task has resolved. */
  async drained(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#ended);
    await this.#pool.close({ force: true });
  }

  async #keep(index: number): Promise<void> {
    for (;;) {
      const { port1, port2 } = new MessageChannel();
      const { argument, transfer } = this.options.task(index, port2);
      const running = this.#pool.run(argument, { transferList: [port2, ...transfer] });
      this.options.started(index, port1);
      try {
        await running;
        return;
      } catch (error) {
        port1.close();
        this.options.log.error({ err: error, thread: `${this.options.name}-${index}` }, 'thread died');
        this.options.died(index);
      }
      if (this.#stopping || !(await this.#mayRestart())) return;
    }
  }

  async #mayRestart(): Promise<boolean> {
    const now = performance.now();
    this.#restarts = [...this.#restarts.filter((at) => now - at < 60_000), now];
    if (this.#restarts.length > LIMITS.restarts_per_minute) {
      this.options.log.fatal({ threads: this.options.name }, 'threads keep dying, giving up');
      this.options.failed();
      return false;
    }
    const wait = Math.min(LIMITS.restart_cap_ms, LIMITS.restart_ms * 2 ** (this.#restarts.length - 1));
    await new Promise((resolve) => setTimeout(resolve, wait));
    return !this.#stopping;
  }
}

/** Database connections a thread of `threads` may hold, so that all of them together stay far below the server's. */
export const connectionsPerThread = (threads: number): number =>
  Math.max(3, Math.min(8, Math.floor((4 * availableParallelism()) / threads)));
