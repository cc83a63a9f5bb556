import type { LookRequest } from '../../../storage/operations/looks.js';
import { type Closing, closeMailboxes, type OpenMailbox } from '../../../storage/operations/mailboxes.js';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import { outcomeUnknown } from '../../../storage/postgres/liveness.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { LIMITS } from '../../limits.js';
import type { Begun } from '../attempt/run-attempt.js';
import { type ActorContext, type ActorHome, ConnectionActor } from '../connection-actor.js';
import { inOrder, type MailboxReader, type QueuedHere } from '../mailbox-reader.js';
import { Mailboxes } from './mailboxes.js';
import type { PendingStores } from './pending-stores.js';

/** What a partition needs from its thread. */
export interface PartitionContext extends ActorContext {
  reader: MailboxReader;
  pendingStores: PendingStores;
  /**
   * Asks the node to take the partition again under its next epoch, but for the operations in hand. `renewed` follows, or the
   * loss of the partition.
   */
  reconcile(partition: OwnedPartition, inHand: string[]): void;
  /** Each state that a partition enters. */
  onPartitionState?(id: number, kind: PartitionState['kind']): void;
}

interface Fetching {
  kind: 'fetching';
  /** A fetch was asked for meanwhile. */
  again: boolean;
  /** Handed over meanwhile: what the fetch brings was accepted before, or stands between. */
  handed: QueuedHere[];
}

type PartitionState = Fetching | { kind: 'ready' | 'renewing' | 'stopping' | 'dropped' };

const STEPS: Steps<PartitionState['kind']> = {
  ready: ['fetching', 'renewing', 'stopping', 'dropped'],
  fetching: ['ready', 'renewing', 'stopping', 'dropped'],
  renewing: ['ready', 'stopping', 'dropped'],
  stopping: ['dropped'],
  dropped: [],
};

/**
 * One partition while this thread owns it: its connections' mailboxes, and the way from the rows to them.
 *
 *     ready     the committer hands operations over to mailboxes that are open; what others accept makes mailboxes due
 *     fetching  mailboxes that are due are opened, and what is queued in them is read; what is handed over waits for it
 *     renewing  its rows may show mailboxes as open that nobody has in hand, because an answer was lost: the node takes it again under
 *               its next epoch, which ends every statement under way, and makes all mailboxes due. What is in hand runs on
 *     stopping  given up: nothing more is started, what is past its write boundary may end
 *     dropped   lost: nothing more is stored
 *
 *     ready ⇄ fetching        ready, fetching ─ doubt() ─▶ renewing ─ renewed() ─▶ ready
 *                             ready, fetching, renewing ─▶ stopping ─▶ dropped
 *                                   └────────────────────────────────────▲
 *
 * Operations that arrive while it is renewing, stopping or dropped are ignored: their mailboxes stay open in the rows, and the recovery under
 * the next epoch makes them due. Invariants: I1 an operation is in at most one mailbox, once; I2 nothing overtakes: what is read and what is
 * handed over go into a mailbox in one order, and what is read is all that was queued at one moment; I3 at most LIMITS.partition_operations
 * wait in memory, and at most LIMITS.mailbox_operations of them for one connection; I4 no mailbox is opened while its actor is reserved: what is being stored for it as
 * running would overtake what is read. It is opened as soon as the actor is not; I5 what this thread stores and has no answer of is read
 * with what is new: who was told of it by another node may have stored what is new after it.
 */
export class Partition implements ActorHome {
  readonly id: number;
  readonly load = { waiting: 0, running: 0 };
  readonly #context: PartitionContext;
  readonly #mailboxes: Mailboxes<ConnectionActor>;
  readonly #quiesced = Promise.withResolvers<void>();
  /** The connections whose actors are reserved. True: its mailbox was due, and was passed by (I4). */
  readonly #reserved = new Map<string, boolean>();
  #epoch: number;
  #state: PartitionState = { kind: 'ready' };
  /** A fetch was left because the memory was full (I3). */
  #left = false;

  constructor({ id, epoch }: OwnedPartition, context: PartitionContext) {
    this.id = id;
    this.#epoch = epoch;
    this.#context = context;
    this.#mailboxes = new Mailboxes((connectionId) => new ConnectionActor(connectionId, this, context));
  }

  /** What starts now starts under it. */
  get epoch(): number {
    return this.#epoch;
  }

  get tenure(): ActorHome['tenure'] {
    const { kind } = this.#state;
    return kind === 'stopping' || kind === 'dropped' ? kind : 'owned';
  }

  /** True when new operations may be stored for `hand`. */
  get direct(): boolean {
    const { kind } = this.#state;
    return (kind === 'ready' || kind === 'fetching') && this.waiting < LIMITS.partition_operations; // I3
  }

  /** Operations in mailboxes. */
  get waiting(): number {
    return this.load.waiting;
  }

  /** Actors in memory. */
  get size(): number {
    return this.#mailboxes.size;
  }

  /** Connections at work. */
  get running(): number {
    return this.load.running;
  }

