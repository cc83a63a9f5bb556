import type { BacklogSpread } from '../../storage/deliveries.js';
import {
  BACKLOG_spread_max_ms,
  BACKLOG_spread_min_ms,
  BACKLOG_spread_ms,
  PUT_BACK_max_ms,
  PUT_BACK_min_ms,
  SLOW_ATTEMPT_ms,
  SUBSCRIPTION_attempts,
  SUBSCRIPTION_horizon_ms,
  SUBSCRIPTION_waiting_max,
  SUBSCRIPTION_waiting_min,
  UNKNOWN_PACE_spread_min_ms,
  UNKNOWN_PACE_spread_ms,
} from './limits.js';
import type { AttemptResult } from './sender.js';

/** A delivery this thread fetched, under the epoch of its partition. */
export interface FetchedDelivery {
  readonly id: string;
  readonly partition: number;
  readonly epoch: number;
  /** The partition is lost: nothing of it starts any more. */
  dropped: boolean;
  /** Its job is being put back or removed: if it is fetched again, that has happened. */
  leaving: boolean;
}

/** Deliveries that were put off for want of room, and how far they have been taken up again. */
export interface Backlog {
  readonly partition: number;
  readonly epoch: number;
  /** The event up to which they were looked through. */
  after: string;
}

const FIRST_EVENT = '00000000-0000-0000-0000-000000000000';

/** Weight of the newest attempt in the mean duration. */
const NEWEST = 0.2;

/**
 * The deliveries of one subscription in one thread (decision E10). Owns those that wait; the dispatcher owns the slots.
 *
 *     fast ──an attempt timed out, or nearly──▶ slow ──answers brought the allowance back──▶ fast
 *
 * I1 at most `allowance` attempts are in flight: `SUBSCRIPTION_attempts`, halved at each slow one down to one, one more for
 *    each answer in time. A refusal is an answer: it frees its slot at once.
 * I2 what waits can be sent within `SUBSCRIPTION_horizon_ms` at the pace of the last attempts, or is very little. What does not fit
 *    is put back for when, at that pace, its turn would come: each further one a turn later, so that a backlog of any
 *    length is fetched about as fast as it can be sent instead of over and over.
 * I3 while its receiver keeps up it does not wait for that: it takes its backlog up again by itself, in order of events, as
 *    soon as half of its room is free. A receiver that comes back gets its backlog at the speed it shows.
 */
export class SubscriptionActor {
  #waiting: FetchedDelivery[] = [];
  #inFlight = 0;
  #backlog: Backlog | undefined;
  #allowance = SUBSCRIPTION_attempts;
  /** How long an attempt holds its slot: writing its start, and the request. */
  #mean_ms = 50;
  #attempts = 0;
  #unknownSpread_ms = UNKNOWN_PACE_spread_min_ms;
  #putBackUntil_ms = 0;

  constructor(readonly id: string) {}

  get waiting(): number {
    return this.#waiting.length;
  }

  get slow(): boolean {
    return this.#allowance < SUBSCRIPTION_attempts;
  }

  /** Time between the starts of two attempts, when enough of them wait. */
  get pace_ms(): number {
    return this.#mean_ms / this.#allowance;
  }

  /** True when it holds no delivery. */
  get resting(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0;
  }

  /** True when it knows something that the next delivery would have to find out anew. */
  get remembered(): boolean {
    return this.slow || this.#backlog !== undefined;
  }

  get backlog(): Backlog | undefined {
    return this.#backlog;
  }

