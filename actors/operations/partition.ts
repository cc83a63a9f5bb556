import { type FetchedJob, fetchOperations } from '../../storage/operations/owner-polls.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import { removeJobs } from '../../storage/postgres/job-table.js';
import { outcomeUnknown } from '../../storage/postgres/liveness.js';
import { checkStep, type Steps } from '../../storage/steps.js';
import { LIMITS } from '../limits.js';
import { type ActorContext, type ActorHome, ConnectionActor } from './connection-actor.js';

/** What a partition needs from its thread. */
export interface PartitionContext extends ActorContext {
  /**
   * Asks the node to take the partition again under its next epoch, but for the operations in hand. `renewed` follows, or the
   * loss of the partition.
   */
  reconcile(partition: OwnedPartition, inHand: string[]): void;
  /** Each state that a partition enters. */
  onPartitionState?(id: number, kind: PartitionState['kind']): void;
}

/** A job that was taken, of an operation that is queued. */
type QueuedJob = FetchedJob & { connection_id: string; workspace_id: string };

interface Fetching {
  kind: 'fetching';
  /** Whether new operations are handed over meanwhile. */
  direct: boolean;
  /** A fetch was asked for meanwhile. */
  again: boolean;
  /** Handed over meanwhile: what the fetch brings was accepted before, or stands between. */
  handed: QueuedJob[];
}

type PartitionState = Fetching | { kind: 'queued' | 'direct' | 'renewing' | 'stopping' | 'dropped' };

const STEPS: Steps<PartitionState['kind']> = {
  queued: ['fetching', 'renewing', 'stopping', 'dropped'],
  direct: ['fetching', 'queued', 'renewing', 'stopping', 'dropped'],
  fetching: ['direct', 'queued', 'renewing', 'stopping', 'dropped'],
  renewing: ['queued', 'stopping', 'dropped'],
  stopping: ['dropped'],
  dropped: [],
};

/**
 * One partition while this thread owns it: the connection actors of its connections, and the way from its queue to
 * their mailboxes.
 *
 *     queued    jobs may wait in the queue: new ones must queue behind them
 *     fetching  jobs are being fetched in batches; what is handed over waits for them
 *     direct    the queue is empty: the committer hands new operations over with their jobs already taken
 *     renewing  its rows may show jobs as taken that nobody has in hand, because an answer was lost: the node takes it again under
 *               its next epoch, which ends every statement under way, and puts all jobs back but those in hand. These run on
 *     stopping  given up: nothing more is started, what is past its write boundary may end
 *     dropped   lost: nothing more is stored
 *
 *     queued ⇄ fetching ⇄ direct        queued, fetching, direct ─ doubt() ─▶ renewing ─ renewed() ─▶ queued
 *                                       queued, fetching, direct, renewing ─▶ stopping ─▶ dropped
 *                                             └──────────────────────────────────────────────▲
 *
 * Operations that arrive while it is renewing, stopping or dropped are ignored: their jobs stay taken, and the recovery under the
 * next epoch releases them. Invariants: I1 an operation is in at most one mailbox; I2 `direct` only after a fetch came back short, so
 * that nothing overtakes (first in, first out per connection); I3 at most LIMITS.partition_operations wait in memory, and at most
 * LIMITS.mailbox_operations of them for one connection.
 */
export class Partition implements ActorHome {
  readonly id: number;
  readonly load = { waiting: 0, running: 0 };
  readonly #context: PartitionContext;
  readonly #actors = new Map<string, ConnectionActor>();
  readonly #quiesced = Promise.withResolvers<void>();
  #epoch: number;
  #state: PartitionState = { kind: 'queued' };

  constructor({ id, epoch }: OwnedPartition, context: PartitionContext) {
    this.id = id;
    this.#epoch = epoch;
    this.#context = context;
  }

  /** What starts now starts under it. */
  get epoch(): number {
    return this.#epoch;
  }

  get tenure(): ActorHome['tenure'] {
    const { kind } = this.#state;
    return kind === 'stopping' || kind === 'dropped' ? kind : 'owned';
  }

  /** True when a new operation's job may be stored as taken and handed to `hand` at once. */
  get direct(): boolean {
    const state = this.#state;
    const direct = state.kind === 'direct' || (state.kind === 'fetching' && state.direct);
    return direct && this.waiting < LIMITS.partition_operations; // I3
  }

  /** Operations in mailboxes. */
  get waiting(): number {
    return this.load.waiting;
  }

  /** Actors in memory. */
  get size(): number {
    return this.#actors.size;
  }

  /** Connections at work. */
  get running(): number {
    return this.load.running;
  }