  /** True when this connection's mailbox takes no more, and a submission is refused (I3, HTTP-13). */
  full(connectionId: string): boolean {
    return (this.actor(connectionId)?.waiting ?? 0) >= LIMITS.mailbox_operations;
  }

  actor(connectionId: string): ConnectionActor | undefined {
    return this.#mailboxes.actor(connectionId);
  }

  actors(): Iterable<ConnectionActor> {
    return this.#mailboxes.actors();
  }

  /** An operation of this connection is being stored: until `stored`, its mailbox is not closed. True when it is open. */
  storing(connectionId: string): boolean {
    return this.#mailboxes.storing(connectionId);
  }

  stored(connectionId: string): void {
    this.#mailboxes.stored(connectionId);
  }

  /**
   * Takes a new operation that was stored under this epoch, for a mailbox that is open. `version`: of the mailbox's job, where it was not open
   * before.
   */
  hand(operation: QueuedHere, epoch: number, version?: string): void {
    if (!this.#takes(epoch) || this.#context.pendingStores.wasFound(operation.id)) return; // its mailbox is made due, or it is in hand (I1)
    const actor = this.#mailboxes.open(operation.connectionId, version);
    if (this.#state.kind === 'fetching')
      this.#state.handed.push(operation); // I2
    else actor.take(operation);
  }

  /**
   * Reserves the actor of this connection for an operation that is being stored, which is to run at once: `begin` or `release` follows.
   * False when it has anything in hand, or something may stand before.
   */
  reserve(connectionId: string): boolean {
    if (this.#state.kind !== 'ready' || !this.#context.lease.valid(this.id)) return false; // I4
    if (!this.#mailboxes.of(connectionId).reserve()) return false;
    this.#reserved.set(connectionId, false);
    return true;
  }

  /** The operation was stored, and runs under this epoch; `handed`: its mailbox is open, as with `hand`. Its actor was reserved for it. */
  begin(begun: Begun, epoch: number, handed: boolean, version?: string): void {
    const connectionId = begun.started.id;
    if (this.#takes(epoch)) {
      const actor = handed ? this.#mailboxes.open(connectionId, version) : this.#mailboxes.of(connectionId);
      actor.begin(begun);
      this.#unreserve(connectionId);
    } else this.release(connectionId); // recovery queues it again
  }

  /** Nothing that could run at once was stored. */
  release(connectionId: string): void {
    this.actor(connectionId)?.release();
    this.#unreserve(connectionId);
  }

  /** What was stored under this epoch may be taken. */
  #takes(epoch: number): boolean {
    return epoch === this.#epoch && (this.#state.kind === 'ready' || this.#state.kind === 'fetching');
  }

  #unreserve(connectionId: string): void {
    const passedBy = this.#reserved.get(connectionId);
    this.#reserved.delete(connectionId);
    if (passedBy) void this.fetch(); // I4
  }

  /** The connections that have a look in hand. */
  get looking(): string[] {
    return [...this.actors()].filter(({ looking }) => looking).map(({ connectionId }) => connectionId);
  }

  /** Takes a look that was asked for. */
  look(request: LookRequest): void {
    if (this.tenure !== 'owned') return;
    this.#mailboxes.of(request.connection_id).look(request);
  }

  /** Opens the mailboxes that are due, as far as memory allows. Calls that come meanwhile are answered by one more round. */
  async fetch(): Promise<void> {
    const state = this.#state;
    switch (state.kind) {
      case 'fetching':
        state.again = true;
        return;
      case 'ready':
        await this.#fetchAll({ kind: 'fetching', again: false, handed: [] });
        return;
      case 'renewing':
      case 'stopping':
      case 'dropped':
        return;
      default:
        state satisfies never;
    }
  }

  /** True when its rows can be compared with what it has in hand: nothing is on the way between them. */
  get comparable(): boolean {
    return this.#state.kind === 'ready';
  }

  /** True while an operation of this connection is being stored: the rows may show more than is known here. */
  isStoring(connectionId: string): boolean {
    return this.#mailboxes.isStoring(connectionId);
  }

  /** True while this connection's mailbox is open, or being closed. */
  isHeld(connectionId: string): boolean {
    return this.#mailboxes.isHeld(connectionId);
  }

  /** The connections whose mailboxes are open, and must have jobs. */
  get openMailboxes(): Iterable<string> {
    return this.#mailboxes.openOnes();
  }

  /** The operations in hand. */
  get inHand(): string[] {
    return [...this.actors()].flatMap((actor) => actor.inHand);
  }

  /** The mailboxes to close now: those with nothing in hand for a while, those whose marks are far behind, and those of which it is not known. */
  toClose(now_ms: number): OpenMailbox[] {
    const state = this.#state;
    if (state.kind !== 'ready' && state.kind !== 'fetching') return [];
    const arriving = new Set(state.kind === 'fetching' ? state.handed.map(({ connectionId }) => connectionId) : []);
    return this.#mailboxes.toClose(now_ms, arriving).map(({ actor, version, from }) => ({
      ...{ connectionId: actor.connectionId, partition: this.id, epoch: this.#epoch, version, from },
    }));
  }

