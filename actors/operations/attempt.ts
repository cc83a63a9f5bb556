import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../storage/model/errors.js';
import type { ChallengeKind, ConnectionRow } from '../../storage/model/records.js';
import { resumeFromUser, waitForUser } from '../../storage/operations/challenge.js';
import type { HeldOperation, StartedOperation } from '../../storage/operations/execution.js';
import { dropFileParts, storeFilePart } from '../../storage/operations/operation-files.js';
import type { Database } from '../../storage/postgres/database.js';
import type { Capability } from '../capabilities/capability.js';
import { LIMITS } from '../limits.js';
import { type Execution, Interrupted } from './execution.js';
import type { OperationBatches } from './operation-batches.js';

/** What an attempt needs from its thread. */
export interface AttemptContext {
  db: Database;
  batches: OperationBatches;
  /** Tells waiters that the operation now waits for the user. */
  settled(operationId: string): void;
}

/**
 * One attempt, as its provider sees it, and the signals that reach it from outside.
 *
 *     running ──challenge()──▶ waiting ──code──▶ running        `status` follows the row, never runs ahead of it
 *        └─boundary()─▶ past the boundary: cancel no longer stops it
 *
 * Owns: the deadline's clock (stopped while waiting), the challenge, the abort signal. Invariants:
 * A1 nothing external happens before `boundary` resolved; A2 `pastBoundary` is true before `boundary` resolves;
 * A3 after `interrupt` every further call rejects, except past the boundary for a cancel.
 */
export class Attempt implements Execution {
  readonly operationId: string;
  readonly capability: Capability;
  readonly input: Record<string, unknown>;
  readonly connection: ConnectionRow;
  readonly epoch: number;
  status: 'running' | 'waiting_user' = 'running';
  pastBoundary = false;

  readonly #abort = new AbortController();
  readonly #number: number;
  #tries = 0;
  #fileParts = 0;
  #closed = false;
  #challengeId: string | undefined;
  #answer: ((code: string) => void) | undefined;
  #forgetChallenge: () => void = () => {};
  #deadline: NodeJS.Timeout | undefined;
  #remaining_ms = LIMITS.operation_ms;
  #runningSince = 0;

  constructor(
    private readonly context: AttemptContext,
    private readonly held: HeldOperation,
    started: StartedOperation,
    capability: Capability,
    input: Record<string, unknown>,
  ) {
    this.operationId = held.id;
    this.capability = capability;
    this.#number = started.attempt_number;
    this.input = input;
    this.connection = started;
    this.epoch = held.epoch;
    this.#runClock();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get remaining_ms(): number {
    const elapsed_ms = this.#deadline ? performance.now() - this.#runningSince : 0;
    return Math.max(0, this.#remaining_ms - elapsed_ms);
  }

  async boundary(): Promise<void> {
    this.#abort.signal.throwIfAborted();
    // Set before asking: a cancel that arrives meanwhile is decided by the row, not here.
    this.pastBoundary = true;
    let entered = false;
    try {
      entered = await this.context.batches.enterDispatching(this.held);
    } finally {
      this.pastBoundary = entered;
    }
    if (entered) return;
    // The row refused: a cancel came first, or a take-over, and then the finish that follows stores nothing.
    this.interrupt('canceled');
    this.#abort.signal.throwIfAborted();
  }

  async storeFile(bytes: Buffer): Promise<void> {
    const part = this.#fileParts++;
    for (;;) {
      this.#abort.signal.throwIfAborted();
      try {
        if (await storeFilePart(this.context.db, this.held, part, bytes)) return;
        this.interrupt('fenced');
      } catch (error) {
        if (this.#closed) throw error;
        await delay(LIMITS.retry_ms); // the database did not answer; the run waits for a while
      }
    }
  }

  /** It did not succeed: what it stored is no file, nor is what a lost worker left of an attempt before. */
  async dropFile(): Promise<void> {
    if (this.#fileParts > 0 || this.#number > 1) await dropFileParts(this.context.db, this.held);
  }

  async challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string> {
    this.#abort.signal.throwIfAborted();
    if (++this.#tries > LIMITS.challenge_tries) throw new OperationError('challenge_failed', { kind });
    const id = randomUUID();
    this.#stopClock();
    const answer = this.#codeFor(id);
    answer.catch(() => {}); // an interrupt may come before anybody awaits it
    const waiting = await waitForUser(this.context.db, this.held, {
      id,
      kind,
      expires_at: new Date(Date.now() + LIMITS.challenge_ms).toISOString(),
      accepts_code: acceptsCode,
      answered: false,
      tries: this.#tries,
    });
    if (!waiting) this.interrupt('fenced');
    this.#abort.signal.throwIfAborted();
    this.status = 'waiting_user';
    this.context.settled(this.operationId);
    const code = await answer;
    if (!(await resumeFromUser(this.context.db, this.held))) this.interrupt('fenced');
    this.#abort.signal.throwIfAborted();
    this.status = 'running';
    this.#runClock();
    return code;
  }

  /** An accepted code arrived. False when it is not for the challenge that waits now. */
  code(challengeId: string, code: string): boolean {
    if (challengeId !== this.#challengeId || !this.#answer) return false;
    this.#answer(code);
    return true;
  }

  /** Stops the attempt from outside. A cancel past the boundary is ignored: the action can still complete. */
  interrupt(reason: Interrupted['reason']): void {
    if (reason === 'canceled' && this.pastBoundary) return;
    this.#abort.abort(new Interrupted(reason));
  }

  /** The attempt is over: no timer outlives it, that of a challenge that could not be stored neither. */
  close(): void {
    this.#closed = true;
    this.#stopClock();
    this.#forgetChallenge();
  }

  #codeFor(id: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const forget = () => {
        clearTimeout(expiry);
        this.#abort.signal.removeEventListener('abort', interrupted);
        this.#challengeId = this.#answer = undefined;
      };
      const interrupted = () => {
        forget();
        reject(this.#abort.signal.reason);
      };
      const expiry = setTimeout(() => {
        forget();
        reject(new OperationError('challenge_expired'));
      }, LIMITS.challenge_ms);
      this.#abort.signal.addEventListener('abort', interrupted);
      this.#challengeId = id;
      this.#forgetChallenge = forget;
      this.#answer = (code) => {
        forget();
        resolve(code);
      };
    });
  }

  #runClock(): void {
    this.#runningSince = performance.now();
    this.#deadline = setTimeout(() => this.interrupt('deadline'), Math.max(0, this.#remaining_ms));
  }

  #stopClock(): void {
    if (!this.#deadline) return;
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#remaining_ms -= performance.now() - this.#runningSince;
  }
}
