import { setTimeout as delay } from 'node:timers/promises';
import type { Look } from '../../../browser-pool/contract/look.js';
import type { OperationErrorCode } from '../../../storage/model/error-codes.js';
import { OperationError } from '../../../storage/model/errors.js';
import { type LookRequest, openLook, storeLook, withdrawLook } from '../../../storage/operations/looks.js';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import { isRefusedForNow, isUnreachable } from '../../../storage/postgres/liveness.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { capabilityNamed } from '../../capabilities/catalogue.js';
import { LIMITS } from '../../limits.js';
import { retrying, retryWaits } from '../../retry.js';
import { type Failed, Interrupted, type LookEnd, type LookExecution } from './execution.js';
import { notReady } from './readiness.js';
import { type RunContext, storedInput } from './run-attempt.js';

/** A look as the operation keeps it. */
export interface KeptLook {
  /** When it began; ISO 8601. A later write is not in it. */
  at: string;
  /** How much was found: `none`, `one`, `several`; null when it cannot be told. */
  found: Look['found'];
  /** Why `found` is null: the failure, or that more was written since than a look reads. */
  reason: OperationErrorCode | 'too_many_newer' | null;
  /** What was found, the newest first; at most ten. */
  matches: Look['matches'];
}

/**
 * One look in its connection's turn (OPS-22): opens what is sought, lets the provider read, as often as a read is tried, and stores
 * what came of it. It changes nothing else: neither the operation's status nor the connection.
 *
 * I1. Without a valid lease nothing begins; once interrupted nothing is stored, and the request stands for the next owner.
 * I2. Every try reads the rows anew: when its session was fenced meanwhile, the next one has the new session, or there is none to
 *     look with and the request ends without a look.
 */
export class LookRun {
  readonly #context: RunContext;
  /** Its epoch is the one of now: it may move while the provider reads. */
  readonly #home: Readonly<OwnedPartition>;
  readonly #request: LookRequest;
  readonly #stop = new AbortController();
  /** Runs while the provider reads. */
  readonly #deadline = new Deadline(LIMITS.look_ms, () => new Interrupted('deadline'));

  constructor(context: RunContext, home: Readonly<OwnedPartition>, request: LookRequest) {
    this.#context = context;
    this.#home = home;
    this.#request = request;
    this.#deadline.pause();
  }

  /** Looks. True when this ended the request; never rejects: one that still stands is found again by the next poll. */
  async run(): Promise<boolean> {
    const { db, awaitable, counters, log } = this.#context;
    const home = this.#home;
    const request = this.#request;
    try {
      const look = await this.#look();
      const end = () => (look ? storeLook(db, request, home, look) : withdrawLook(db, request));
      const ended = await this.#ask(end);
      awaitable(request.operation_id);
      if (look && ended) counters.looked(look);
      return ended;
    } catch (error) {
      if (!(error instanceof Interrupted))
        log.error({ err: error, operation_id: request.operation_id }, 'look: it failed');
      return false;
    } finally {
      this.#deadline.stop();
    }
  }

  /** Ends it from outside. */
  interrupt(reason: 'fenced' | 'shutdown'): void {
    this.#stop.abort(new Interrupted(reason)); // I1
  }

  /** Undefined when there is nothing to look at, or no session to look with. */
  async #look(): Promise<KeptLook | undefined> {
    const waits = retryWaits();
    for (let number = 1; ; number++) {
      while (!this.#context.lease.valid(this.#home.id)) await this.#pause(LIMITS.retry_ms); // I1
      const opened = await this.#open(); // I2
      if (!opened) return undefined;
      const at = new Date().toISOString();
      const end = 'failure' in opened ? opened : await this.#lookOnce(opened);
      if (end.status === 'looked') {
        return { at, ...end.look, reason: end.look.found === null ? 'too_many_newer' : null };
      }
      const { failure, transient } = end;
      const again = (transient || failure.code === 'session_fenced') && number < LIMITS.read_attempts; // OPS-4
      if (!again) return { at, found: null, reason: failure.code, matches: [] };
      await this.#pause(waits.next_ms());
    }
  }

  /** What is sought, and with which connection. Nothing else of the stored input is held while the provider reads: it may be large. */
  async #open(): Promise<Opened | Failed | undefined> {
    const { db, ring } = this.#context;
    const found = await this.#ask(() => openLook(db, this.#request));
    const capability = found && capabilityNamed(found.capability);
    if (!found || !capability?.sought || notReady(capability, found)) return undefined;
    const { input, input_sealed, started_at, ...connection } = found;
    try {
      const sought = capability.sought(storedInput(ring, found.operation_id, { input, input_sealed }));
      return { connection, sought, since_ms: Date.parse(started_at) - LIMITS.look_clock_ms };
    } catch (error) {
      return this.#failureOf(error);
    }
  }

  async #lookOnce({ connection, sought, since_ms }: Opened): Promise<LookEnd> {
    const deadline = this.#deadline;
    deadline.resume();
    try {
      return await this.#context.providers[connection.provider].look({
        ...{ operationId: this.#request.operation_id, epoch: this.#home.epoch, connection, sought, since_ms },
        signal: AbortSignal.any([this.#stop.signal, deadline.signal]),
        remaining_ms: deadline.remaining_ms,
        pauseClock: () => deadline.pause(),
        resumeClock: () => deadline.resume(),
      });
    } catch (error) {
      return this.#failureOf(error);
    } finally {
      deadline.pause();
      this.#stop.signal.throwIfAborted(); // I1
    }
  }

  #failureOf(error: unknown): Failed {
    if (error instanceof Interrupted) {
      // Of others than the deadline only a connection that went meanwhile: there is nothing to look with.
      return failed(error.reason === 'deadline' ? 'deadline_exceeded' : 'session_fenced');
    }
    if (error instanceof OperationError) return failed(error.code);
    const transient = isUnreachable(error) || isRefusedForNow(error);
    if (!transient) this.#log('error', error, 'look: it failed');
    return { ...failed('internal_error'), transient };
  }

  async #pause(wait_ms: number): Promise<void> {
    const { signal } = this.#stop;
    await delay(wait_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  /** Asks the rows, again and again while the answer is lost; rejects once it is interrupted. */
  #ask<T>(ask: () => Promise<T>): Promise<T> {
    this.#stop.signal.throwIfAborted();
    return retrying(ask, (error) => {
      this.#stop.signal.throwIfAborted();
      if (!isUnreachable(error) && !isRefusedForNow(error)) throw error;
      this.#log('debug', error, 'operation: its row did not answer, asking again');
    });
  }

  #log(level: 'debug' | 'error', error: unknown, text: string): void {
    this.#context.log[level]({ err: error, operation_id: this.#request.operation_id }, text);
  }
}

/** What a look needs of its rows. */
type Opened = Pick<LookExecution, 'connection' | 'sought' | 'since_ms'>;

const failed = (code: OperationErrorCode): Failed => ({ status: 'failed', failure: { code } });
