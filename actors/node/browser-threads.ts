import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { BrowserHostOptions, FromBrowserHost, ToBrowserHost } from '../../browser-pool/host.js';
import type { BrowserStats } from '../../browser-pool/messages.js';
import type { Logger } from '../../storage/log/log.js';
import { Channel } from '../../storage/process/channel.js';
import { Supervisor } from './supervisor.js';

/** What the browser threads report to the node. */
export interface BrowserThreadEvents {
  /** A thread runs, for the first time or again. No actor thread is connected to it yet. */
  started(index: number): void;
  /** The threads keep dying: none is started again. */
  failed(): void;
}

interface BrowserThread {
  channel: Channel<ToBrowserHost, FromBrowserHost> | undefined;
  stats: BrowserStats | undefined;
}

/** The browser threads as the main thread sees them; their runs come from the actor threads directly. */
export class BrowserThreads {
  readonly #supervisor: Supervisor;
  readonly #threads: BrowserThread[];

  constructor(
    { pool, threads, after }: { pool: Piscina; threads: number; after: Promise<void> },
    log: Logger,
    options: (index: number) => BrowserHostOptions,
  ) {
    this.#threads = Array.from({ length: threads }, () => ({ channel: undefined, stats: undefined }));
    this.#supervisor = new Supervisor({
      name: 'browsers',
      pool,
      threads,
      log,
      after,
      task: (index, port) => ({ control: port, actors: [], options: options(index) }),
    });
  }

  start(events: BrowserThreadEvents): void {
    this.#supervisor.start({
      started: (index, port) => {
        const thread = this.#threads[index] as BrowserThread;
        const channel = new Channel<ToBrowserHost, FromBrowserHost>(port);
        thread.channel = channel;
        channel.onMessage((message) => {
          if (message.type === 'stats') thread.stats = message.stats;
        });
        events.started(index);
      },
      died: (index) => {
        (this.#threads[index] as BrowserThread).channel = undefined;
      },
      failed: () => events.failed(),
    });
  }

  /** Threads that run now. */
  get running(): number {
    return this.#threads.filter(({ channel }) => channel !== undefined).length;
  }

  /** Threads that died and were replaced. */
  get restarts(): number {
    return this.#supervisor.restarts;
  }

  isRunning(index: number): boolean {
    return this.#threads[index]?.channel !== undefined;
  }

  stats(): BrowserStats[] {
    return this.#threads.flatMap(({ stats }) => stats ?? []);
  }

  /** Connects a browser thread to an actor thread. The port is transferred. */
  connectActors(index: number, port: MessagePort): void {
    this.#threads[index]?.channel?.send({ type: 'connect', port }, [port]);
  }

  /** Ends what runs and closes the browsers; resolves when the threads have ended. */
  async drained(): Promise<void> {
    for (const { channel } of this.#threads) channel?.send({ type: 'drain', grace_ms: 0 });
    await this.#supervisor.drained();
  }
}
