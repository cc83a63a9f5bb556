import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Scheduler } from 'fast-check';
import { LIMITS } from './limits.js';

/** A schedule did not come to an end. */
export class Endless extends Error {}

/**
 * Where a schedule is played: everything that could happen now is a step that waits here, and fast-check's scheduler releases one after
 * the other. After each step it is waited until nothing moves any more: every statement under way was answered, or waits for a lock.
 */
export class Stage {
  /** What was released, in words, in its order. */
  readonly words: string[] = [];
  readonly #scheduler: Scheduler;
  /** How many backends of the schedule wait for a lock. */
  readonly #waiting: () => Promise<number>;
  /** Statements under way: sent, and neither answered nor held up by a step. */
  #underWay = 0;
  /** Steps released so far, and those that are to come later. */
  #released = 0;
  #later: { from: number; ready: () => void }[] = [];
  /** Waits among the steps. */
  #waits = 0;
  /** Counts what happened. */
  #moves = 0;
  #answered: (() => void) | undefined;

  constructor(scheduler: Scheduler, waiting: () => Promise<number>) {
    this.#scheduler = scheduler;
    this.#waiting = waiting;
  }

  /** Resolves when the scheduler releases it, which it may once so many others were released, or there is no other. */
  async step(words: string, others = 0): Promise<void> {
    this.#moves++;
    if (others > 0) await new Promise<void>((ready) => this.#later.push({ from: this.#released + others, ready }));
    this.#moves++;
    await this.#scheduler.schedule(Promise.resolve(), words);
    this.words.push(words);
  }

  /** Notes what the step before led to. */
  note(words: string): void {
    this.words.push(`    ${words}`);
  }

  /** A wait of the code: as long as it takes until it is released. */
  wait<T>(value: T, signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(new DOMException('The operation was aborted', 'AbortError'));
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      this.#waits++;
      void this.step('a wait is over').then(() => {
        this.#waits--;
        signal?.removeEventListener('abort', abort);
        resolve(value);
      });
    });
  }

  /** A statement that was sent. */
  async sent<T>(answer: Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await answer;
    } finally {
      this.#end();
    }
  }

  /** The statement under way does not go on before this step. */
  async holdUp(words: string, others = 0): Promise<void> {
    this.#end();
    try {
      await this.step(words, others);
    } finally {
      this.#begin();
    }
  }

  #begin(): void {
    this.#underWay++;
    this.#moves++;
  }

  #end(): void {
    this.#underWay--;
    this.#moves++;
    this.#answered?.();
  }

  /** Steps that wait. */
  get pending(): number {
    return this.#scheduler.count() + this.#later.length;
  }

  /** Nothing is left but waits. */
  get atRest(): boolean {
    return this.pending === this.#waits;
  }

  /** Releases steps until nothing is left but waits that are begun again and again. */
  async rest(): Promise<void> {
    await this.still();
    for (let turn = 0; turn < LIMITS.wait_turns && this.pending > 0; turn++) {
      while (!this.atRest) await this.next();
      for (let waits = this.#waits; waits > 0; waits--) await this.next();
    }
  }

  /** Releases one step and waits until nothing moves. */
  async next(): Promise<void> {
    if (this.words.length > LIMITS.steps) throw new Endless(`${LIMITS.steps} steps were not enough`);
    await this.release();
    await this.still();
  }

  /** Releases one step. */
  async release(): Promise<void> {
    const due = this.#later.filter(({ from }) => from <= this.#released);
    if (this.#scheduler.count() === this.#waits && due.length === 0) due.push(...this.#later.slice(0, 1));
    this.#later = this.#later.filter((one) => !due.includes(one));
    for (const { ready } of due) ready();
    if (due.length > 0) await this.#turns();
    this.#released++;
    await this.#scheduler.waitOne();
    await this.#turns();
  }

  /** Until every statement under way was answered: nothing holds one up any more, and the server ends what waits for each other. */
  async answered(): Promise<void> {
    for (const since = performance.now(); this.#underWay > 0; await this.#answer()) {
      if (performance.now() - since > LIMITS.step_ms) throw new Endless('a statement is never answered');
    }
    await this.#turns();
  }

  /** Until nothing moves. */
  async still(): Promise<void> {
    const since = performance.now();
    for (;;) {
      await this.#turns();
      if (this.#underWay === 0) return;
      const before = this.#moves;
      await this.#answer();
      if (this.#moves !== before) continue;
      const waiting = await this.#waiting();
      await this.#turns();
      if (this.#moves === before && waiting >= this.#underWay) return;
      if (performance.now() - since > LIMITS.step_ms) throw new Endless('a statement is neither answered nor waits');
    }
  }

  /** Turns of the event loop until one has moved nothing. */
  async #turns(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const before = this.#moves;
      await new Promise<void>((resolve) => setImmediate(resolve));
      quiet = this.#moves === before ? quiet + 1 : 0;
    }
  }

  /** The next answer of a statement, or a moment without one. */
  #answer(): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        clearTimeout(timer);
        this.#answered = undefined;
        resolve();
      };
      const timer = setTimeout(over, LIMITS.answer_ms);
      this.#answered = over;
    });
  }
}

let current: Stage | undefined;

/** From now on the waits of this process's code are steps of the stage that is set, until what it returns is called. */
export function takeTimers(): { play(stage: Stage | undefined): void; giveBack(): void } {
  const { setTimeout: real } = timers;
  const patched = timers as { setTimeout: unknown };
  patched.setTimeout = (wait_ms: number, value: unknown, options?: { signal?: AbortSignal }) =>
    current ? current.wait(value, options?.signal) : real(wait_ms, value, options);
  syncBuiltinESMExports();
  return {
    play(stage) {
      current = stage;
    },
    giveBack() {
      patched.setTimeout = real;
      syncBuiltinESMExports();
    },
  };
}
