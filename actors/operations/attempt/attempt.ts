import { setTimeout as delay } from 'node:timers/promises';
import { permits } from '../../../browser-pool/send-permission.js';
import { unverifyRecruiter } from '../../../storage/connections/session-effects.js';
import type { Logger } from '../../../storage/log/log.js';
import { OperationError } from '../../../storage/model/errors.js';
import type { ChallengeKind, ConnectionRow } from '../../../storage/model/records.js';
import { challengeLeft, resumeFromUser, type WaitEnd, waitForUser } from '../../../storage/operations/challenge.js';
import type { HeldOperation, StartedOperation } from '../../../storage/operations/starts.js';
import type { Tally } from '../../../storage/overview/tally.js';
import type { Database } from '../../../storage/postgres/database.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { underOperation } from '../../../storage/tracing/operation-spans.js';
import type { Tracing } from '../../../storage/tracing/tracing.js';
import type { Capability } from '../../capabilities/capability.js';
import type { LeaseCell, SendPermission } from '../../lease.js';
import { LIMITS } from '../../limits.js';
import { retrying } from '../../retry.js';
import type { GivenCode } from '../../system.js';
import { PendingChallenge } from './challenge.js';
import { type Execution, Interrupted } from './execution.js';
import { FileParts } from './file-parts.js';
import type { OperationBatches } from './operation-batches.js';

/** What an attempt needs from its thread. */
export interface AttemptContext {
  db: Database;
  batches: OperationBatches;
  lease: LeaseCell;
  log: Logger;
  /** Absent: no spans are made. */
  tracing?: Tracing | undefined;
  /** Counts what happens in workspaces; absent: nothing is counted. */
  tally?: Tally;
  /** The operation became terminal or waits for the user: who awaits it reads its row now. */
  awaitable(operationId: string): void;
  /** Each state that an attempt enters. */
  onAttemptState?(operationId: string, kind: AttemptState['kind']): void;
  /** Bytes that a workspace without a limit of its own may store; null: any. */
  storedBound: number | null;
  /** How long a challenge waits; shorter in tests, else `LIMITS.challenge_ms`. */
  challenge_ms?: number;
}

type AttemptState =
  | { kind: 'running' | 'entering_boundary' | 'dispatching' }
  | { kind: 'storing_challenge' | 'waiting_user' | 'resuming'; challenge: PendingChallenge }
  | { kind: 'closed'; status: Attempt['status']; pastBoundary: boolean };

const STEPS: Steps<AttemptState['kind']> = {
  running: ['entering_boundary', 'storing_challenge', 'closed'],
  entering_boundary: ['dispatching', 'running', 'closed'],
  dispatching: ['entering_boundary', 'closed'],
  storing_challenge: ['waiting_user', 'closed'],
  waiting_user: ['resuming', 'closed'],
  resuming: ['running', 'waiting_user', 'closed'],
  closed: [],
};

/**
 * One attempt, as its provider sees it, and what reaches it from outside.
 *
 *     running ─ boundary() ──▶ entering_boundary ─ durable ──▶ dispatching
 *        │                             └─ refused, failed ──▶ running
 *        ├─ challenge() ─▶ storing_challenge ─ stored ─▶ waiting_user ─ answer ─▶ resuming ─ stored ─▶ running
 *        │                                                     ▲─ the row has another mark, or none ─┘
 *        └─ close(), from every state ──▶ closed, which ignores what arrives late
 *
 * An interruption aborts `signal` and changes no state: the provider ends then, and `close` follows.
 * Owns: the deadline (paused while a challenge waits), the challenge, the abort signal. What it asks of its row is asked again
 * when the answer is lost: each statement changes nothing the second time. Invariants:
 * I1 nothing external happens before `boundary` resolved, nor after its permission ran out; the permission is older than the
 * row's answer, so an answer that was delayed past the lease permits nothing; I2 `pastBoundary` is true before `boundary` resolves;
 * I3 after `interrupt` every further call rejects, except past the boundary for a cancel; I4 `status` follows the row and
 * never runs ahead of it; I5 no timer and no retry outlives `close`.
 */
