import { LinkedQueue } from '../../../storage/process/linked-queue.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import type { AttemptError } from '../callback/attempt-error.js';
import type { AttemptResult } from '../callback/sender.js';
import { LIMITS } from '../limits.js';

/**
 * One destination of callbacks, a host and port that subscriptions of one workspace lead to, as one thread knows it (EVT-10):
 *
 *     unknown ──an answer in time──▶ answering ──a late one──▶ unknown
 *     unknown, answering ──no answer──▶ silent ──an answer in time──▶ answering; a late one──▶ unknown
 *     unknown ──it was noted as paused──▶ paused
 *     silent ──no answer, `pause_attempts` times in a row, of `pause_subscriptions` subscriptions──▶ paused
 *     paused ──its next try is due──▶ paused, `tryDue` ──no answer──▶ paused, not `tryDue`
 *     paused ──an answer in time──▶ answering; a late one──▶ unknown
 *
 * An answer is whatever came back, a reset connection too. An attempt that sent nothing says nothing and is ignored in every state.
 *
 * I1 only the attempts of an answering destination are fast, and those of subscriptions whose own last attempt was answered in time,
 *    whatever others of the destination do; the rest counts with those of slow receivers;
 * I2 a destination that is not answering has at most `new_destination_attempts` of that rest in flight: no fewer than subscriptions
 *    that are too few for a pause may have, so that they keep their schedule;
 * I3 nothing of a paused destination starts but one attempt, when its try is due and none is in flight; and one at a time of the
 *    subscriptions whose own last attempt was answered.
 */
export type DestinationState =
  /** Nothing is known of it, or its last answer was late. */
  | { kind: 'unknown' }
  | { kind: 'answering' }
  /** Attempts in a row that got no answer, and their subscriptions, no more of either than a pause takes. */
  | { kind: 'silent'; attempts: number; subscriptions: ReadonlySet<string> }
  /** Its deliveries wait; `reason` is the class of its last error. */
  | { kind: 'paused'; reason: AttemptError; tryDue: boolean };

type Kind = DestinationState['kind'];

const STEPS: Steps<Kind> = {
  unknown: ['unknown', 'answering', 'silent', 'paused'],
  answering: ['answering', 'unknown', 'silent'],
  silent: ['silent', 'answering', 'unknown', 'paused'],
  paused: ['paused', 'answering', 'unknown'],
};

/** How many slots a destination may have, and how many of those of slow receivers. */
export interface SlotShare {
  slots: number;
  slow: number;
}

/** A subscription of a destination, as far as its turn goes. */
export interface Waiting {
  readonly id: string;
  /** Its next attempt may start. */
  readonly ready: boolean;
  /** Its receiver is. */
  readonly slow: boolean;
}

/** The ids of subscriptions whose last attempt was answered in time. */
export interface Answered {
  has(id: string): boolean;
  add(id: string): void;
  delete(id: string): void;
}

/** What the end of an attempt says of its destination. */
type Evidence = 'answer' | 'late answer' | 'no answer' | 'none';

