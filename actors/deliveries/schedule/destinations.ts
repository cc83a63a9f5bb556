import { LRUCache } from 'lru-cache';
import type { FetchedSubscription } from '../../../storage/deliveries/delivery-queue.js';
import type { Logger } from '../../../storage/log/log.js';
import { Backoff } from '../../../storage/process/backoff.js';
import { atMost } from '../../../storage/process/cache-size.js';
import type { AttemptError } from '../callback/attempt-error.js';
import { LIMITS } from '../limits.js';
import { type Answered, Destination, type DestinationState } from './destination.js';
import type { PauseNotes } from './pause-notes.js';
import type { SubscriptionActor, SubscriptionDestination } from './subscription-actor.js';

export interface DestinationsOptions {
  notes: Pick<PauseNotes, 'paused' | 'answered'>;
  log: Logger;
  /** The longest wait before a paused destination is tried; `paused_try_cap_ms` by default. */
  try_ms?: number | undefined;
  /** A destination may be tried: it wants a slot now. */
  onTry: (destination: SubscriptionDestination) => void;
}

/**
 * The destinations of one thread's subscriptions. Invariants:
 * I1 the subscriptions of a destination share one `Destination`, which is here while any of them is;
 * I2 how a destination answers is remembered after its last subscription has gone, of `idle_destinations` at most;
 * I3 every paused destination has one timer for its next try, unless that is due;
 * I4 a pause is noted when it begins and at each try that got no answer, and the note goes with the first answer: notes that were
 *    lost, or are another thread's, are put right by the next one.
 */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #answeredOnes = leastRecentlyUsed(LIMITS.answered_subscriptions);
  readonly #byKey = new Map<string, SubscriptionDestination>();
  /** How many actors each has. */
  readonly #actors = new Map<SubscriptionDestination, number>();
  /** Without an actor, the longest unused first. */
  readonly #idle = new Set<SubscriptionDestination>();
  readonly #tries = new Map<SubscriptionDestination, NodeJS.Timeout>();
  readonly #waits = new Map<SubscriptionDestination, Backoff>();
  /** Those that are noted as paused, by anyone. */
  readonly #noted = new Set<SubscriptionDestination>();
  #closed = false;

  constructor(options: DestinationsOptions) {
    this.#options = options;
  }

  /** Those that are paused. */
  get paused(): number {
    let count = 0;
    for (const { state } of this.#byKey.values()) if (state === 'paused') count++;
    return count;
  }

  /** The key of the destination of a fetched subscription. */
  keyOf({ id, destination: hash }: Pick<FetchedSubscription, 'id' | 'destination'>): string {
    return hash ?? `subscription ${id}`;
  }

  /**
   * The destination of a fetched subscription. One without a hash of it has a destination of its own, and so has one that was
   * deleted, of which the workspace is not known any more.
   */
  of(fetched: FetchedSubscription): SubscriptionDestination {
    const { id, workspace_id, destination: hash, paused_reason } = fetched;
    const key = this.keyOf(fetched);
    const destination =
      this.#byKey.get(key) ??
      new Destination<SubscriptionActor>(
        key,
        workspace_id ?? id,
        (changed, state) => this.#changed(changed, state),
        this.#answeredOnes,
      );
    this.#byKey.set(key, destination);
    if (hash === null || paused_reason === null) return destination;
    this.#noted.add(destination);
    destination.adopt(paused_reason as AttemptError);
    return destination;
  }

  /** The actor is here from now on, until `release` (I1). */
  hold({ destination }: SubscriptionActor): void {
    this.#idle.delete(destination);
    this.#actors.set(destination, (this.#actors.get(destination) ?? 0) + 1);
  }

  release({ destination }: SubscriptionActor): void {
    const left = (this.#actors.get(destination) ?? 1) - 1;
    if (left > 0) {
      this.#actors.set(destination, left);
      return;
    }
    this.#actors.delete(destination);
    if (destination.state === 'unknown') this.#forget(destination);
    else this.#idle.add(destination); // I2
    if (this.#idle.size <= LIMITS.idle_destinations) return;
    const [oldest] = this.#idle;
    if (oldest) this.#forget(oldest);
  }

  /** Tries nothing any more. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#tries.values()) clearTimeout(timer);
    this.#tries.clear();
  }

  #forget(destination: SubscriptionDestination): void {
    this.#idle.delete(destination);
    this.#byKey.delete(destination.key);
    this.#noted.delete(destination);
    this.#waits.delete(destination);
    this.#cancelTry(destination);
  }

  #changed(destination: SubscriptionDestination, state: DestinationState): void {
    switch (state.kind) {
      case 'answering':
      case 'unknown':
        this.#cancelTry(destination);
        this.#waits.delete(destination);
        if (this.#noted.delete(destination)) this.#answered(destination); // I4
        break;
      case 'silent':
        break;
      case 'paused':
        this.#paused(destination, state);
        break;
      default:
        state satisfies never;
    }
  }

  #paused(destination: SubscriptionDestination, { reason, tryDue }: DestinationState & { kind: 'paused' }): void {
    if (tryDue) {
      this.#cancelTry(destination);
      this.#options.onTry(destination);
      return;
    }
    const { log, notes } = this.#options;
    if (!this.#noted.has(destination)) {
      const { workspaceId: workspace_id } = destination;
      log.warn(
        { workspace_id, reason },
        'a destination of callbacks does not answer: it is paused, and tried now and then',
      );
    }
    this.#noted.add(destination);
    notes.paused(destination.key, reason); // I4
    if (this.#closed || this.#tries.has(destination)) return;
    const timer = setTimeout(() => destination.tryNow(), this.#waitFor(destination)); // I3
    this.#tries.set(destination, timer.unref());
  }

  #waitFor(destination: SubscriptionDestination): number {
    const { try_ms: cap_ms = LIMITS.paused_try_cap_ms } = this.#options;
    const first_ms = Math.min(LIMITS.paused_try_ms, cap_ms);
    const waits = this.#waits.get(destination) ?? new Backoff({ first_ms, cap_ms });
    this.#waits.set(destination, waits);
    return waits.next_ms();
  }

  #answered({ key, workspaceId: workspace_id }: SubscriptionDestination): void {
    this.#options.log.info({ workspace_id }, 'deliveries: a paused destination has answered, and its deliveries go on');
    this.#options.notes.answered(key);
  }

  #cancelTry(destination: SubscriptionDestination): void {
    clearTimeout(this.#tries.get(destination));
    this.#tries.delete(destination);
  }
}

function leastRecentlyUsed(max: number): Answered {
  const ids = new LRUCache<string, true>(atMost(max));
  return {
    has: (id) => ids.has(id),
    add: (id) => void ids.set(id, true),
    delete: (id) => ids.delete(id),
  };
}
