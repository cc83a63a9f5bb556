import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { SessionContext } from './session-context.js';

/** What a lease needs of the contexts it comes from. */
export interface LeaseSource {
  /** False when a newer owner of the connection took over, or its context is to serve no further run. */
  mayKeep(): boolean;
  /** Ends the connection's lease. */
  release(): void;
  /** Opens another context like the leased one, from this session. */
  open(session: string | null): Promise<SessionContext>;
  close(session: SessionContext): Promise<void>;
  /** Puts the context among the idle ones. */
  park(session: SessionContext): void;
}

/**
 * A context while a run holds it.
 *
 * - *held*: the run works in `session`.
 * - *renewing*: that context is closed, another is being opened; then *held* again, for this run only.
 * - *ended*: kept warm or closed, by one call of `keep` or `drop`. Final.
 *
 * I1. A context is kept only if the lease still owns the connection, the context holds the stored session, was not renewed
 *     and is not retired, and its browser lives.
 * I2. A context that is opened after the end is closed at once.
 */
export class ContextLease {
  readonly #source: LeaseSource;
  #state: LeaseState;

  /** `keepable` is false for a context that was made without a stored session. */
  constructor(source: LeaseSource, session: SessionContext, keepable: boolean) {
    this.#source = source;
    this.#state = { kind: 'held', session, keepable };
  }

  /** The run's context; another one after `renew`. */
  get session(): SessionContext {
    return this.#state.session;
  }

  /** Gives the context back warm; false when it may not be kept and is closed instead. */
  keep(): boolean {
    const state = this.#state;
    if (state.kind === 'ended') return false;
    const { session } = state;
    if (state.kind === 'renewing' || !state.keepable || !this.#source.mayKeep() || session.browser.gone) {
      void this.drop();
      return false; // I1
    }
    this.#enter({ kind: 'ended', session });
    this.#source.release();
    this.#source.park(session);
    return true;
  }

  /** Gives the context back to be closed. Resolves when it is closed. */
  async drop(): Promise<void> {
    const { session, kind } = this.#state;
    if (kind === 'ended') return;
    this.#enter({ kind: 'ended', session });
    this.#source.release();
    await this.#source.close(session);
  }

  /** Closes the context and goes on with another one of this session, or of none, through the same proxy. */
  async renew(saved: string | null): Promise<void> {
    const { session } = this.#state;
    if (saved === null) session.forget();
    this.#enter({ kind: 'renewing', session });
    await this.#source.close(session);
    const renewed = await this.#source.open(saved);
    if (this.#state.kind === 'ended')
      await this.#source.close(renewed); // I2
    else this.#enter({ kind: 'held', session: renewed, keepable: false });
  }

  #enter(next: LeaseState): void {
    checkStep('context lease', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}

type LeaseState =
  | { kind: 'held'; session: SessionContext; keepable: boolean }
  | { kind: 'renewing'; session: SessionContext }
  | { kind: 'ended'; session: SessionContext };

const STEPS: Steps<LeaseState['kind']> = {
  held: ['renewing', 'ended'],
  renewing: ['held', 'ended'],
  ended: [],
};
