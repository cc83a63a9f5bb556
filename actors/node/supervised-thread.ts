import { setTimeout as delay } from 'node:timers/promises';
import { checkStep, type Steps } from '../../storage/process/steps.js';

interface ThreadState {
  kind: 'new' | 'running' | 'waiting' | 'ended';
}

const STEPS: Steps<ThreadState['kind']> = {
  new: ['running'],
  running: ['waiting', 'ended'],
  waiting: ['running', 'ended'],
  ended: [],
};

export interface SupervisedThreadOptions {
  /** Runs the thread's task once: resolves when the task resolved, rejects when the thread threw or exited. */
  run(): Promise<void>;
  /** The thread is gone. Gives the wait before it is started again; undefined when it is not. */
  died(error: unknown): number | undefined;
  /** Whether it is still to be started after its wait. */
  wanted(): boolean;
  /** Each state that the thread enters. */
  onState?(kind: ThreadState['kind']): void;
}

/**
 * One thread that is kept alive.
 *
 *     new ─▶ running ─ throws, exits ─▶ waiting (back-off) ─▶ running
 *               ├─ its task resolves (drain) ─▶ ended
 *               └─ throws, exits, and its supervisor drains or has failed: also while waiting ─▶ ended
 */
export class SupervisedThread {
  readonly #options: SupervisedThreadOptions;
  #state: ThreadState = { kind: 'new' };

  constructor(options: SupervisedThreadOptions) {
    this.#options = options;
  }

  /** Resolves when the thread has ended. */
  async keep(): Promise<void> {
    do {
      this.#enter({ kind: 'running' });
    } while (await this.#runOnce());
    this.#enter({ kind: 'ended' });
  }

  /** True when it died and is to be started again now. */
  async #runOnce(): Promise<boolean> {
    try {
      await this.#options.run();
      return false;
    } catch (error) {
      const wait_ms = this.#options.died(error);
      if (wait_ms === undefined) return false;
      this.#enter({ kind: 'waiting' });
      await delay(wait_ms);
      return this.#options.wanted();
    }
  }

  #enter(state: ThreadState): void {
    checkStep('a supervised thread', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#options.onState?.(state.kind);
  }
}
