import { newId } from '../../storage/model/new-id.js';
import type { StartedOperation } from '../../storage/operations/starts.js';
import { LIMITS } from '../limits.js';
import { retryWaits } from '../retry.js';
import type { Finish } from './operation-batches.js';
import type { Begun, RunContext } from './run-attempt.js';

/** The partition, as far as starts depend on it. */
export interface StartHome {
  readonly id: number;
  readonly epoch: number;
  /** `stopping`: start nothing more; `dropped`: store nothing more. */
  readonly tenure: 'owned' | 'stopping' | 'dropped';
}

/**
 * Starts the attempts of one connection's operations: by a statement of their own, or with the end of the operation before.
 *
 * Invariants: I1 nothing is asked to start without a valid lease; I2 an attempt keeps its id from the first time it is asked for until it is
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
   * Starts the next attempt; undefined when the operation is over, or the partition no longer this thread's to start in. While the
   * answer is lost, or the operation is still queued because a row was locked or the epoch has passed, it is the same
   * attempt that is asked for. `pause` waits between two tries.
   */
  async start(operationId: string, pause: (wait_ms: number) => Promise<void>): Promise<Begun | undefined> {
    const { batches, lease, log } = this.#context;
    const attemptId = this.#takeAsked(operationId) ?? newId(); // I2
    const waits = retryWaits();
    for (;;) {
      while (!lease.valid(this.#home.id) && this.#home.tenure === 'owned') await pause(LIMITS.retry_ms); // I1
      if (this.#home.tenure !== 'owned') return undefined;
      const held = { id: operationId, partition: this.#home.id, epoch: this.#home.epoch, attemptId };
      try {
        const start = await batches.start({ ...held, connectionId: this.#connectionId });
        if (start.kind === 'over') return undefined;
        if (start.kind === 'started') {
          return { held: { ...held, epoch: start.started.epoch }, started: start.started };
        }
      } catch (error) {
        log.warn({ err: error, operation_id: operationId }, 'the start was not answered, asking again');
      }
      await pause(waits.next_ms());
    }
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
