import { setTimeout as delay } from 'node:timers/promises';
import { UNKNOWN_PROGRESS, type WriteProgress } from '../../storage/model/evidence.js';
import type { ChallengeKind } from '../../storage/model/records.js';
import { Backoff } from '../../storage/process/backoff.js';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import {
  browserUnavailable,
  failureOf,
  leavesContextUsable,
  permissionRanOut,
  RunFailure,
  unanswered,
} from '../failures.js';
import type { FromBrowser, RunEnd, RunOrder, SessionEffects } from '../messages.js';
import type { Program, ProgramOutcome } from '../program.js';
import { permits, type SendPermission } from '../send-permission.js';
import type { Renewal } from '../session.js';
import { HeldResources } from './held-resources.js';
import { type ActorCalls, ProgramView } from './program-view.js';
import type { RunResources } from './run-resources.js';

/** What a run reports to. */
export interface RunReports {
  /** Sends a message to the run's actor. */
  send(message: FromBrowser): void;
  /** Announces each state as it is entered. */
  onState?(state: RunState['kind']): void;
}

/**
 * One execution of one page program (see `messages.ts` for the messages).
 *
 * - *queued*: waits for a slot, at the start, again after a code and for each look at what the user does elsewhere, with the clock
 *   stopped (OPS-17).
 * - *executing*: holds a slot; the program runs.
 * - *waiting* for the actor's `proceed`, `stored` or `code`, with the clock stopped (OPS-17). Other answers are dropped.
 * - *ended*: by the program's outcome or by `interrupt` (cancel, fence, deadline, lost browser, drain). Final.
 *
 * I1. Exactly one of `result`, `skipped`, `failure` is sent, and nothing after it.
 * I2. The program never goes past the write boundary once the run has ended.
 * I3. Past the boundary a cancel is ignored, and a failure that leaves open whether the provider acted has
 *     `pastBoundary` set and is never transient (OPS-4). It is `unsent` instead where the program never got its permission, or
 *     has proof that nothing left. Such an end tells how far the request came.
 * I4. Slot, page and context are given back at the end; the context stays warm only when the run ended by itself and
 *     its failure, if any, is neither the browser's nor the session's.
 * I5. The clock goes only while the run holds what it needs to go on, and its actor hears of each change.
 * I6. A change of the session by the site is reported before the end is sent.
 */
export class Run implements ActorCalls {
  readonly order: RunOrder;
  readonly progress: WriteProgress = { ...UNKNOWN_PROGRESS };
  readonly #run: number;
  readonly #resources: RunResources;
  readonly #reports: RunReports;
  readonly #deadline: Deadline;
  readonly #held: HeldResources;
  #state: RunState = { kind: 'queued' };
  /** Set by `proceed`, for good: the row says `dispatching`. */
  #permission: SendPermission | undefined;
  /** The program has its permission: from then on only its sender knows whether something left. */
  #mayHaveLeft = false;
  /** How the program ended is known: nothing from outside changes it any more. */
  #settled = false;