export class Destination<Subscription extends Waiting = Waiting> {
  /** Its subscriptions that may start an attempt, in the order of their turns: those that were answered, and those with slow receivers, apart. */
  readonly #ready = {
    answered: new LinkedQueue<Subscription>(),
    other: new LinkedQueue<Subscription>(),
    slow: new LinkedQueue<Subscription>(),
  };
  readonly #used: SlotShare = { slots: 0, slow: 0 };
  readonly #announce: (destination: Destination<Subscription>, state: DestinationState) => void;
  readonly #answered: Answered;
  #otherNext = false;
  #state: DestinationState = { kind: 'unknown' };

  constructor(
    /** Unlike that of any other workspace's. */
    readonly key: string,
    readonly workspaceId: string,
    /** Called after each change of its state, and after each answer. */
    announce: (destination: Destination<Subscription>, state: DestinationState) => void = () => {},
    answered: Answered = new Set(),
  ) {
    this.#announce = announce;
    this.#answered = answered;
  }

  get state(): Kind {
    return this.#state.kind;
  }

  /** Subscriptions of it that may start an attempt. */
  get waiting(): number {
    const { answered, other, slow } = this.#ready;
    return answered.size + other.size + slow.size;
  }

  /** Puts the subscription behind the others if its next attempt may start and it does not wait already; removes it if it may not. */
  queue(subscription: Subscription): void {
    const { answered, other, slow } = this.#ready;
    const mine = subscription.slow ? slow : this.#answered.has(subscription.id) ? answered : other;
    for (const queue of [answered, other, slow]) if (queue !== mine || !subscription.ready) queue.delete(subscription);
    if (subscription.ready) mine.add(subscription);
  }

  /** True when an attempt of it may take a slot of slow receivers, or another one, within its share. */
  wants(slow: boolean, share: SlotShare): boolean {
    const { kind } = this.#state;
    switch (kind) {
      case 'answering':
        if (this.#used.slots >= share.slots) return false;
        return slow ? this.#wantsSlow(share.slow, 0) : this.#wantsFast(share, this.#ready.other.size);
      case 'unknown':
      case 'silent':
        if (!slow) return this.#wantsFast(share, 0); // I1
        return this.#wantsSlow(Math.min(share.slow, LIMITS.new_destination_attempts), this.#ready.other.size); // I2
      case 'paused':
        if (!slow) return this.#wantsFast({ ...share, slots: this.#used.slow + 1 }, 0); // I3
        return this.#state.kind === 'paused' && this.#state.tryDue && this.#used.slots === 0 && this.waiting > 0; // I3
      default:
        return kind satisfies never;
    }
  }

  /** Takes the subscription whose turn it is out of the queue, with a slot for it. Only while it `wants` one. */
  take(slow: boolean): Subscription | undefined {
    const subscription = (slow ? this.#nextSlow() : this.#nextFast()).take();
    if (!subscription) return undefined;
    this.#used.slots++;
    if (slow) this.#used.slow++;
    return subscription;
  }

  /** Gives back a slot that `take` gave. */
  release(slow: boolean): void {
    this.#used.slots--;
    if (slow) this.#used.slow--;
  }

  /** Learns from an attempt of one of its subscriptions that ended. */
  learn(subscriptionId: string, result: AttemptResult): void {
    const evidence = evidenceOf(result);
    switch (evidence) {
      case 'answer':
        this.#answered.add(subscriptionId);
        this.#enter({ kind: 'answering' });
        break;
      case 'late answer':
        this.#answered.delete(subscriptionId);
        this.#enter({ kind: 'unknown' });
        break;
      case 'no answer':
        this.#answered.delete(subscriptionId);
        this.#heardNothing(subscriptionId, result.error as AttemptError);
        break;
      case 'none':
        break;
      default:
        evidence satisfies never;
    }
  }

  /** It was noted as paused, by a former owner or by another thread. Changes nothing once more is known of it here. */
  adopt(reason: AttemptError): void {
    if (this.#state.kind === 'unknown') this.#enter({ kind: 'paused', reason, tryDue: true });
  }

  /** Lets a paused destination be tried once. */
  tryNow(): void {
    if (this.#state.kind === 'paused') this.#enter({ ...this.#state, tryDue: true });
  }

  /** `others`: how many of those that were not answered themselves may be fast as well. */
  #wantsFast(share: SlotShare, others: number): boolean {
    return this.#used.slots < share.slots && this.#ready.answered.size + others > 0;
  }

  /** `others`: how many count with the slow ones. */
  #wantsSlow(most: number, others: number): boolean {
    return this.#used.slow < most && this.#ready.slow.size + others > 0;
  }

  /** In turns, while the destination answers: neither keeps the other waiting. */
  #nextFast(): LinkedQueue<Subscription> {
    const { answered, other } = this.#ready;
    if (this.#state.kind !== 'answering' || other.size === 0) return answered;
    this.#otherNext = !this.#otherNext;
    return this.#otherNext || answered.size === 0 ? other : answered;
  }

  /** Those first of which the least is known that is bad. */
  #nextSlow(): LinkedQueue<Subscription> {
    const { answered, other, slow } = this.#ready;
    if (this.#state.kind === 'answering') return slow;
    if (this.#state.kind === 'paused' && answered.size > 0) return answered;
    return other.size > 0 ? other : slow;
  }

  #heardNothing(subscriptionId: string, reason: AttemptError): void {
    const state = this.#state;
    switch (state.kind) {
      case 'unknown':
      case 'answering':
        this.#enter({ kind: 'silent', attempts: 1, subscriptions: new Set([subscriptionId]) });
        break;
      case 'silent': {
        const attempts = Math.min(state.attempts + 1, LIMITS.pause_attempts);
        const subscriptions = new Set(state.subscriptions);
        if (subscriptions.size < LIMITS.pause_subscriptions) subscriptions.add(subscriptionId);
        const over = attempts >= LIMITS.pause_attempts && subscriptions.size >= LIMITS.pause_subscriptions;
        this.#enter(over ? { kind: 'paused', reason, tryDue: false } : { kind: 'silent', attempts, subscriptions });
        break;
      }
      case 'paused':
        this.#enter({ kind: 'paused', reason, tryDue: false });
        break;
      default:
        state satisfies never;
    }
  }

  #enter(next: DestinationState): void {
    checkStep(`destination ${this.key}`, STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#announce(this, next);
  }
}

const SENT_NOTHING: ReadonlySet<AttemptError> = new Set(['blocked', 'secret', 'internal']);
const NO_ANSWER: ReadonlySet<AttemptError> = new Set(['timeout', 'refused', 'unreachable', 'dns']);

function evidenceOf({ error, status_code, duration_ms }: AttemptResult): Evidence {
  if (error !== null && SENT_NOTHING.has(error)) return 'none';
  if (error !== null && status_code === null && NO_ANSWER.has(error)) return 'no answer';
  return error === 'timeout' || duration_ms > LIMITS.slow_attempt_ms ? 'late answer' : 'answer';
}