  /** How many deliveries of its backlog it would take now. */
  get wanted(): number {
    if (!this.#backlog || this.slow) return 0;
    const room = this.#bound() - this.#waiting.length;
    return room >= this.#waiting.length ? room : 0;
  }

  /** Something of it was put off: from now on there is a backlog, to be looked through from its beginning. */
  putOff({ partition, epoch }: FetchedDelivery): void {
    this.#backlog = { partition, epoch, after: FIRST_EVENT };
  }

  /** Its backlog was looked through up to `event`; without one, to its end. Ignored when more was put off meanwhile. */
  lookedThrough(backlog: Backlog, event: string | undefined): void {
    if (event !== undefined) backlog.after = event;
    else if (this.#backlog === backlog) this.#backlog = undefined;
  }

  /** True when the next delivery may start. */
  get ready(): boolean {
    return this.#waiting.length > 0 && this.#inFlight < this.#allowance;
  }

  /** Takes a delivery to wait for its turn. False when there is no room. */
  offer(delivery: FetchedDelivery): boolean {
    if (this.#waiting.length >= this.#bound()) return false;
    this.#waiting.push(delivery);
    return true;
  }

  /** The next delivery, which counts as in flight from now until `ended`. Only while `ready`. */
  next(): FetchedDelivery {
    this.#inFlight++;
    if (this.#waiting.length === 1) this.#putBackUntil_ms = 0;
    return this.#waiting.shift() as FetchedDelivery;
  }

  /** An attempt is over and its slot, held for so long, is free; without a result, none was made. */
  ended(result: AttemptResult | undefined, held_ms: number): void {
    this.#inFlight--;
    if (!result) return;
    this.#attempts++;
    this.#mean_ms += NEWEST * (held_ms - this.#mean_ms);
    if (result.error === 'timeout' || result.duration_ms > SLOW_ATTEMPT_ms)
      this.#allowance = Math.max(1, Math.floor(this.#allowance / 2));
    else this.#allowance = Math.min(SUBSCRIPTION_attempts, this.#allowance + 1);
  }

  /**
   * Takes out what waits beyond the bound, the newest first. It is put back. While the receiver keeps up the bound moves with
   * every answer: only what is far beyond it goes then, or each answer would send some back and the next fetch them again.
   */
  shed(): FetchedDelivery[] {
    const bound = this.#bound();
    return this.slow || this.#waiting.length > 2 * bound ? this.#waiting.splice(bound) : [];
  }

  /** Takes out everything that waits and `matches`. */
  remove(matches: (delivery: FetchedDelivery) => boolean): FetchedDelivery[] {
    const removed = this.#waiting.filter(matches);
    if (removed.length > 0) this.#waiting = this.#waiting.filter((delivery) => !matches(delivery));
    return removed;
  }

  /** When what waits now will have been sent. */
  roomAt(now: Date): Date {
    return new Date(now.getTime() + Math.max(PUT_BACK_min_ms, this.#waiting.length * this.pace_ms));
  }

  /** When the next delivery that found no room is to be fetched again. */
  putBackAt(now: Date): Date {
    const earliest_ms = this.roomAt(now).getTime();
    const latest_ms = now.getTime() + PUT_BACK_max_ms;
    this.#putBackUntil_ms = Math.max(this.#putBackUntil_ms + this.pace_ms, earliest_ms);
    // Past the latest moment there is no pace to keep: they are spread, so that they do not come back all at once.
    if (this.#putBackUntil_ms <= latest_ms) return new Date(this.#putBackUntil_ms);
    this.#putBackUntil_ms = latest_ms;
    return new Date(latest_ms - (Math.random() * PUT_BACK_max_ms) / 2);
  }

  /** How the rest of its backlog is put off. At twice the speed it shows: too early is corrected, too late is time lost. */
  backlogSpread(): BacklogSpread {
    if (this.#attempts < SUBSCRIPTION_attempts) {
      const spread_min_ms = this.#unknownSpread_ms;
      this.#unknownSpread_ms *= 2;
      return {
        pace_ms: null,
        spread_ms: UNKNOWN_PACE_spread_ms,
        spread_min_ms,
        spread_max_ms: Math.max(BACKLOG_spread_min_ms, spread_min_ms),
      };
    }
    return {
      pace_ms: this.pace_ms / 2,
      spread_ms: BACKLOG_spread_ms,
      spread_min_ms: BACKLOG_spread_min_ms,
      spread_max_ms: BACKLOG_spread_max_ms,
    };
  }

  #bound(): number {
    const sendable = Math.floor(SUBSCRIPTION_horizon_ms / this.pace_ms);
    return Math.min(Math.max(sendable, SUBSCRIPTION_waiting_min), SUBSCRIPTION_waiting_max);
  }
}
