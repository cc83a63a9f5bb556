import type { FromBrowser, RunEnd, ToBrowser } from '../../browser-pool/messages.js';
import type { Channel } from '../../storage/process/channel.js';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { SendPermission } from '../lease.js';
import type { Execution } from '../operations/attempt/execution.js';

/** What a run asks of its operation, and the signal that stops it. */
export type RunOwner = Pick<
  Execution,
  | 'signal'
  | 'boundary'
  | 'storeFile'
  | 'unverifyRecruiter'
  | 'challenge'
  | 'challengeEnded'
  | 'pauseClock'
  | 'resumeClock'
>;

/** A message of a browser host about one run. */
export type RunMessage = Exclude<FromBrowser, { type: 'stats' | 'renewed' }>;

/**
 * One run at a browser host, on the actor's side: carries the host's questions to the operation and the answers back.
 *
 * - *running*: the host executes it.
 * - *stopping*: the operation's signal aborted, or it refused an answer. The host was sent one `cancel`, and the run is
 *   given up when the host does not end it in time.
 * - *ended*: by the host, by the loss of the host, or given up. Messages of the host are ignored. Final.
 *
 * I1. The run has exactly one end.
 * I2. `#proceeded` is set before `proceed` is sent: a run that is lost or given up then leaves open what it did.
 * I3. Nothing is sent after the end.
 */
export class LinkedRun {
  readonly #run: number;
  readonly #channel: Channel<ToBrowser, FromBrowser>;
  readonly #owner: RunOwner;
  readonly #stopped_run_ms: number;
  readonly #end = Promise.withResolvers<RunEnd>();
  readonly #aborted = () => this.#stop();
  #state: LinkedRunState = { kind: 'running' };
  #proceeded = false;
  /** Why the operation refused an answer. */
  #refusal: unknown;

  /** For a run that was sent on this channel. `stopped_run_ms`: how long the host may take to end it after a cancel. */
  constructor(run: number, channel: Channel<ToBrowser, FromBrowser>, owner: RunOwner, stopped_run_ms: number) {
    this.#run = run;
    this.#channel = channel;
    this.#owner = owner;
    this.#stopped_run_ms = stopped_run_ms;
    owner.signal.addEventListener('abort', this.#aborted);
    if (owner.signal.aborted) this.#stop();
  }

  /** The end of the run. Rejects only with the refusal that made the run stop. */
  get ended(): Promise<RunEnd> {
    return this.#end.promise;
  }

  /** Takes a message of the host. */
  receive(message: RunMessage): void {
    if (this.#state.kind === 'ended') return;
    const run = this.#run;
    switch (message.type) {
      case 'clock':
        if (message.running) this.#owner.resumeClock();
        else this.#owner.pauseClock();
        break;
      case 'boundary':
        this.#answer(this.#owner.boundary(), (permission) => this.#proceed(permission));
        break;
      case 'file':
        this.#answer(this.#owner.storeFile(Buffer.from(message.bytes)), () => ({ type: 'stored', run }));
        break;
      case 'unverify':
        this.#answer(this.#owner.unverifyRecruiter(), () => ({ type: 'stored', run }));
        break;
      case 'challenge':
        this.#answer(this.#owner.challenge(message.kind, message.acceptsCode), (code) => ({ type: 'code', run, code }));
        break;
      case 'challengeEnded':
        this.#owner.challengeEnded();
        break;
      case 'result':
      case 'skipped':
      case 'failure':
        this.#finish(message);
        break;
      default:
        message satisfies never;
    }
  }

  /** The channel has closed: the host is gone with its runs. */
  channelClosed(channel: Channel<ToBrowser, FromBrowser>): void {
    if (channel === this.#channel) this.#finish(hostLost(this.#run, this.#proceeded));
  }

  #answer<Answer>(answered: Promise<Answer>, message: (answer: Answer) => ToBrowser): void {
    answered.then(
      (answer) => {
        if (this.#state.kind !== 'ended') this.#channel.send(message(answer)); // I3
      },
      (error: unknown) => {
        this.#refusal = error;
        this.#stop();
      },
    );
  }

  #proceed(permission: SendPermission): ToBrowser {
    this.#proceeded = true; // I2
    return { type: 'proceed', run: this.#run, permission };
  }

  #stop(): void {
    if (this.#state.kind !== 'running') return;
    const limit = new Deadline(this.#stopped_run_ms);
    limit.signal.addEventListener('abort', () => this.#giveUp());
    this.#enter({ kind: 'stopping', limit });
    this.#channel.send({ type: 'cancel', run: this.#run });
  }

  #giveUp(): void {
    const pastBoundary = this.#proceeded;
    this.#finish({ type: 'failure', run: this.#run, code: 'canceled', transient: false, pastBoundary, unsent: false });
  }

  #finish(end: RunEnd): void {
    if (this.#state.kind === 'ended') return; // I1
    if (this.#state.kind === 'stopping') this.#state.limit.stop();
    this.#owner.signal.removeEventListener('abort', this.#aborted);
    this.#enter({ kind: 'ended' });
    // A refused answer ended the run through a cancel: the refusal is the reason.
    const refused = this.#refusal !== undefined && end.type === 'failure' && end.code === 'canceled';
    if (refused) this.#end.reject(this.#refusal);
    else this.#end.resolve(end);
  }

  #enter(next: LinkedRunState): void {
    checkStep('linked run', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}

type LinkedRunState = { kind: 'running' } | { kind: 'stopping'; limit: Deadline } | { kind: 'ended' };

const STEPS: Steps<LinkedRunState['kind']> = {
  running: ['stopping', 'ended'],
  stopping: ['ended'],
  ended: [],
};

/** The end of a run whose host is gone, or was never reached. */
export const hostLost = (run: number, pastBoundary: boolean): RunEnd => ({
  type: 'failure',
  run,
  code: 'browser_unavailable',
  details: { reason: 'browser_host_lost' },
  transient: !pastBoundary,
  pastBoundary,
  unsent: false,
});
