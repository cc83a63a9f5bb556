import { setTimeout as delay } from 'node:timers/promises';
import { timeOfId } from '../../storage/model/id-time.js';
import type { LookRequest } from '../../storage/operations/looks.js';
import type { StartedOperation } from '../../storage/operations/starts.js';
import type { Backoff } from '../../storage/process/backoff.js';
import type { FairSlots } from '../../storage/process/fair-slots.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { LeaseCell } from '../lease.js';
import { retryWaits } from '../retry.js';
import type { GivenCode } from '../system.js';
import type { Attempt } from './attempt/attempt.js';
import { AttemptStarts, type StartHome } from './attempt/attempt-starts.js';
import { LookRun } from './attempt/look-run.js';
import type { Finish } from './attempt/operation-batches.js';
import { OperationRunner, type RunnerContext, type RunState } from './attempt/operation-runner.js';
import type { Begun } from './attempt/run-attempt.js';
import { Mailbox } from './mailbox.js';
import type { QueuedHere } from './mailbox-reader.js';

/** What a connection's actor needs from its thread. */
export interface ActorContext extends RunnerContext {
  lease: LeaseCell;
  /** Slots of attempts with large inputs, between workspaces. */
  largeAttempts: FairSlots;
  /** A look was answered: the connection may take the next one. */
  looked(): void;
  /** Each state that an actor enters. */
  onActorState?(connectionId: string, kind: ActorState['kind']): void;
}

/** What a connection's actor needs from its partition. */
export interface ActorHome extends StartHome {
  /** What the actors of the partition hold together; each counts its own changes. */
  readonly load: { waiting: number; running: number };
  /** An operation of the actor is over. */
  ended(actor: ConnectionActor): void;
  /** The actor has nothing left to do and may leave memory. */
  idle(actor: ConnectionActor): void;
}

type ActorState = { kind: 'idle' | 'reserved' } | RunState | { kind: 'looking'; run: LookRun };

const STEPS: Steps<ActorState['kind']> = {
  idle: ['reserved', 'starting', 'looking'],
  reserved: ['running', 'starting', 'waiting', 'looking', 'idle'],
  starting: ['starting', 'running', 'finishing', 'waiting', 'looking', 'idle'],
  running: ['finishing'],
  finishing: ['starting', 'running', 'waiting', 'looking', 'idle'],
  waiting: ['starting', 'looking', 'idle'],
  looking: ['starting', 'idle'],
};

/**
 * The actor of one connection: runs its operations one at a time, in the order they were accepted (OPS-3).
 *
 *     idle ─take─▶ starting ─row─▶ running ─outcome─▶ finishing ─▶ starting (the next one) | idle
 *                     ├─ no row (cancelled, gone, fenced): starting | idle
 *                     ├─ a capability of another version ─▶ finishing
 *     idle ─reserve─▶ reserved ─ begin: stored as running ─▶ running
 *                        └─ release: not stored so ─▶ starting (what was taken meanwhile) | idle
 *     finishing ─ the next one started with the end ─▶ running
 *     starting, finishing ─ a read is tried again, the database failed or lost the start ─▶ waiting ─▶ starting
 *     reserved, finishing ─ its attempt started, and the lease has run out ─▶ starting, until it may begin
 *     between two operations ─ a look was asked for ─▶ looking ─▶ starting | idle
 *
 * Owns: its mailbox of operation ids, the attempt that runs, and a look (OPS-22). Its partition owns whether it may start and store. The rows
 * own everything else: dropping an actor at any time loses nothing. No operation leaves its hand before its row shows that it is
 * over, whatever answer was lost. Invariants: I1 at most one attempt at a time, and the partition's epoch keeps every other owner out; I2 after
 * `drop` nothing of it is stored; I3 an attempt with a large input has a slot of the thread's before it starts and until it has ended: in the
 * mailbox such an operation is its id alone; I4 a look is made while no attempt runs, and looks and operations take turns.
 */
