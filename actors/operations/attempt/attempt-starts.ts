import { newId } from '../../../storage/model/new-id.js';
import type { StartedOperation } from '../../../storage/operations/starts.js';
import { LIMITS } from '../../limits.js';
import { retryWaits } from '../../retry.js';
import type { Finish } from './operation-batches.js';
import type { Begun, RunContext } from './run-attempt.js';

/** The partition, as far as starts depend on it. */
export interface StartHome {
  readonly id: number;
  readonly epoch: number;
  /** `stopping`: start nothing more; `dropped`: store nothing more. */
  readonly tenure: 'owned' | 'stopping' | 'dropped';
  /** Rows and memory disagree: the partition is to be taken again, but for what is in hand. `lost` is in no hand any more. */
  doubt(lost?: string): void;
}

/**
 * Starts the attempts of one connection's operations: by a statement of their own, or with the end of the operation before.
 *
 * Invariants: I1 nothing is asked to start, and nothing that was started begins to run, without a valid lease; I2 an attempt keeps its id from the first time it is asked for until it is
 * known what became of it: a start whose answer was lost is found by it.
 */
export class AttemptStarts {
  readonly #connectionId: string;
  readonly #home: StartHome;
  readonly #context: Pick<RunContext, 'batches' | 'lease' | 'log'>;
  /** The attempt that was asked for with an end. */
  #asked: { operationId: string; attemptId: string } | undefined;

  constructor(connectionId: string, home: StartHome, context: Pick<RunContext, 'batches' | 'lease' | 'log'>) {
    this.#connectionId = connectionId;
    this.#home = home;
    this.#context = context;
  }

  /**
   * Starts the next attempt; undefined when the operation is over, or the partition no longer this thread's to start in, or when the row shows
   * an attempt that nobody here runs: then the partition is taken again. While the
   * answer is lost, or the operation is still queued because a row was locked or the epoch has passed, it is the same
   * attempt that is asked for. `pause` waits between two tries.
   */
  async start(operationId: string, pause: (wait_ms: number) => Promise<void>): Promise<Begun | undefined> {
    const { batches, log } = this.#context;
    const attemptId = this.#takeAsked(operationId) ?? newId(); // I2
    const waits = retryWaits();
    for (;;) {
      if (!this.mayBegin && !(await this.untilMayBegin(pause))) return undefined; // I1
      const held = { id: operationId, partition: this.#home.id, epoch: this.#home.epoch, attemptId };
      try {
        const start = await batches.start({ ...held, connectionId: this.#connectionId });
        if (start.kind === 'elsewhere') this.#home.doubt(operationId);
        if (start.kind === 'over' || start.kind === 'elsewhere') return undefined;
        if (start.kind === 'started') {
          return { held: { ...held, epoch: start.started.epoch }, started: start.started };
        }
      } catch (error) {
        log.warn({ err: error, operation_id: operationId }, 'operation: its start was not answered, asking again');
      }
      await pause(waits.next_ms());
    }
  }

  /** Whether an attempt may begin to run here now (I1): the answer to its start may have come after the lease ran out. */
  get mayBegin(): boolean {
    return this.#home.tenure === 'owned' && this.#context.lease.valid(this.#home.id);
  }

  /** Waits until it may; false when the partition is no longer this thread's to start in. */
  async untilMayBegin(pause: (wait_ms: number) => Promise<void>): Promise<boolean> {
    while (this.#home.tenure === 'owned' && !this.mayBegin) await pause(LIMITS.retry_ms);
    return this.#home.tenure === 'owned';
  }

  /** The end, with the start of this operation behind it. */
  withNext(end: Finish, operationId: string): Finish {
    const { id: partition, epoch, tenure } = this.#home;
    if (tenure !== 'owned' || !this.#context.lease.valid(partition)) return end; // I1
    if (this.#asked?.operationId !== operationId) this.#asked = { operationId, attemptId: newId() };
    const { attemptId } = this.#asked; // I2
    return { ...end, next: { id: operationId, partition, epoch, attemptId, connectionId: this.#connectionId } };
  }

  /** The attempt that started with an end. */
  begun(started: StartedOperation): Begun {
    const { operation_id: id, epoch } = started;
    const attemptId = this.#takeAsked(id);
    if (!attemptId) throw new Error(`operation ${id} started with an end, and was not asked for`);
    return { held: { id, partition: this.#home.id, epoch, attemptId }, started };
  }

  #takeAsked(operationId: string): string | undefined {
    if (this.#asked?.operationId !== operationId) return undefined;
    const { attemptId } = this.#asked;
    this.#asked = undefined;
    return attemptId;
  }
}
