import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Logger } from '../../storage/log.js';
import type { Provider } from '../../storage/model/records.js';
import type { StartedOperation } from '../../storage/operations/execution.js';
import { refusesValues } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { inputContext } from '../../storage/secrets/sealing.js';
import type { Capability } from '../capabilities/capability.js';
import { capabilityNamed } from '../capabilities/catalogue.js';
import type { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import { PROVIDERS } from '../provider-traits.js';
import { Attempt, type AttemptContext } from './attempt.js';
import type { Outcome, ProviderRuntime } from './execution.js';
import type { Finish } from './operation-batches.js';
import { endOf, fallbackOutcome, outcomeOfError } from './outcome.js';

/**
 * The actor of one connection: runs its operations one at a time, in the order they were accepted (OPS-3).
 *
 *     idle ──take──▶ starting ──row──▶ running ──outcome──▶ finishing ──▶ starting | idle
 *                        └─ no row (cancelled, gone, fenced): next one
 *
 * Owns: its mailbox of operation ids and the attempt that runs. The rows own everything else: dropping an actor at any
 * time loses nothing. Invariants: C1 at most one attempt at a time (and the index operation_lease says so too);
 * C2 nothing starts without a valid lease; C3 after `drop` nothing of it is stored; C4 the mailbox is bounded.
 */
export interface ActorContext extends AttemptContext {
  ring: KeyRing;
  lease: LeaseCell;
  log: Logger;
  providers: Record<Provider, ProviderRuntime>;
  counters: { started: number; finished: Record<string, number> };
  /** Health or session of the connection changed: its listener must be looked at. */
  changed(connectionId: string): void;
  /** What the actors of the partition hold together; each counts its own changes. */
  load: { waiting: number; running: number };
  /** The actor has nothing left to do and may be forgotten. */
  idle(actor: ConnectionActor): void;
}

export class ConnectionActor {
  #mailbox: string[] = [];
  #attempt: Attempt | undefined;
  #working = false;
  #dropped = false;
  #stopping = false;

  constructor(
    readonly connectionId: string,
    readonly partition: number,
    readonly epoch: number,
    private readonly context: ActorContext,
  ) {}

  /** Operations waiting, not counting the one that runs. */
  get waiting(): number {
    return this.#mailbox.length;
  }

  get running(): boolean {
    return this.#working;
  }

  take(operationId: string): void {
    this.#mailbox.push(operationId);
    this.context.load.waiting++;
    if (!this.#working) void this.#work();
  }

  cancel(operationId: string): void {
    if (this.#attempt?.operationId === operationId) this.#attempt.interrupt('canceled');
  }

  code(operationId: string, challengeId: string, code: string): void {
    if (this.#attempt?.operationId === operationId) this.#attempt.code(challengeId, code);
  }

  /** The id of the operation that waits for its user, if one does. */
  get waitingForUser(): string | undefined {
    return this.#attempt?.status === 'waiting_user' ? this.#attempt.operationId : undefined;
  }

  /** The partition is lost: stop at once and store nothing. */
  drop(): void {
    this.#dropped = true;
    this.#empty();
    this.#attempt?.interrupt('fenced');
  }

  /**
   * Start nothing more. What is past its write boundary may end; anything else is broken off and left to the next owner,
   * whose recovery queues it again, so that a hand-over takes no longer than the writes under way.
   */
  stop(): void {
    this.#stopping = true;
    this.#empty();
    if (!this.#attempt?.pastBoundary) this.#attempt?.interrupt('shutdown');
  }

  #empty(): void {
    this.context.load.waiting -= this.#mailbox.length;
    this.#mailbox = [];
  }

  async #work(): Promise<void> {
    const { load } = this.context;
    this.#working = true;
    load.running++;
    for (;;) {
      const operationId = this.#mailbox.shift();
      if (operationId === undefined) break;
      load.waiting--;
      try {
        await this.#execute(operationId);
      } catch (error) {
        // The database did not answer: the operation keeps its place.
        this.context.log.error({ err: error, operation_id: operationId }, 'execution interrupted, trying again');
        await delay(LIMITS.retry_ms);
        if (this.#dropped || this.#stopping) continue;
        this.#mailbox.unshift(operationId);
        load.waiting++;
      }
    }
    this.#working = false;
    load.running--;
    this.context.idle(this);
  }

  async #execute(operationId: string): Promise<void> {
    for (let number = 1; ; number++) {
      while (!this.context.lease.valid && !this.#dropped) await delay(LIMITS.retry_ms);
      if (this.#dropped || this.#stopping) return;
      const held = { id: operationId, partition: this.partition, epoch: this.epoch, attemptId: uuidv7() };
      const started = await this.context.batches.start({
        ...held,
        connectionId: this.connectionId,
        phase: 'preparing',
      });
      if (!started) return;
      this.context.counters.started++;
      const again = await this.#attemptOnce(held, started, number);
      if (!again) return;
      const wait_ms = LIMITS.retry_ms * 2 ** (number - 1);
      await delay(wait_ms + Math.random() * (wait_ms / 2));
    }
  }

  /** True when the operation is queued again and should be tried once more. */
  async #attemptOnce(held: Held, started: StartedOperation, number: number): Promise<boolean> {
    const { context } = this;
    const capability = capabilityNamed(started.capability);
    if (!capability) throw new Error(`operation ${held.id} names an unknown capability`);
    const input = started.input ?? this.#openInput(held.id, started);
    const attempt = new Attempt(context, held, started, capability, input ?? {});
    this.#attempt = attempt;
    let outcome: Outcome;
    try {
      const refusal = input === undefined ? INPUT_LOST : notReady(capability, started);
      outcome = refusal ?? (await context.providers[started.provider].run(attempt));
    } catch (error) {
      const meant = outcomeOfError(error, attempt, capability);
      if (meant.status === 'abandoned') return false;
      if (meant.status === 'unexpected') {
        context.log.error({ err: error, operation_id: held.id, capability: capability.name }, 'execution failed');
        outcome = meant.outcome;
      } else outcome = meant;
    } finally {
      attempt.close();
      this.#attempt = undefined;
    }
    if (this.#dropped) return false;
    if (outcome.status !== 'succeeded') {
      await attempt.dropFile().catch((error) => {
        context.log.warn({ err: error, operation_id: held.id }, 'parts of a file are left over');
      });
    }
    const retry =
      outcome.status === 'failed' &&
      outcome.transient === true &&
      capability.kind === 'read' &&
      number < LIMITS.read_attempts &&
      attempt.status === 'running';
    const end = endOf(held, attempt, outcome, retry, context.ring);
    await this.#store(end, () => endOf(held, attempt, fallbackOutcome(attempt, capability), false, context.ring));
    return retry;
  }

  /** Stores the end of an attempt, `instead` where the database will never take it. */
  async #store(end: Finish, instead: () => Finish): Promise<void> {
    const { context } = this;
    const { id: operationId } = end.operation;
    let stored = end;
    for (;;) {
      try {
        if (await context.batches.finish(stored)) break;
        // Fenced; or the database crashed and lost the start: then the operation is queued as before, and this holds its job.
        if (!this.#dropped && !this.#stopping) this.take(operationId);
        return;
      } catch (error) {
        context.log.error({ err: error, operation_id: operationId }, 'outcome could not be stored');
        // While the lease lasts the outcome is only ours to store; after it, recovery decides.
        if (this.#dropped || !context.lease.valid) return;
        if (stored === end && refusesValues(error)) stored = instead();
        else await delay(LIMITS.retry_ms);
      }
    }
    const { to } = stored.operation;
    if (to === 'queued') return;
    context.counters.finished[to] = (context.counters.finished[to] ?? 0) + 1;
    context.settled(operationId);
    if (stored.change) context.changed(this.connectionId);
  }

  /** The stored input of a sealed operation; undefined when no key of the ring opens it. */
  #openInput(operationId: string, started: StartedOperation): Record<string, unknown> | undefined {
    try {
      const opened = this.context.ring.open(started.input_sealed as Buffer, inputContext(operationId));
      return JSON.parse(opened.toString('utf8')) as Record<string, unknown>;
    } catch (error) {
      this.context.log.error({ err: error, operation_id: operationId }, 'input cannot be opened');
      return undefined;
    }
  }
}

interface Held {
  id: string;
  partition: number;
  epoch: number;
  attemptId: string;
}

const INPUT_LOST: Outcome = {
  status: 'failed',
  failure: { code: 'internal_error', details: { reason: 'input_unreadable', retryable: false } },
};

/** OPS-6: what the connection must be when the turn comes. */
function notReady(capability: Capability, connection: StartedOperation): Outcome | undefined {
  const ready = connection.health === 'ready';
  const recruiter =
    !PROVIDERS[connection.provider].verifiesRecruiter ||
    (connection.recruiter_health === 'ready' && connection.recruiter_verified_revision === connection.state_revision);
  switch (capability.needs) {
    case 'nothing':
      return undefined;
    case 'session':
      return ready ? undefined : refused('connection_not_ready', connection.health);
    case 'recruiter':
      if (!ready) return refused('connection_not_ready', connection.health);
      return recruiter ? undefined : refused('recruiter_not_ready', connection.recruiter_health);
  }
}

const refused = (code: 'connection_not_ready' | 'recruiter_not_ready', health: string): Outcome => ({
  status: 'failed',
  failure: { code, details: { health } },
});
