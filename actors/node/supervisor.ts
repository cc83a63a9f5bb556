import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Logger } from '../../storage/log/log.js';
import { Backoff } from '../../storage/process/backoff.js';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import { LIMITS } from '../limits.js';
import { SupervisedThread } from './supervised-thread.js';
import { endThreads } from './thread-pools.js';

export interface SupervisorOptions {
  name: string;
  /** Its threads: as many as are kept. It ends with the supervisor. */
  pool: Piscina;
  threads: number;
  log: Logger;
  /** The first wait before a restart; shorter in tests, else `LIMITS.restart_ms`. */
  restart_ms?: number | undefined;
  /** When the threads may load; what is sent to them before waits for them. Absent: at once. */
  after?: Promise<void>;
  /** Makes the argument of a thread's task; `port` is its end of the channel to the main thread. */
  task(index: number, port: MessagePort): object;
}

/** What a supervisor reports of its threads. */
export interface ThreadEvents {
  /** A thread begins, for the first time or again; `port` is the main thread's end of its channel. */
  started(index: number, port: MessagePort): void;
  /** A thread is gone; when it comes back, `started` follows. */
  died(index: number): void;
  /** The threads keep dying: none is started again. */
  failed(): void;
}

interface SupervisorState {
  kind: 'new' | 'supervising' | 'failed' | 'draining' | 'drained';
}

const STEPS: Steps<SupervisorState['kind']> = {
  new: ['supervising'],
  supervising: ['failed', 'draining'],
  failed: ['draining'],
  draining: ['drained'],
  drained: [],
};

/**
 * Keeps a fixed number of long-lived piscina tasks alive, one a thread. piscina replaces a dead thread by itself, at once and
 * without end; the back-off and the restart intensity are ours.
 *
 *     new ─ start ─▶ supervising ─ drained ─▶ draining ─ every task has ended ─▶ drained
 *                        └─ too many restarts within a minute ─▶ failed: the node reports unhealthy instead of looping
 *
 * Invariants: I1 a thread is started again only while *supervising*; I2 at most LIMITS.restarts_per_minute restarts a minute.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #pool: Piscina;
  readonly #ended: Promise<void>[] = [];
  readonly #runs: AbortController[] = [];
  readonly #waits: Backoff;
  #restarts: number[] = [];
  #restarted = 0;
  #state: SupervisorState = { kind: 'new' };

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#pool = options.pool;
    const { restart_ms: first_ms = LIMITS.restart_ms } = options;
    this.#waits = new Backoff({ first_ms, cap_ms: LIMITS.restart_cap_ms });
  }

  /** Threads that died and were replaced. */
  get restarts(): number {
    return this.#restarted;
  }

  /** Starts the threads. */
  start(events: ThreadEvents): void {
    this.#enter({ kind: 'supervising' });
    for (let index = 0; index < this.#options.threads; index++) this.#ended.push(this.#thread(index, events).keep());
  }

  /**
   * No more restarts; resolves when every task has ended and the threads are closed. With `limit_ms`, what has not ended by
   * then is ended with its thread.
   */
  async drained(limit_ms?: number): Promise<void> {
    this.#enter({ kind: 'draining' });
    const ended = Promise.all(this.#ended);
    if (limit_ms === undefined) await ended;
    else await Deadline.within(limit_ms, ended).catch(() => this.#endThreads());
    await endThreads(this.#pool);
    this.#enter({ kind: 'drained' });
  }

  /** Ends a thread that does not answer: then it has died. */
  end(index: number): void {
    this.#runs[index]?.abort();
  }

  #endThreads(): Promise<void> {
    const { name, log } = this.#options;
    log.warn({ threads: name }, 'threads: they did not close in time and are ended');
    return this.#pool.destroy();
  }

  #enter(state: SupervisorState): void {
    checkStep(`the supervisor of ${this.#options.name}`, STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  #thread(index: number, events: ThreadEvents): SupervisedThread {
    const { name, log, task, after } = this.#options;
    const thread = `${name}-${index}`;
    let port: MessagePort | undefined;
    return new SupervisedThread({
      run: () => {
        const { port1, port2 } = new MessageChannel();
        const run = new AbortController();
        this.#runs[index] = run;
        const { signal } = run;
        const order = () => this.#pool.run(task(index, port2), { transferList: [port2], signal });
        const running: Promise<void> = after ? after.then(order) : order();
        port = port1;
        events.started(index, port1);
        return running;
      },
      died: (error) => {
        port?.close();
        log.error({ err: error, thread }, 'thread: it died');
        events.died(index);
        return this.#restartWait_ms(events);
      },
      wanted: () => this.#state.kind === 'supervising', // I1
    });
  }

  /** Counts a restart and gives the wait before it; undefined when there is to be none (I1, I2). */
  #restartWait_ms(events: ThreadEvents): number | undefined {
    if (this.#state.kind !== 'supervising') return undefined;
    const now = performance.now();
    const recent = this.#restarts.filter((at) => now - at < 60_000);
    if (recent.length === 0) this.#waits.reset();
    this.#restarts = [...recent, now];
    if (this.#restarts.length <= LIMITS.restarts_per_minute) {
      this.#restarted++;
      return this.#waits.next_ms();
    }
    this.#options.log.fatal({ threads: this.#options.name }, 'threads: they keep dying, giving up');
    this.#enter({ kind: 'failed' });
    events.failed();
    return undefined;
  }
}