export class Attempt implements Execution {
  readonly operationId: string;
  readonly capability: Capability;
  readonly input: Record<string, unknown>;
  readonly connection: ConnectionRow;
  readonly epoch: number;
  /** What its events belong under. */
  readonly traceparent: string | null;
  readonly #context: AttemptContext;
  readonly #held: HeldOperation;
  readonly #abort = new AbortController();
  readonly #file: FileParts;
  readonly #limit_ms: number;
  readonly #deadline: Deadline;
  #tries = 0;
  #tookAnswer = false;
  #state: AttemptState = { kind: 'running' };

  constructor(
    context: AttemptContext,
    held: HeldOperation,
    started: StartedOperation,
    capability: Capability,
    input: Record<string, unknown>,
  ) {
    this.#context = context;
    this.#held = held;
    this.#file = new FileParts(context, held, started.attempt_number, this.#abort.signal);
    this.operationId = held.id;
    this.capability = capability;
    this.input = input;
    this.connection = started;
    this.epoch = held.epoch;
    const { traceparent } = started;
    this.traceparent = traceparent && context.tracing ? underOperation(traceparent, held.id) : traceparent;
    this.#limit_ms = Math.max(1, LIMITS.operation_ms - started.spent_ms);
    this.#deadline = new Deadline(this.#limit_ms, () => new Interrupted('deadline'));
    this.#deadline.signal.addEventListener('abort', () => this.interrupt('deadline'));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Its deadline is the only clock of the operation's running time. */
  get remaining_ms(): number {
    return this.#deadline.remaining_ms;
  }

  /** How long it ran so far. */
  get running_ms(): number {
    return this.#limit_ms - this.#deadline.remaining_ms;
  }

  pauseClock(): void {
    this.#deadline.pause();
  }

  resumeClock(): void {
    this.#deadline.resume();
  }

  /** The status of the operation's row, as far as this attempt changed it (I4). */
  get status(): 'running' | 'waiting_user' {
    const state = this.#state;
    switch (state.kind) {
      case 'waiting_user':
      case 'resuming':
        return 'waiting_user';
      case 'running':
      case 'entering_boundary':
      case 'dispatching':
      case 'storing_challenge':
        return 'running';
      case 'closed':
        return state.status;
      default:
        return state satisfies never;
    }
  }

  /** True from the moment the row is asked, not while its lease is waited for: a cancel that arrives meanwhile is decided by the row (I2). */
  get pastBoundary(): boolean {
    const state = this.#state;
    if (state.kind === 'closed') return state.pastBoundary;
    return state.kind === 'entering_boundary' || state.kind === 'dispatching';
  }

  /** Its user answered a challenge. A code is of one use and nowhere stored, an approval is for one sign-in: no other attempt can go on with it. */
  get tookAnswer(): boolean {
    return this.#tookAnswer;
  }

  async boundary(): Promise<SendPermission> {
    const leased = await this.#leased();
    this.#enter({ kind: 'entering_boundary' });
    let permission: SendPermission | undefined;
    try {
      permission = await this.#permitted(leased); // I1
    } finally {
      this.#enter({ kind: permission ? 'dispatching' : 'running' });
    }
    if (permission) return permission;
    // The row refused: a cancel came first, or a take-over, and then the finish that follows stores nothing.
    this.interrupt('canceled');
    this.#abort.signal.throwIfAborted();
    throw new Interrupted('canceled');
  }

  storeFile(bytes: Buffer): Promise<void> {
    return this.#file.store(bytes, () => this.interrupt('fenced')); // I3
  }

  /** Deletes what this attempt, which did not succeed, stored of a file. */
  dropFile(): Promise<void> {
    return this.#file.drop();
  }

  async unverifyRecruiter(): Promise<void> {
    this.#abort.signal.throwIfAborted(); // I3
    const { db } = this.#context;
    if (!(await this.#ask(() => unverifyRecruiter(db, this.#held, this.connection)))) this.interrupt('fenced');
    this.#abort.signal.throwIfAborted();
  }

  async challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string> {
    this.#abort.signal.throwIfAborted(); // I3
    if (++this.#tries > LIMITS.challenge_tries) throw new OperationError('challenge_failed', { kind });
    const { db, challenge_ms = LIMITS.challenge_ms } = this.#context;
    const left = () => challengeLeft(db, this.#held, challenge.id);
    const challenge: PendingChallenge = new PendingChallenge(this.#abort.signal, { first_ms: challenge_ms, left });
    this.#enter({ kind: 'storing_challenge', challenge });
    this.#deadline.pause();
    const row = { id: challenge.id, kind, accepts_code: acceptsCode, answered: false, tries: this.#tries };
    const waiting = await this.#ask(() => waitForUser(db, this.#held, row, challenge_ms));
    if (!waiting) this.interrupt('fenced');
    this.#abort.signal.throwIfAborted();
    this.#enter({ kind: 'waiting_user', challenge });
    this.#context.tally?.count(this.connection.workspace_id, 'waits');
    this.#context.awaitable(this.operationId);
    const code = await this.#taken(challenge, acceptsCode ? 'code_received' : 'challenge_ended');
    this.#tookAnswer = true;
    this.#context.tally?.count(this.connection.workspace_id, 'resumes');
    this.#enter({ kind: 'running' });
    this.#deadline.resume();
    return code;
  }

  challengeEnded(): void {
    const state = this.#state;
    if ('challenge' in state) state.challenge.answer({ challengeId: state.challenge.id, code: '' });
  }

  /** A code arrived. False when it is not for the challenge that waits now. */
  code(given: GivenCode): boolean {
    const state = this.#state;
    return 'challenge' in state && state.challenge.answer(given);
  }

  /** The code that the row is marked for, once the row says that it is taken: only then is it accepted (OPS-10). */
  async #taken(challenge: PendingChallenge, end: WaitEnd): Promise<string> {
    const { db } = this.#context;
    for (;;) {
      const { code, mark = null } = await challenge.code;
      this.#enter({ kind: 'resuming', challenge });
      const resumed = await this.#ask(() => resumeFromUser(db, this.#held, mark, end));
      if (resumed === 'not_held') this.interrupt('fenced');
      this.#abort.signal.throwIfAborted();
      if (resumed === 'resumed') return code;
      this.#enter({ kind: 'waiting_user', challenge });
      challenge.reopen();
    }
  }

  /** Stops the attempt from outside. A cancel past the boundary is ignored: the action can still complete. */
  interrupt(reason: Interrupted['reason']): void {
    if (reason === 'canceled' && this.pastBoundary) return; // I3
    this.#abort.abort(new Interrupted(reason));
  }

  /** The attempt is over. Its status, and whether it is past the boundary, stay as they are now. */
  close(): void {
    const state = this.#state;
    if ('challenge' in state) state.challenge.close(); // I5
    this.#file.close(); // I5
    this.#deadline.stop(); // I5
    this.#enter({ kind: 'closed', status: this.status, pastBoundary: this.pastBoundary });
  }

  /** The lease's permission, as soon as there is one; rejects once the attempt is interrupted (I3). */
  async #leased(): Promise<SendPermission> {
    const { signal } = this.#abort;
    for (;;) {
      signal.throwIfAborted();
      const permission = this.#context.lease.permission(this.#held.partition);
      if (permission) return permission;
      await delay(LIMITS.retry_ms, undefined, { signal }).catch(() => {});
    }
  }

  /** A permission that is still good once the row has answered; undefined when the row refused. */
  async #permitted(leased: SendPermission): Promise<SendPermission | undefined> {
    const { batches } = this.#context;
    for (let permission = leased; ; permission = await this.#leased()) {
      if (!(await this.#ask(() => batches.enterDispatching(this.#held)))) return undefined;
      this.#abort.signal.throwIfAborted();
      if (permits(permission)) return permission;
    }
  }

  /** Asks the row, again and again while the answer is lost; rejects once the attempt is interrupted. */
  #ask<T>(ask: () => Promise<T>): Promise<T> {
    const { signal } = this.#abort;
    return retrying(ask, (error) => {
      signal.throwIfAborted();
      this.#context.log.warn(
        { err: error, operation_id: this.operationId },
        'operation: its row did not answer, asking again',
      );
    });
  }

  #enter(state: AttemptState): void {
    if (this.#state.kind === 'closed') return;
    checkStep('an attempt', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#context.onAttemptState?.(this.operationId, state.kind);
  }
}
