import type { RenewedSession } from '../browser-pool/messages.js';
import { withRenewal } from '../browser-pool/session.js';
import { renewSession } from '../storage/connections/session-effects.js';
import type { Logger } from '../storage/log/log.js';
import type { Database } from '../storage/postgres/database.js';
import { isLockTimeout, isRefusedForNow, isUnreachable } from '../storage/postgres/liveness.js';
import { Deadline, DeadlineExceeded } from '../storage/process/deadline.js';
import type { KeyRing } from '../storage/secrets/encryption.js';
import { sessionContext } from '../storage/secrets/sealing.js';
import { LIMITS } from './limits.js';
import { retrying } from './retry.js';

export interface SessionSavesOptions {
  db: Database;
  ring: KeyRing;
  log: Logger;
  /** The epoch under which this thread owns the connection's partition; undefined when it does not any more. */
  epoch(connectionId: string): number | undefined;
}

/**
 * Stores the sessions that their sites renewed: cookies that a context or a stream of this thread was given. Invariants:
 * I1 one save of a connection at a time, in the order in which they came; what comes meanwhile is one further save;
 * I2 a save is held by the connection's revision and the partition's epoch, and changes only cookies that are stored as its holder
 *    knew them: a late or repeated one changes nothing;
 * I3 what reads a stored session waits for `settled` first, so that it finds what was renewed before;
 * I4 who is refused with a session waits for `quiet` before it says that the session has ended: an answer that is on its way to another
 *    request may bring the cookies that are good by now.
 */
export class SessionSaves {
  readonly #options: SessionSavesOptions;
  readonly #lines = new Map<string, { waiting: Save[]; done: Promise<void> }>();
  /** Who waits for answers to requests with the session of a connection. */
  readonly #uses = new Map<string, Set<Promise<void>>>();

  constructor(options: SessionSavesOptions) {
    this.#options = options;
  }

  /** Stores a renewal; never rejects, and drops what cannot be stored within `session_save_ms`. */
  save(renewed: RenewedSession): void {
    const { connectionId } = renewed;
    const save = { ...renewed, epoch: this.#options.epoch(connectionId) };
    const line = this.#lines.get(connectionId);
    if (!line) {
      const waiting = [save];
      this.#lines.set(connectionId, { waiting, done: this.#work(connectionId, waiting) });
      return;
    }
    const last = line.waiting.at(-1);
    const follows = last?.session === renewed.base && last.stateRevision === renewed.stateRevision;
    if (follows)
      line.waiting.splice(-1, 1, { ...save, base: last.base }); // I1
    else line.waiting.push(save);
  }

  /** Resolves when nothing of the connection is being stored; undefined when nothing is. */
  settled(connectionId: string): Promise<void> | undefined {
    return this.#lines.get(connectionId)?.done;
  }

  /** Notes that requests go out with the connection's session, until the function that it gives is called. */
  use(connectionId: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const uses = this.#uses.get(connectionId) ?? new Set();
    this.#uses.set(connectionId, uses.add(promise));
    return () => {
      resolve();
      uses.delete(promise);
      if (uses.size === 0 && this.#uses.get(connectionId) === uses) this.#uses.delete(connectionId);
    };
  }

  /**
   * Resolves when those that use the connection's session now have their answers, or `session_answers_ms` later, and what they brought is
   * stored; earlier when the signal aborts.
   */
  async quiet(connectionId: string, signal: AbortSignal): Promise<void> {
    const uses = this.#uses.get(connectionId);
    if (uses && !signal.aborted) {
      const limit = new Deadline(LIMITS.session_answers_ms);
      const abort = () => limit.abort(new DeadlineExceeded());
      signal.addEventListener('abort', abort, { once: true });
      await limit.race(Promise.all(uses)).catch(() => {});
      signal.removeEventListener('abort', abort);
      limit.stop();
    }
    await this.settled(connectionId); // I3
  }

  /** Resolves when nothing is being stored. */
  async drained(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(({ done }) => done));
  }

  async #work(connectionId: string, waiting: Save[]): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) await this.#store(next);
    this.#lines.delete(connectionId);
  }

  async #store(renewed: Save): Promise<void> {
    const { connectionId, stateRevision } = renewed;
    const { db, ring, log, epoch } = this.#options;
    const context = sessionContext(connectionId);
    const renew = (sealed: Buffer) => {
      const session = withRenewal(ring.open(sealed, context).toString('utf8'), renewed); // I2
      return session === undefined ? undefined : ring.seal(session, context);
    };
    const until = performance.now() + LIMITS.session_save_ms;
    try {
      await retrying(
        async () => {
          // A partition that was taken again goes on under another epoch; one that was let go has its last one until it is taken.
          const owned = epoch(connectionId) ?? renewed.epoch;
          if (owned === undefined) return;
          await renewSession(db, { connectionId, revision: stateRevision, epoch: owned }, renew);
        },
        (error) => {
          if (!isPassing(error) || performance.now() > until) throw error;
        },
      );
    } catch (error) {
      log.warn({ err: error, connection_id: connectionId }, 'sessions: a renewed one could not be stored');
    }
  }
}

/** The epoch is that of when it came. */
type Save = RenewedSession & { epoch: number | undefined };

const isPassing = (error: unknown): boolean => isUnreachable(error) || isLockTimeout(error) || isRefusedForNow(error);
