import { setTimeout as delay } from 'node:timers/promises';
import { stoppingConnections, stopRest } from '../connections/stopping.js';
import { deletedSubscriptions, dropDeleted } from '../deliveries/subscription-change.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Database } from '../postgres/database.js';
import { Portion } from '../postgres/divided.js';
import { hitTimeLimit, isUnreachable } from '../postgres/liveness.js';
import { checkStep, type Steps } from '../process/steps.js';
import {
  type DeletedConnection,
  DROPS,
  deletedConnections,
  dropConnection,
  ELSEWHERE,
  FROM_THE_START,
  inSlice,
  keepKeys,
  type Slice,
} from './removal.js';

export interface RemovalsOptions {
  db: Database;
  log: Logger;
  /** Shorter in tests; else `LIMITS.removal_settle_ms`. */
  settle_ms?: number;
}

type State = 'new' | 'waiting' | 'working' | 'stopping' | 'stopped';

const STEPS: Steps<State> = {
  new: ['working', 'stopped'],
  waiting: ['working', 'stopped'],
  working: ['waiting', 'stopping'],
  stopping: ['stopped'],
  stopped: [],
};

/**
 * Removes what deleted connections and subscriptions left, and goes on with disconnects that were too long for their request. Every node
 * runs one.
 *
 *     new ─ start ─▶ working ─ nothing is left, or it failed ─▶ waiting ─ a while later ─▶ working
 *                       └─ stop ─▶ stopping ─ the slice under way is over ─▶ stopped ◀─ stop ─ waiting
 *
 * I1 the rows of used keys go only a while after the keys were noted, and those were noted only a while after the connection was
 *    hidden: a submission that does not find the one finds the other;
 * I2 at any time one slice of this process is under way;
 * I3 what cannot be removed holds up no other: it is passed over, and looked at again once there is room beside the others.
 */
export class Removals {
  readonly #options: RemovalsOptions;
  readonly #settle_ms: number;
  /** When this process had noted all keys of a connection, on the monotonic clock. */
  readonly #keptAt = new Map<string, number>();
  /** Connections and subscriptions that failed, and are left out of the next round (I3). */
  readonly #failed = new Set<string>();
  #state: State = 'new';
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(options: RemovalsOptions) {
    this.#options = options;
    this.#settle_ms = options.settle_ms ?? LIMITS.removal_settle_ms;
  }

  start(): void {
    this.#enter('working');
    this.#round = this.#work();
  }

  /** Resolves when nothing is under way; the next start, or another node, goes on. */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    clearTimeout(this.#timer);
    this.#enter(this.#state === 'working' ? 'stopping' : 'stopped');
    await this.#round;
  }

  #enter(state: State): void {
    checkStep('removals', STEPS, this.#state, state);
    this.#state = state;
  }

  async #work(): Promise<void> {
    const { db, log } = this.#options;
    try {
      for (const connection of await stoppingConnections(db)) {
        await this.#apart(connection.id, () => stopRest(db, connection, () => this.#paused()));
      }
      const failed = [...this.#failed];
      this.#failed.clear();
      const deleted = await deletedConnections(db, failed);
      for (const id of this.#keptAt.keys()) if (!deleted.some((one) => one.id === id)) this.#keptAt.delete(id);
      for (const connection of deleted) await this.#apart(connection.id, () => this.#remove(connection));
      for (const id of await deletedSubscriptions(db, failed)) {
        await this.#apart(id, () => this.#sliced(id, dropDeleted, id));
      }
    } catch (error) {
      log.warn({ err: error }, 'removals: what was deleted is not removed yet, trying again');
    }
    if (this.#state === 'stopping') return this.#enter('stopped');
    this.#enter('waiting');
    this.#timer = setTimeout(() => this.start(), LIMITS.removal_poll_ms).unref();
  }

  /** I3. Rejects when the database is away. */
  async #apart(id: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isUnreachable(error)) throw error;
      this.#failed.add(id);
      this.#options.log.warn({ err: error, id }, 'removals: one failed, the others go on');
    }
  }

  async #remove({ id, partition, age_ms }: DeletedConnection): Promise<void> {
    const { db, log } = this.#options;
    const stopped = await stopRest(db, { id, partition, reason: 'connection_deleted' }, () => this.#paused());
    if (!stopped || age_ms < this.#settle_ms) return; // I1
    const keptAt = this.#keptAt.get(id);
    if (keptAt === undefined) {
      if (await this.#sliced(id, keepKeys, FROM_THE_START.id)) this.#keptAt.set(id, performance.now());
      return;
    }
    if (performance.now() - keptAt < this.#settle_ms) return; // I1
    for (const { drop, from } of DROPS) if (!(await this.#sliced(id, drop, from))) return;
    if (!(await dropConnection(db, id))) return;
    log.info({ connection_id: id }, 'removals: a deleted connection is gone');
  }

  /** Slice after slice until one finds nothing, smaller ones after the time limit; false when this has to be gone on with later. */
  async #sliced(connectionId: string, slice: Slice, from: string): Promise<boolean> {
    const portion = new Portion(LIMITS.removal_rows);
    for (let after: string | null = from; after !== null; ) {
      if (await this.#paused()) return false;
      const begin: string = after;
      const done = await inSlice(this.#options.db, connectionId, slice, begin, portion.size).catch((error) => {
        if (hitTimeLimit(error) && portion.failed(error)) return { last: begin };
        throw error;
      });
      if (done === ELSEWHERE) return false;
      after = done.last;
    }
    return true;
  }

  /** Lets others work before the next slice (I2). True when there is to be none. */
  async #paused(): Promise<boolean> {
    await delay(LIMITS.removal_pause_ms);
    return this.#state !== 'working';
  }
}