  /** True when this connection's mailbox takes no more, and a submission is refused (I3, HTTP-13). */
  full(connectionId: string): boolean {
    return (this.#actors.get(connectionId)?.waiting ?? 0) >= LIMITS.mailbox_operations;
  }

  actor(connectionId: string): ConnectionActor | undefined {
    return this.#actors.get(connectionId);
  }

  actors(): Iterable<ConnectionActor> {
    return this.#actors.values();
  }

  /** Takes a new operation whose job was stored as taken under this epoch. */
  hand(job: QueuedJob, epoch: number): void {
    if (epoch !== this.#epoch || this.#state.kind === 'renewing') return; // its job is put back
    if (this.#state.kind === 'fetching') this.#state.handed.push(job);
    else this.#take(job);
  }

  /** Jobs were added behind what was fetched: nothing may overtake them (I2). */
  queueGrew(): void {
    if (this.#state.kind === 'direct') this.#enter({ kind: 'queued' });
    else if (this.#state.kind === 'fetching') this.#state.direct = false;
    void this.fetch();
  }

  /** Fetches what waits in the queue, as far as memory allows. Calls that come meanwhile are answered by one more round. */
  async fetch(): Promise<void> {
    const state = this.#state;
    switch (state.kind) {
      case 'fetching':
        state.again = true;
        return;
      case 'queued':
      case 'direct':
        await this.#fetchAll({ kind: 'fetching', direct: state.kind === 'direct', again: false, handed: [] });
        return;
      case 'renewing':
      case 'stopping':
      case 'dropped':
        return;
      default:
        state satisfies never;
    }
  }

  /** True when its rows can be compared with what it has in hand: no job is on the way between them. */
  get comparable(): boolean {
    return this.#state.kind === 'queued' || this.#state.kind === 'direct';
  }

  /** The operations in hand. */
  get inHand(): string[] {
    return [...this.#actors.values()].flatMap((actor) => actor.inHand);
  }

  /** An answer was lost, or rows and memory disagree: the partition is to be taken again under its next epoch. */
  doubt(): void {
    if (this.tenure !== 'owned' || this.#state.kind === 'renewing') return;
    this.#enter({ kind: 'renewing' });
    this.#context.reconcile({ id: this.id, epoch: this.#epoch }, this.inHand);
  }

  /** It was taken again: all that was not in hand waits in the queue. */
  renewed(epoch: number): void {
    if (this.#state.kind !== 'renewing') return;
    this.#epoch = epoch;
    this.#enter({ kind: 'queued' });
    void this.fetch();
  }

  /** The epoch is no longer ours: stop everything at once, store nothing. */
  drop(): void {
    this.#enter({ kind: 'dropped' });
    for (const actor of this.#actors.values()) actor.drop();
  }

  /** Starts nothing more; resolves when nothing runs. */
  quiesce(): Promise<void> {
    if (this.tenure === 'owned') this.#enter({ kind: 'stopping' });
    for (const actor of this.#actors.values()) actor.stop();
    this.#settleQuiesced();
    return this.#quiesced.promise;
  }

  /** An actor is a cache of rows: without work it leaves memory. */
  idle(actor: ConnectionActor): void {
    if (actor.waiting === 0 && !actor.running) this.#actors.delete(actor.connectionId);
    this.#settleQuiesced();
    const room = this.waiting < LIMITS.partition_operations / 2;
    if (room && !this.direct) void this.fetch();
  }

  #enter(state: PartitionState): void {
    checkStep('a partition', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#context.onPartitionState?.(this.id, state.kind);
  }

  #settleQuiesced(): void {
    if (this.tenure !== 'owned' && this.running === 0) this.#quiesced.resolve();
  }

  #take(job: QueuedJob): void {
    if (this.tenure !== 'owned') return;
    const { connection_id: connectionId, workspace_id: workspaceId } = job;
    let actor = this.#actors.get(connectionId);
    if (!actor) {
      actor = new ConnectionActor({ connectionId, workspaceId }, this, this.#context);
      this.#actors.set(connectionId, actor);
    }
    actor.take(job.id);
  }

  async #fetchAll(fetching: Fetching): Promise<void> {
    this.#enter(fetching);
    try {
      do {
        fetching.again = false;
        await this.#fetchBatch(fetching);
      } while (fetching.again && this.#state === fetching);
    } catch (error) {
      this.#context.log.error({ err: error, partition: this.id }, 'fetching jobs failed, the slow poll tries again');
      if (this.#state === fetching && outcomeUnknown(error)) return this.doubt();
    }
    if (this.#state !== fetching) return;
    this.#enter({ kind: fetching.direct ? 'direct' : 'queued' });
    for (const job of fetching.handed.splice(0)) this.#take(job);
  }

  async #fetchBatch(fetching: Fetching): Promise<void> {
    const { db, lease } = this.#context;
    if (!lease.valid(this.id) || this.waiting >= LIMITS.partition_operations) return; // I3
    const jobs = await fetchOperations(db, { id: this.id, epoch: this.#epoch }, LIMITS.fetch_jobs); // I1: taken once
    if (this.#state !== fetching) return; // recovery puts them back
    fetching.direct = jobs.length < LIMITS.fetch_jobs; // I2
    fetching.again ||= !fetching.direct;
    const queued = jobs.filter(isQueued);
    // What was handed over meanwhile stands between what was fetched.
    const together = [...queued, ...fetching.handed.splice(0)].sort((one, other) => one.place - other.place);
    for (const job of together) this.#take(job);
    const over = jobs.filter((job) => !isQueued(job));
    await removeJobs(
      db,
      over.map(({ id }) => ({ queue: 'operation', partition: this.id, id })),
    );
  }
}

function isQueued(job: FetchedJob): job is QueuedJob {
  return job.connection_id !== null;
}