export class ConnectionActor {
  readonly connectionId: string;
  readonly #home: ActorHome;
  readonly #context: ActorContext;
  readonly #starts: AttemptStarts;
  readonly #runner: OperationRunner;
  readonly #mailbox: Mailbox;
  /** Those of its operations whose inputs are large. */
  readonly #large = new Set<string>();
  /** Ends every wait when nothing more is to start. */
  readonly #stop = new AbortController();
  #state: ActorState = { kind: 'idle' };
  #workspaceId: string | undefined;
  /** What runs already, and is to be worked on next. */
  #begun: Begun | undefined;
  /** The look that waits for its turn or has it. */
  #look: LookRequest | undefined;

  constructor(connectionId: string, home: ActorHome, context: ActorContext) {
    this.connectionId = connectionId;
    this.#home = home;
    this.#context = context;
    this.#mailbox = new Mailbox(home.load);
    this.#starts = new AttemptStarts(connectionId, home, context);
    const owner = {
      connectionId,
      enter: (state: RunState) => this.#enter(state),
      pause: (wait_ms: number) => this.#pause(wait_ms),
      withSlot: <T>(id: string, work: () => Promise<T>) => this.#withSlot(id, work),
      withNext: (end: Finish) => this.#withNext(end),
      beginNext: (started: StartedOperation) => this.#beginNext(started),
    };
    this.#runner = new OperationRunner(owner, home, this.#starts, context);
  }

  /** The workspace of the connection; undefined until it has had anything in hand: it may be reserved for what is refused. */
  get workspaceId(): string | undefined {
    return this.#workspaceId;
  }

  /** When the operation that has waited here for the longest was accepted, in milliseconds since 1970; undefined without one. */
  get waitingSince_ms(): number | undefined {
    const id = this.#mailbox.first;
    return id === undefined ? undefined : timeOfId(id);
  }

  /** True while its operation waits for its user. */
  get waitsForUser(): boolean {
    return this.#attempt?.status === 'waiting_user';
  }

  /** Operations waiting, not counting the one that runs. */
  get waiting(): number {
    return this.#mailbox.size;
  }

  get running(): boolean {
    return this.#state.kind !== 'idle';
  }

  /** True while it has a look in hand. */
  get looking(): boolean {
    return this.#look !== undefined;
  }

  /** The id of the operation whose attempt runs or waits for its user, if one does. */
  get attempting(): string | undefined {
    return this.#attempt?.operationId;
  }