  constructor(run: number, order: RunOrder, resources: RunResources, reports: RunReports) {
    this.order = order;
    this.#run = run;
    this.#resources = resources;
    this.#reports = reports;
    this.#deadline = new Deadline(order.deadline_ms, () => new RunFailure('deadline_exceeded'));
    this.#deadline.pause(); // I5
    const { signal } = this.#deadline;
    signal.addEventListener('abort', () => {
      if (!this.#settled) this.#fail(failureOf(signal.reason));
    });
    this.#held = new HeldResources(order, resources, {
      signal,
      interrupt: (failure) => this.interrupt(failure),
      renewed: renewalsOf(order, reports),
      stopClock: () => this.#setClock(false),
      startClock: () => this.#setClock(true),
    });
  }

  get holdsPage(): boolean {
    return this.#held.holdsPage;
  }

  /** Executes the program. Resolves when the run has ended; never rejects. */
  async execute(program: Program): Promise<void> {
    let end: () => void;
    let effects: SessionEffects | undefined;
    try {
      const outcome = await this.#deadline.race(this.#start(program));
      effects = outcome.effects;
      end = () => this.#succeed(outcome);
    } catch (error) {
      const failure = failureOf(error);
      effects = failure.effects;
      end = () => this.#fail(failure);
    }
    if (this.#state.kind === 'ended') return;
    this.#settled = true; // I6
    const reported = this.#held.settleSession(effects);
    if (reported) await reported;
    end();
  }

  /** Ends the run with this failure, if it has not ended; past the boundary a cancel is too late. */
  interrupt(failure: RunFailure): void {
    if (failure.code === 'canceled' && this.#permission) return; // I3
    this.#deadline.abort(failure);
  }

  /** The phase `dispatching` is durable, and the request may begin to leave while the permission holds. */
  proceed(permission: SendPermission): void {
    if (this.#answer('proceed', '')) this.#permission = permission;
  }

  /** The part of the file, or that the connection shows no recruiter contract, is durable. */
  stored(): void {
    this.#answer('stored', '');
  }

  /** The user's code. */
  code(code: string): void {
    this.#answer('code', code);
  }

  /** Asks the actor to let the program past the write boundary. Rejects when its permission came too late. */
  async boundary(): Promise<SendPermission> {
    await this.#ask('proceed', { type: 'boundary', run: this.#run });
    const permission = this.#permission;
    if (!permission || !permits(permission)) throw permissionRanOut();
    this.#mayHaveLeft = true; // I3
    return permission;
  }

  /** Asks the actor to store a part of the file. */
  async store(bytes: ArrayBuffer): Promise<void> {
    await this.#ask('stored', { type: 'file', run: this.#run, bytes });
  }

  /** Asks the actor to show no recruiter contract. */
  async unverifyRecruiter(): Promise<void> {
    await this.#ask('stored', { type: 'unverify', run: this.#run });
  }

  /** Asks the actor for the user's code, without a slot meanwhile. */
  async challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string> {
    return this.#waitingForUser(async () => {
      await this.#held.park({ withPage: true });
      const code = await this.#ask('code', { type: 'challenge', run: this.#run, kind, acceptsCode });
      this.#enter({ kind: 'queued' });
      this.#setClock(false); // I5
      await this.#acquireSlot();
      this.#setClock(true);
      return code;
    });
  }

  /** Tells the actor what the user has to do elsewhere, and looks whether it is done, without a slot between two looks. */
  async challengeElsewhere(kind: ChallengeKind, look: () => Promise<boolean>): Promise<void> {
    const { challenge_look_ms: first_ms, challenge_look_cap_ms: cap_ms } = this.#resources.limits;
    const { signal } = this.#deadline;
    await this.#waitingForUser(async () => {
      signal.throwIfAborted(); // I1
      this.#reports.send({ type: 'challenge', run: this.#run, kind, acceptsCode: false });
      const pauses = new Backoff({ first_ms, cap_ms });
      do {
        await this.#held.park({ withPage: false });
        this.#enter({ kind: 'queued' });
        this.#setClock(false); // I5: a look is a part of the wait
        await delay(pauses.next_ms(), undefined, { signal });
        await this.#acquireSlot();
      } while (!(await look()));
      await this.#ask('code', { type: 'challengeEnded', run: this.#run });
      this.#setClock(true);
    });
  }

  async #waitingForUser<T>(wait: () => Promise<T>): Promise<T> {
    const { waitingRuns } = this.#resources;
    if (!this.#mayWaitForUser()) throw browserUnavailable('too_many_waiting');
    waitingRuns.add(this);
    try {
      return await wait();
    } finally {
      waitingRuns.delete(this);
    }
  }

  #mayWaitForUser(): boolean {
    const { limits, waitingRuns } = this.#resources;
    const { workspaceId } = this.order;
    const own = [...waitingRuns].filter(({ order }) => order.workspaceId === workspaceId).length;
    return waitingRuns.size < limits.waiting_runs && own < limits.waiting_runs_workspace;
  }

  async #start(program: Program): Promise<ProgramOutcome> {
    await this.#acquireSlot(program.usesPage);
    await this.#held.openContext();
    this.#setClock(true); // I5
    return program(new ProgramView(this.order, this.#held, this, this.#resources.limits, this.#deadline));
  }

  async #acquireSlot(usesPage?: boolean): Promise<void> {
    await this.#held.acquireSlot(usesPage);
    this.#deadline.signal.throwIfAborted();
    this.#enter({ kind: 'executing' });
  }

  #setClock(running: boolean): void {
    if (this.#state.kind === 'ended') return; // I1
    if (running) this.#deadline.resume();
    else this.#deadline.pause();
    this.#reports.send({ type: 'clock', run: this.#run, running });
  }

  async #ask(what: Answer, question: FromBrowser): Promise<string> {
    this.#deadline.signal.throwIfAborted(); // I1
    const { proceed_wait_ms } = this.#resources.limits;
    const answer = Promise.withResolvers<string>();
    this.#enter({ kind: 'waiting', what, answer });
    this.#deadline.pause();
    this.#reports.send(question);
    try {
      // A user takes as long as the operation lets them: then its actor answers or cancels.
      const text = await (what === 'code'
        ? answer.promise
        : Deadline.within(proceed_wait_ms, answer.promise, { reason: unanswered }));
      this.#deadline.signal.throwIfAborted(); // I2
      return text;
    } finally {
      if (this.#state.kind === 'waiting') this.#enter({ kind: 'executing' });
      this.#deadline.resume();
    }
  }

  /** Gives the answer to the program; false when the run does not wait for it. */
  #answer(what: Answer, text: string): boolean {
    if (this.#state.kind !== 'waiting' || this.#state.what !== what) return false;
    this.#state.answer.resolve(text);
    return true;
  }

  #succeed(outcome: ProgramOutcome): void {
    const run = this.#run;
    const effects = outcome.effects ? { effects: outcome.effects } : {};
    if ('skipped' in outcome) this.#end({ type: 'skipped', run, reason: outcome.skipped, ...effects }, true);
    else this.#end({ type: 'result', run, result: outcome.result, ...effects }, true);
  }

  #fail(failure: RunFailure): void {
    const unsent = failure.unsent || (this.#permission !== undefined && !this.#mayHaveLeft); // I3
    const end: RunEnd = {
      type: 'failure',
      run: this.#run,
      code: failure.code,
      details: failure.details,
      transient: failure.transient && (!this.#mayHaveLeft || unsent),
      pastBoundary: this.#mayHaveLeft && !failure.definite,
      unsent,
      ...(this.#mayHaveLeft && !unsent && { progress: { ...this.progress } }),
      ...(failure.effects && { effects: failure.effects }),
    };
    this.#end(end, !this.#deadline.signal.aborted && leavesContextUsable(failure));
  }

  #end(end: RunEnd, keepContext: boolean): void {
    const state = this.#state;
    if (state.kind === 'ended') return; // I1
    this.#enter({ kind: 'ended' });
    if (state.kind === 'waiting') state.answer.reject(this.#deadline.signal.reason);
    this.#deadline.stop();
    this.#reports.send(end);
    this.#held.release(end, keepContext); // I4
  }

  #enter(next: RunState): void {
    checkStep('run', STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#reports.onState?.(next.kind);
  }
}

/** Outlives the run with its context, and keeps nothing else of the run or its order: an input may be large. */
const renewalsOf =
  ({ connectionId, stateRevision }: RunOrder, { send }: RunReports) =>
  (renewal: Renewal) =>
    send({ type: 'renewed', connectionId, stateRevision, ...renewal });

type Answer = 'proceed' | 'stored' | 'code';

type RunState =
  | { kind: 'queued' }
  | { kind: 'executing' }
  | { kind: 'waiting'; what: Answer; answer: PromiseWithResolvers<string> }
  | { kind: 'ended' };

const STEPS: Steps<RunState['kind']> = {
  queued: ['executing', 'ended'],
  executing: ['queued', 'waiting', 'ended'],
  waiting: ['executing', 'ended'],
  ended: [],
};
