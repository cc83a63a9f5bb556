import { setTimeout as delay } from 'node:timers/promises';
import { endLostWrite } from '../../../storage/operations/lost-writes.js';
import type { StartedOperation } from '../../../storage/operations/starts.js';
import type { OnOperationEnded } from '../../../storage/tracing/ended-operations.js';
import { retryWaits } from '../../retry.js';
import type { Attempt } from './attempt.js';
import type { AttemptStarts, StartHome } from './attempt-starts.js';
import { endedOperation, recordEndedAttempt } from './ended-operation.js';
import type { Outcome } from './execution.js';
import type { Finish } from './operation-batches.js';
import { fallbackOutcome, isPastBoundary, mayRetry, outlivedOutcome, toFinish, unknownCapability } from './outcome.js';
import { type Begun, openAttempt, type RunContext, runAttempt } from './run-attempt.js';
import { type Stored, storeEnd } from './store-end.js';

/** What a runner needs from its thread. */
export interface RunnerContext extends RunContext {
  ended: OnOperationEnded;
  /** Health or session of the connection changed: its listener follows. */
  changed(connectionId: string): void;
}

/** Where the run of an operation is. */
export type RunState =
  | { kind: 'starting' | 'finishing' | 'waiting'; operationId: string }
  | { kind: 'running'; attempt: Attempt };

/** The actor whose operations are run. */
export interface RunOwner {
  readonly connectionId: string;
  enter(state: RunState): void;
  /** Waits; not when nothing more is to start. */
  pause(wait_ms: number): Promise<void>;
  /** Works with a slot for large inputs, where the operation has one. */
  withSlot<T>(operationId: string, work: () => Promise<T>): Promise<T>;
  /** The end, with the start of what waits behind it, where that may start with it. */
  withNext(end: Finish): Finish;
  /** What waited behind an end has started with it. */
  beginNext(started: StartedOperation): void;
}

/**
 * Runs the operations of one connection, each with its attempts one after the other, until the row shows that it is over, whatever answer
 * was lost (OPS-4). It holds nothing between two operations.
 *
 * Invariants: I1 nothing is stored once the partition is dropped; I2 a write that has passed its boundary here is never started again.
 */
export class OperationRunner {
  readonly #owner: RunOwner;
  readonly #home: StartHome;
  readonly #starts: AttemptStarts;
  readonly #context: RunnerContext;
  /** I1. The row itself refuses what is not held. */
  readonly #mayStore = () => this.#home.tenure !== 'dropped';

  constructor(owner: RunOwner, home: StartHome, starts: AttemptStarts, context: RunnerContext) {
    this.#owner = owner;
    this.#home = home;
    this.#starts = starts;
    this.#context = context;
  }

