import type { PgBoss } from 'pg-boss';
import { jobsOfOperations } from '../../storage/operations/owner-polls.js';
import type { Database } from '../../storage/postgres/database.js';
import { removeJobs } from '../../storage/postgres/job-table.js';
import { queueName } from '../../storage/postgres/jobs.js';
import { LIMITS } from '../limits.js';
import { type ActorContext, ConnectionActor } from './connection-actor.js';

/**
 * One partition while this thread owns it: the connection actors of its connections, and the way from its queue to
 * their mailboxes.
 *
 *     direct   the queue is empty: the committer hands new operations over with their jobs already taken
 *     fetching jobs wait in the queue: they are fetched in batches, and new ones must queue behind them
 *
 * Invariants: P1 an operation is in at most one mailbox; P2 `direct` only after a fetch came back short, so nothing
 * overtakes (first in, first out per connection); P3 at most LIMITS.partition_operations wait in memory.
 */
export class Partition {
  readonly #actors = new Map<string, ConnectionActor>();
  readonly #load = { waiting: 0, running: 0 };
  #fetching = false;
  #again = false;
  #direct = false;
  #dropped = false;
  #stopping = false;
  #stopped: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  /** Handed over while a fetch is under way: what it brings came first. */
  #behind: { id: string; connection_id: string }[] = [];

  constructor(
    readonly id: number,
    readonly epoch: number,
    private readonly db: Database,
    private readonly boss: PgBoss,
    private readonly context: Omit<ActorContext, 'load' | 'idle'>,
  ) {}

  /** True when a new operation's job may be stored as taken and handed to `take` at once. */
  get direct(): boolean {
    return this.#direct && !this.#stopping && this.waiting < LIMITS.partition_operations;
  }

  /** Operations in mailboxes. */
  get waiting(): number {
    return this.#load.waiting;
  }

  /** Actors in memory. */
  get size(): number {
    return this.#actors.size;
  }

  /** Connections at work. */
  get running(): number {
    return this.#load.running;
  }

  /** True when this connection's mailbox takes no more (HTTP-13). */
  full(connectionId: string): boolean {
    return (this.#actors.get(connectionId)?.waiting ?? 0) >= LIMITS.mailbox_operations;
  }

  /** Takes a new operation whose job is taken already. */
  hand(connectionId: string, operationId: string): void {
    if (this.#fetching) this.#behind.push({ id: operationId, connection_id: connectionId });
    else this.#take(connectionId, operationId);
  }

  #take(connectionId: string, operationId: string): void {
    if (this.#dropped || this.#stopping) return; // its job stays taken; the next owner's recovery releases it
    let actor = this.#actors.get(connectionId);
    if (!actor) {
      actor = new ConnectionActor(connectionId, this.id, this.epoch, {
        ...this.context,
        load: this.#load,
        idle: (one) => this.#passivate(one),
      });
      this.#actors.set(connectionId, actor);
    }
    actor.take(operationId);
  }

  actor(connectionId: string): ConnectionActor | undefined {
    return this.#actors.get(connectionId);
  }

  actors(): Iterable<ConnectionActor> {
    return this.#actors.values();
  }

  /** Fetches what waits in the queue, as far as memory allows. Calls that come meanwhile are answered by one more round. */
  async fetch(): Promise<void> {
    if (this.#fetching) {
      this.#again = true;
      return;
    }
    this.#fetching = true;
    try {
      do {
        this.#again = false;
        await this.#fetchOnce();
      } while (this.#again && !this.#dropped && !this.#stopping);
    } catch (error) {
      this.context.log.error({ err: error, partition: this.id }, 'fetching jobs failed, the slow poll tries again');
    } finally {
      this.#fetching = false;
      for (const { id, connection_id } of this.#behind.splice(0)) this.#take(connection_id, id);
    }
  }

  async #fetchOnce(): Promise<void> {
    if (this.#dropped || this.#stopping || !this.context.lease.valid) return;
    if (this.waiting >= LIMITS.partition_operations) return;
    const jobs = await this.boss.fetch(queueName('operation', this.id), { batchSize: LIMITS.fetch_batch });
    this.#direct = jobs.length < LIMITS.fetch_batch;
    this.#again ||= !this.#direct;
    if (this.#dropped) return;
    const ids = jobs.map((job) => job.id);
    const { queued, over } = ids.length > 0 ? await jobsOfOperations(this.db, ids) : { queued: [], over: [] };
    // What was handed over meanwhile stands between what was fetched: ids tell the order of acceptance.
    const together = [...queued, ...this.#behind.splice(0)].sort((one, other) => (one.id < other.id ? -1 : 1));
    for (const { id, connection_id } of together) this.#take(connection_id, id);
    const stale = over.map((id) => ({ queue: 'operation' as const, partition: this.id, id }));
    if (stale.length > 0) await removeJobs(this.db, stale);
  }

  /** Jobs were added behind what was fetched: nothing may overtake them. */
  queueGrew(): void {
    this.#direct = false;
    void this.fetch();
  }

  /** The epoch is no longer ours: stop everything at once, store nothing. */
  drop(): void {
    this.#dropped = true;
    this.#direct = false;
    for (const actor of this.#actors.values()) actor.drop();
  }

  /** Starts nothing more; resolves when nothing runs. */
  stop(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => {
      this.#onIdle = resolve;
    });
    this.#stopping = true;
    this.#direct = false;
    for (const actor of this.#actors.values()) actor.stop();
    if (this.running === 0) this.#onIdle?.();
    return this.#stopped;
  }

  /** An actor is a cache of rows: without work it is forgotten. */
  #passivate(actor: ConnectionActor): void {
    if (actor.waiting === 0 && !actor.running) this.#actors.delete(actor.connectionId);
    if (this.running === 0) this.#onIdle?.();
    const room = this.waiting < LIMITS.partition_operations / 2;
    if (room && !this.#direct && !this.#dropped && !this.#stopping) void this.fetch();
  }
}