  /** What became of a mailbox that was to be closed; undefined: it is not known. */
  closed({ connectionId, epoch }: OpenMailbox, closed: Closing | undefined): void {
    if (epoch !== this.#epoch) return;
    // While mailboxes are being opened, its version may be that of an opening whose operations are not read yet: nothing is closed by that.
    const known = closed?.kind === 'left' && !this.comparable ? undefined : closed;
    this.#mailboxes.closed(connectionId, known);
    if (closed?.kind === 'left') void this.fetch(); // it may have been made due, and an opening passed a locked job by
  }

  /**
   * An answer was lost, or rows and memory disagree: the partition is to be taken again under its next epoch, but for what is in hand. `lost` is
   * in no hand any more.
   */
  doubt(lost?: string): void {
    if (this.tenure !== 'owned' || this.#state.kind === 'renewing') return;
    this.#enter({ kind: 'renewing' });
    this.#mailboxes.closeAll();
    const inHand = this.inHand.filter((id) => id !== lost);
    this.#context.reconcile({ id: this.id, epoch: this.#epoch }, inHand);
  }

  /** It was taken again: all that was not in hand waits in mailboxes that are due. */
  renewed(epoch: number): void {
    if (this.#state.kind !== 'renewing') return;
    this.#epoch = epoch;
    this.#enter({ kind: 'ready' });
    void this.fetch();
  }

  /** The epoch is no longer ours: stop everything at once, store nothing. */
  drop(): void {
    this.#enter({ kind: 'dropped' });
    for (const actor of this.actors()) actor.drop();
  }

  /** Starts nothing more; resolves when nothing runs. */
  quiesce(): Promise<void> {
    if (this.tenure === 'owned') this.#enter({ kind: 'stopping' });
    for (const actor of this.actors()) actor.stop();
    this.#endQuiesce();
    return this.#quiesced.promise;
  }

  ended(actor: ConnectionActor): void {
    this.#mailboxes.ended(actor.connectionId);
  }

  idle(actor: ConnectionActor): void {
    this.#mailboxes.idle(actor.connectionId);
    this.#endQuiesce();
    if (this.#left && this.waiting < LIMITS.partition_operations / 2) void this.fetch();
  }

  #enter(state: PartitionState): void {
    checkStep('a partition', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#context.onPartitionState?.(this.id, state.kind);
  }

  #endQuiesce(): void {
    if (this.tenure !== 'owned' && this.running === 0) this.#quiesced.resolve();
  }

  async #fetchAll(fetching: Fetching): Promise<void> {
    this.#enter(fetching);
    try {
      do {
        fetching.again = false;
        await this.#fetchBatch(fetching);
      } while (fetching.again && this.#state === fetching);
    } catch (error) {
      const { log } = this.#context;
      log.error({ err: error, partition: this.id }, 'mailboxes: opening failed, the slow poll tries again');
      if (this.#state === fetching && (outcomeUnknown(error) || error instanceof Unread)) return this.doubt();
    }
    if (this.#state !== fetching) return;
    this.#enter({ kind: 'ready' });
    this.#takeAll(fetching.handed);
  }

  async #fetchBatch(fetching: Fetching): Promise<void> {
    const { db, lease, reader, pendingStores } = this.#context;
    this.#left = this.waiting >= LIMITS.partition_operations;
    if (!lease.valid(this.id) || this.#left) return; // I3
    const partition = { id: this.id, epoch: this.#epoch, but: [...this.#reserved.keys()] };
    const { due, passedBy, more } = await reader.open(partition);
    for (const connectionId of passedBy) this.#passBy(connectionId, fetching);
    if (due.length === 0 || this.#state !== fetching) return; // recovery makes them due
    if (due.some(({ doubt }) => doubt)) return this.doubt();
    fetching.again ||= more;
    const from = pendingStores.first;
    const opened = due.map((one) => {
      const { connection_id: connectionId } = one;
      const unanswered = this.#mailboxes.isHeld(connectionId) ? from : null; // I5
      return { ...one, unanswered, inHand: this.actor(connectionId)?.inHand ?? [] };
    });
    const read = await reader.read(this.id, opened).catch((error) => {
      throw new Unread(error);
    });
    if (this.#state !== fetching) return;
    for (const { connectionId, version } of read.mailboxes) this.#mailboxes.open(connectionId, version);
    for (const { id } of read.queued) pendingStores.found(id);
    this.#takeAll(inOrder([...read.queued, ...fetching.handed.splice(0)])); // I2
    await closeMailboxes(
      db,
      read.gone.map((one) => ({ ...one, partition: this.id, epoch: this.#epoch, from: null })),
    );
  }

  #passBy(connectionId: string, fetching: Fetching): void {
    if (this.#reserved.has(connectionId)) this.#reserved.set(connectionId, true);
    else fetching.again = true;
  }

  #takeAll(operations: QueuedHere[]): void {
    for (const operation of operations) this.actor(operation.connectionId)?.take(operation);
  }
}

/** Mailboxes were opened, and what is queued in them is not known. */
class Unread extends Error {
  constructor(cause: unknown) {
    super('mailboxes were opened and could not be read', { cause });
  }
}
