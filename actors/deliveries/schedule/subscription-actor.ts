import { checkStep, type Steps } from '../../../storage/process/steps.js';
import type { AttemptResult } from '../callback/sender.js';
import { AttemptAllowance } from './attempt-allowance.js';
import type { Destination } from './destination.js';

/**
 * One subscription that has deliveries to make, in one thread (EVT-10). It holds none of them: they are claimed one by one as
 * attempts may start, so a backlog costs nothing here, and nothing is put back when its receiver does not keep up.
 *
 *     idle ──its job was fetched──▶ due ──a claim found nothing──▶ idle ──its job goes back──▶ parking ──done──▶ idle
 *                                    ▲                                                         │     ▲
 *                                    │                                   its job was fetched   ▼     │ a claim found nothing
 *                                    └──────────────the park is done────────────────────── recalled ─┘
 *
 *     idle ──nothing of it is under way──▶ gone
 *     any  ──its partition is given up──▶ leaving ──its last attempt is written──▶ gone
 *     any  ──its partition is lost──▶ lost ──its last attempt is over──▶ gone
 *
 * Attempts run in every state but `gone`; they start in `due` and `recalled` only.
 *
 * I1 at most as many attempts are in flight as the allowance of its receiver;
 * I2 a claim that found nothing counts only if its job was not fetched since that claim was asked for;
 * I3 its job is parked at most once at a time; an attempt that ends meanwhile has it parked once more after that;
 * I4 its partition may be taken again by this thread in any state but `gone`. Attempts go on; what a claim or a park under the
 *    epoch before it found or did counts for nothing: either comes once more.
 */
export type SubscriptionState =
  /** No delivery is known to be due. */
  | { kind: 'idle' }
  /** A claim may find a delivery. */
  | { kind: 'due' }
  /** Its job is being given back; with `again` once more after that (I3). */
  | { kind: 'parking'; again: boolean }
  /** A claim may find a delivery, while an earlier park is not done yet. */
  | { kind: 'recalled' }
  /** Its partition is given up: attempts under way are made and written. */
  | { kind: 'leaving' }
  /** Its partition is another owner's: nothing more of it is sent. */
  | { kind: 'lost' }
  /** This thread no longer knows it. */
  | { kind: 'gone' };

type Kind = SubscriptionState['kind'];

const STEPS: Steps<Kind> = {
  idle: ['due', 'parking', 'leaving', 'lost', 'gone'],
  due: ['idle', 'leaving', 'lost'],
  parking: ['idle', 'parking', 'recalled', 'leaving', 'lost'],
  recalled: ['due', 'parking', 'leaving', 'lost'],
  leaving: ['lost', 'gone'],
  lost: ['gone'],
  gone: [],
};

/** Where subscriptions' callbacks lead. */
export type SubscriptionDestination = Destination<SubscriptionActor>;

export class SubscriptionActor {
  #state: SubscriptionState = { kind: 'idle' };
  readonly #allowance = new AttemptAllowance();
  readonly #announce: (state: SubscriptionState) => void;
  #epoch: number;
  #calls = 0;
  #inFlight = 0;
  #finishing = 0;

  constructor(
    readonly id: string,
    /** Where its callbacks lead. */
    readonly destination: SubscriptionDestination,
    readonly partition: number,
    epoch: number,
    /** Called after each change of its state. */
    announce: (state: SubscriptionState) => void = () => {},
  ) {
    this.#epoch = epoch;
    this.#announce = announce;
  }

  get workspaceId(): string {
    return this.destination.workspaceId;
  }

  /** Of the partition, when it was taken last. */
  get epoch(): number {
    return this.#epoch;
  }

  get state(): Kind {
    return this.#state.kind;
  }

  /** True when its job was fetched and no claim has found nothing since. */
  get due(): boolean {
    return this.#state.kind === 'due' || this.#state.kind === 'recalled';
  }

  /** True when a further attempt may start. */
  get ready(): boolean {
    return this.due && this.#inFlight < this.#allowance.attempts; // I1
  }

  /** True while its job is this thread's to give back: then it will. */
  get holdsJob(): boolean {
    return this.#state.kind === 'idle' ? this.busy : this.#state.kind !== 'gone';
  }

  get slow(): boolean {
    return this.#allowance.slow;
  }

  /** True while attempts of it are in flight or their ends are being written. */
  get busy(): boolean {
    return this.#inFlight > 0 || this.#finishing > 0;
  }

  /** Its job was fetched: something of it is due. Throws once it has left. */
  call(): void {
    this.#calls++;
    if (!this.due) this.#enter({ kind: this.#state.kind === 'parking' ? 'recalled' : 'due' });
  }

  /** This thread took its partition again, under this epoch (I4). */
  renew(epoch: number): void {
    this.#epoch = epoch;
    this.#calls++; // I2
    if (this.#state.kind === 'parking') this.#enter({ kind: 'parking', again: true });
  }

  /** Counts an attempt as in flight until `ended`. Only while `ready`. Returns what `exhausted` takes. */
  begin(): number {
    if (!this.ready) throw new Error(`subscription ${this.id} is not ready for an attempt (${this.#state.kind})`);
    this.#inFlight++;
    return this.#calls;
  }

  /** The claim of the attempt that began with `calls` found nothing due. */
  exhausted(calls: number): void {
    if (calls !== this.#calls) return; // I2
    if (this.#state.kind === 'due') this.#enter({ kind: 'idle' });
    else if (this.#state.kind === 'recalled') this.#enter({ kind: 'parking', again: true });
  }

  /** An attempt is over and its slot free; without a result, none was made. Its end is being written until `written`. */
  ended(result: AttemptResult | undefined): void {
    this.#inFlight--;
    this.#finishing++;
    if (result) this.#allowance.learn(result);
  }

  /** The end of an attempt is written, or was none. */
  written(): void {
    this.#finishing--;
    this.#goIfOver();
  }

  /** Asks for its job to be parked. True when the caller must park it now; false when it is due, has left, or is being parked already (I3). */
  park(): boolean {
    const { kind } = this.#state;
    switch (kind) {
      case 'idle':
        this.#enter({ kind: 'parking', again: false });
        return true;
      case 'parking':
        this.#enter({ kind: 'parking', again: true });
        return false;
      case 'due':
      case 'recalled':
      case 'leaving':
      case 'lost':
      case 'gone':
        return false;
      default:
        return kind satisfies never;
    }
  }

  /** The park is done. True when its job is to be parked once more. */
  parked(): boolean {
    const state = this.#state;
    switch (state.kind) {
      case 'parking':
        this.#enter({ kind: 'idle' });
        return state.again;
      case 'recalled':
        this.#enter({ kind: 'due' });
        return false;
      case 'idle':
      case 'due':
      case 'leaving':
      case 'lost':
      case 'gone':
        return false;
      default:
        return state satisfies never;
    }
  }

  /** Its partition is given up, or `lost` to another owner: it starts nothing more. */
  leave(lost: boolean): void {
    const { kind } = this.#state;
    if (kind === 'gone' || kind === 'lost' || (kind === 'leaving' && !lost)) return;
    this.#enter({ kind: lost ? 'lost' : 'leaving' });
    this.#goIfOver();
  }

  /** This thread forgets it. Only while idle. */
  passivate(): void {
    this.#enter({ kind: 'gone' });
  }

  #goIfOver(): void {
    const { kind } = this.#state;
    if ((kind === 'leaving' || kind === 'lost') && !this.busy) this.#enter({ kind: 'gone' });
  }

  #enter(next: SubscriptionState): void {
    checkStep(`subscription ${this.id}`, STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#announce(next);
  }
}