  /** Runs the operation; `begun`: its first attempt has started. False when it could not be done now. */
  async run(operationId: string, begun?: Begun): Promise<boolean> {
    try {
      return await this.#untilOver(operationId, begun);
    } catch (error) {
      this.#context.log.error(
        { err: error, operation_id: operationId },
        'operation: its execution was interrupted, trying again',
      );
      return false;
    }
  }

  async #untilOver(operationId: string, begun?: Begun): Promise<boolean> {
    const waits = retryWaits();
    for (let number = 1; ; number++) {
      const next =
        begun && number === 1 ? await this.#attemptOnce(begun, 1) : await this.#startAttempt(operationId, number);
      switch (next) {
        case 'over':
          return true;
        case 'start_lost':
          return false;
        default:
          this.#owner.enter({ kind: 'waiting', operationId });
          await this.#owner.pause(Math.max(waits.next_ms(), next.again_ms));
      }
    }
  }

  #startAttempt(operationId: string, number: number): Promise<Next> {
    this.#owner.enter({ kind: 'starting', operationId });
    return this.#owner.withSlot(operationId, async () => {
      const begun = await this.#starts.start(operationId, (wait_ms) => this.#owner.pause(wait_ms));
      return begun ? this.#attemptOnce(begun, number) : 'over';
    });
  }

  async #attemptOnce(begun: Begun, number: number): Promise<Next> {
    const { counters, tally, log } = this.#context;
    const { held, started } = begun;
    if (!this.#starts.mayBegin && !(await this.#untilMayBegin(held.id))) return 'over'; // recovery decides
    counters.started++;
    tally?.count(started.workspace_id, 'moves');
    const start_ms = Date.now();
    const ready = openAttempt(this.#context, begun);
    if (!ready) return this.#refuse(begun);
    const { attempt } = ready;
    this.#owner.enter({ kind: 'running', attempt });
    const outcome = await runAttempt(this.#context, ready);
    this.#owner.enter({ kind: 'finishing', operationId: held.id });
    if (this.#home.tenure === 'dropped') return 'over'; // I1
    if (!outcome) return this.#notHeld(begun, attempt);
    if (outcome.status !== 'succeeded') {
      await attempt.dropFile().catch((error) => {
        log.warn({ err: error, operation_id: held.id }, 'operation: parts of a file are left over');
      });
    }
    const stored = await this.#storeEnd(begun, attempt, outcome, number);
    if (stored.kind === 'stored') recordEndedAttempt(this.#context.tracing, started, stored.end.operation, start_ms);
    if (stored.kind === 'not_held') return this.#notHeld(begun, attempt);
    const next = this.#stored(started, stored);
    return next === 'again' ? { again_ms: outcome.status === 'failed' ? (outcome.own?.wait_ms ?? 0) : 0 } : next;
  }

  /** Until an attempt that was started may begin to run; false when the partition is no longer this thread's. */
  #untilMayBegin(operationId: string): Promise<boolean> {
    this.#owner.enter({ kind: 'starting', operationId });
    return this.#starts.untilMayBegin((wait_ms) => this.#owner.pause(wait_ms));
  }

  #storeEnd({ held }: Begun, attempt: Attempt, outcome: Outcome, number: number): Promise<Stored> {
    const { ring } = this.#context;
    const endOf = (ended: Outcome) =>
      this.#owner.withNext(toFinish(held, attempt, ended, mayRetry(attempt, ended, number), ring));
    return storeEnd(this.#context, endOf(outcome), {
      fallback: () => toFinish(held, attempt, fallbackOutcome(attempt, outcome), false, ring),
      outlived: () => endOf(outlivedOutcome(outcome)),
      mayStore: this.#mayStore,
    });
  }

  /** Ends what this version cannot run. */
  async #refuse(begun: Begun): Promise<Next> {
    const { id: operationId } = begun.held;
    this.#context.log.error(
      { operation_id: operationId, capability: begun.started.capability },
      'operation: its capability is unknown to this version, ending it',
    );
    this.#owner.enter({ kind: 'starting', operationId }); // where it was begun
    this.#owner.enter({ kind: 'finishing', operationId });
    const end = unknownCapability(begun.held, begun.started);
    const stored = await storeEnd(this.#context, end, {
      ...{ fallback: () => end, outlived: () => end },
      mayStore: this.#mayStore,
    });
    if (stored.kind === 'not_held') return this.#home.tenure === 'owned' ? 'start_lost' : 'over';
    return this.#stored(begun.started, stored) === 'over' ? 'over' : 'start_lost';
  }

  /**
   * The row does not show this attempt. The partition was taken by another node, whose recovery decides; or the database lost commits, and with
   * them the start: then the operation is first in its order still. It is started again, but never a write that has passed its boundary here.
   */
  async #notHeld({ held, started }: Begun, attempt: Attempt): Promise<Next> {
    if (!isPastBoundary(attempt)) return this.#home.tenure === 'owned' ? 'start_lost' : 'over';
    const { db, log } = this.#context;
    log.error(
      { operation_id: held.id },
      'operation: the database lost a write that has passed its boundary, ending it',
    );
    const waits = retryWaits();
    for (;;) {
      const { id: partition, epoch, tenure } = this.#home;
      if (tenure === 'dropped') return 'over';
      const { running_ms } = attempt;
      const write = { ...held, partition, epoch, revision: started.state_revision, running_ms };
      const ended = await endLostWrite(db, write).catch((error) => {
        log.warn({ err: error, operation_id: held.id }, 'operation: the lost write was not ended, trying again');
        return false;
      });
      if (ended) break;
      await delay(waits.next_ms());
    }
    this.#context.awaitable(held.id);
    return 'over';
  }

  #stored(started: StartedOperation, stored: Exclude<Stored, { kind: 'not_held' }>): 'over' | 'again' {
    const { counters, tally, ended } = this.#context;
    switch (stored.kind) {
      case 'given_up':
        return 'over';
      case 'stored': {
        const { status, end } = stored;
        if (end.operation.from === 'waiting_user') tally?.count(started.workspace_id, 'resumes');
        if (status === 'queued') {
          tally?.count(started.workspace_id, 'moves');
          return 'again';
        }
        const operation = endedOperation(started, end.operation, status);
        counters.ended(operation);
        ended(operation);
        this.#context.awaitable(started.operation_id);
        if (end.change) {
          tally?.count(started.workspace_id, 'connections');
          this.#context.changed(this.#owner.connectionId);
        }
        if (stored.started) this.#owner.beginNext(stored.started);
        return 'over';
      }
      default:
        return stored satisfies never;
    }
  }
}

/** What follows an attempt: nothing, its start again, which the database lost, or another attempt after this wait at least. */
type Next = 'over' | 'start_lost' | { again_ms: number };