  /** The operations that this actor has in hand: those that wait, and the one it works on. */
  get inHand(): string[] {
    const state = this.#state;
    const current = 'operationId' in state ? state.operationId : this.attempting;
    return [current ?? [], this.#begun?.held.id ?? [], this.#mailbox.ids].flat();
  }

  take({ id, large, workspaceId }: Pick<QueuedHere, 'id' | 'large' | 'workspaceId'>): void {
    this.#workspaceId = workspaceId;
    if (large) this.#large.add(id);
    this.#mailbox.push(id);
    if (this.#state.kind === 'idle') this.#rouse(); // I1
  }

  /** Keeps the actor for an operation that is being stored, if it has nothing in hand. Operations that it takes meanwhile wait. */
  reserve(): boolean {
    if (this.#state.kind !== 'idle') return false;
    this.#enter({ kind: 'reserved' });
    this.#home.load.running++;
    return true;
  }

  /** The operation that it was reserved for runs: its first attempt was stored with it. */
  begin(begun: Begun): void {
    this.#workspaceId = begun.started.workspace_id;
    this.#begun = begun;
    void this.#work(); // I1
  }

  /** There is no such operation. */
  release(): void {
    void this.#work();
  }

  /** Takes a look, unless it has one in hand. */
  look(request: LookRequest): void {
    if (this.looking) return;
    this.#workspaceId = request.workspace_id;
    this.#look = request;
    if (this.#state.kind === 'idle') this.#rouse(); // I4
  }

  cancel(operationId: string): void {
    if (this.#attempt?.operationId === operationId) this.#attempt.interrupt('canceled');
  }

  code(operationId: string, given: GivenCode): void {
    if (this.#attempt?.operationId === operationId) this.#attempt.code(given);
  }

  /** The partition is lost: stop at once and store nothing. */
  drop(): void {
    this.#clear();
    this.#attempt?.interrupt('fenced');
    if (this.#state.kind === 'looking') this.#state.run.interrupt('fenced');
  }

  /**
   * Start nothing more. An attempt past its write boundary may end; anything else is interrupted and left to the next owner,
   * whose recovery queues it again, so that a hand-over takes no longer than the writes under way.
   */
  stop(): void {
    this.#clear();
    if (!this.#attempt?.pastBoundary) this.#attempt?.interrupt('shutdown');
    if (this.#state.kind === 'looking') this.#state.run.interrupt('shutdown');
  }

  /** Nothing more is to start. */
  #clear(): void {
    this.#mailbox.clear();
    this.#begun = undefined;
    this.#look = undefined;
    this.#stop.abort();
  }

  get #attempt(): Attempt | undefined {
    return this.#state.kind === 'running' ? this.#state.attempt : undefined;
  }

  /** Waits; not when nothing more is to start. */
  async #pause(wait_ms: number): Promise<void> {
    await delay(wait_ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  #enter(state: ActorState): void {
    checkStep('a connection actor', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#context.onActorState?.(this.connectionId, state.kind);
  }

  #rouse(): void {
    this.#home.load.running++;
    void this.#work();
  }

  /** Until nothing is left in hand. */
  async #work(): Promise<void> {
    const waits = retryWaits();
    while (this.#begun || this.#look || this.#mailbox.size > 0) {
      const begun = this.#begun;
      this.#begun = undefined;
      if (!begun && this.#look) await this.#lookFor(this.#look); // I4
      const id = begun ? begun.held.id : this.#mailbox.shift();
      if (id !== undefined) await this.#runOne(id, waits, begun);
    }
    this.#enter({ kind: 'idle' });
    this.#home.load.running--;
    this.#home.idle(this);
  }

  async #lookFor(request: LookRequest): Promise<void> {
    const run = new LookRun(this.#context, this.#home, request);
    this.#enter({ kind: 'looking', run });
    const ended = await run.run();
    this.#look = undefined;
    if (ended) this.#context.looked();
  }

  /** Executes the operation, or waits a while and puts it back to its place in the mailbox. */
  async #runOne(id: string, waits: Backoff, begun?: Begun): Promise<void> {
    if (await this.#runner.run(id, begun)) {
      this.#large.delete(id);
      this.#home.ended(this);
      waits.reset();
      return;
    }
    this.#enter({ kind: 'waiting', operationId: id });
    await this.#pause(waits.next_ms());
    if (this.#home.tenure === 'owned') this.#mailbox.putBack(id);
  }

  /** I3. When nothing more is to start, it goes on without a slot, and starts nothing. */
  async #withSlot<T>(operationId: string, work: () => Promise<T>): Promise<T> {
    if (this.#workspaceId === undefined || !this.#large.has(operationId)) return work();
    const slot = this.#context.largeAttempts.acquire(this.#workspaceId, this.#stop.signal);
    const release = await slot.catch(() => undefined);
    try {
      return await work();
    } finally {
      release?.();
    }
  }

  /** The end, with the start of what waits behind it: not where the connection changes with it, or something goes between. */
  #withNext(end: Finish): Finish {
    const id = this.#mailbox.first;
    if (id === undefined || this.#large.has(id)) return end; // I3
    return end.change || end.operation.to === 'queued' || this.#look ? end : this.#starts.withNext(end, id); // I4
  }

  /** It is the first of the mailbox still, unless nothing more is to run here. */
  #beginNext(started: StartedOperation): void {
    if (this.#mailbox.first !== started.operation_id) return;
    this.#mailbox.shift();
    this.#begun = this.#starts.begun(started);
  }
}
