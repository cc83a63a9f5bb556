import type { BrowserContext, Page } from 'playwright';
import type { ChallengeKind } from '../../storage/model/records.js';
import type { ContextLease, ContextOwner, Contexts } from '../contexts/contexts.js';
import type { WarmPages } from '../contexts/warm-pages.js';
import { browserUnavailable, failureOf, leavesContextUsable, RunFailure } from '../failures.js';
import type { FairSemaphore } from '../fair-semaphore.js';
import type { PoolLimits } from '../limits.js';
import type { FromBrowser, ProxyTarget, SessionEffects, ToBrowser } from '../messages.js';
import type { Program, ProgramOutcome, ProgramRun } from '../program.js';
import { ActorAnswers, type Answered } from './actor-answers.js';
import type { Artifacts } from './artifacts.js';
import { RunPage } from './run-page.js';
import { RunSlots } from './run-slots.js';
import { RunningTime } from './running-time.js';

export type RunOrder = Extract<ToBrowser, { type: 'run' }>;

/** What the runs of a host share. */
export interface RunResources {
  readonly limits: PoolLimits;
  readonly contexts: Contexts;
  /** Turns to execute. */
  readonly turns: FairSemaphore;
  /** Turns to have a page open. */
  readonly pages: FairSemaphore;
  /** Pages kept open for the next run of their context. */
  readonly warmPages: WarmPages;
  /** Runs that wait for a code. */
  readonly waiting: Set<Run>;
  /** Set when the operator wants to see why runs fail. */
  readonly artifacts: Artifacts | undefined;
}

/**
 * One execution of one page program (see `messages.ts` for what it says and hears).
 *
 * *queued* → (its turn) → *executing* ⇄ *waiting for proceed*, *waiting for a code* → *ended*.
 * Any state → (`interrupt`: cancel, fence, deadline, lost browser, drain) → *ended*.
 *
 * I1. Exactly one of `result`, `skipped`, `failure` is answered, and nothing after it.
 * I2. The program is never told to go past the write boundary once the run has ended.
 * I3. Past the boundary a cancel is ignored, and a failure that leaves open whether the provider acted says
 *     `pastBoundary` and is never transient (OPS-4).
 * I4. The turn, the page slot and the context are given back, whatever happens; the context stays warm only when the
 *     run ended by itself and its end does not speak against browser or session.
 */
export class Run implements ProgramRun {
  readonly order: RunOrder;
  #ground: RunResources;
  #answer: (message: FromBrowser) => void;
  #time: RunningTime;
  #interrupted = new AbortController();
  #lease: ContextLease | undefined;
  #turns: RunSlots;
  #answers: ActorAnswers;
  #page: RunPage;
  /** The context a trace is being taken of. */
  #traced: BrowserContext | undefined;
  #pastBoundary = false;
  #ended = false;
  #unwatchBrowser: () => void = () => {};

  constructor(order: RunOrder, ground: RunResources, answer: (message: FromBrowser) => void) {
    this.order = order;
    this.#ground = ground;
    this.#answer = answer;
    this.#time = new RunningTime(order.deadline_ms, () => this.interrupt(new RunFailure('deadline_exceeded')));
    this.#turns = new RunSlots({
      turns: ground.turns,
      pages: ground.pages,
      workspaceId: order.workspaceId,
      lease_wait_ms: ground.limits.lease_wait_ms,
      page_wait_ms: order.deadline_ms,
      signal: this.#interrupted.signal,
    });
    this.#answers = new ActorAnswers(this.#interrupted.signal);
    this.#page = new RunPage(() => this.#turns.takePage(), ground.warmPages);
  }

  /** Executes the program and answers. Never rejects. */
  async execute(program: Program): Promise<void> {
    const { signal } = this.#interrupted;
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    interrupted.catch(() => {});
    const ended = this.#prepare().then(() => program(this));
    ended.catch(() => {});
    try {
      this.#succeed(await Promise.race([ended, interrupted]));
    } catch (error) {
      this.#fail(failureOf(error));
    }
  }

  /** Ends the run with this failure, if it has not ended; past the boundary a cancel is too late. */
  interrupt(failure: RunFailure): void {
    if (this.#ended || (failure.code === 'canceled' && this.#pastBoundary)) return;
    this.#interrupted.abort(failure);
    this.#fail(failure);
  }

  /** The phase `dispatching` is durable. */
  proceed(): void {
    if (this.#answers.give('proceed', '')) this.#pastBoundary = true;
  }

  /** The part of the file is durable. */
  stored(): void {
    this.#answers.give('stored', '');
  }

  /** The user's code. */
  code(code: string): void {
    this.#answers.give('code', code);
  }

  get holdsPage(): boolean {
    return this.#page.isOpen;
  }

  get input(): Record<string, unknown> {
    return this.order.input;
  }

  get credentials(): { username: string; password: string } | undefined {
    return this.order.credentials;
  }

  get actorId(): string | null {
    return this.order.actorId;
  }

  get hasSession(): boolean {
    return this.order.session !== null;
  }

  get proxy(): ProxyTarget {
    return this.order.proxy;
  }

  get context(): BrowserContext {
    return this.#held().session.context;
  }

  page(): Promise<Page> {
    return this.#page.open(this.#held().session, this.navigation_ms());
  }

  async renewContext(session: string | null): Promise<void> {
    this.#page.close();
    this.#traced = undefined; // it goes with its context
    this.#unwatchBrowser(); // a retiring browser closes behind its last context, and the next one is another's
    await this.#held().renew(session);
    this.#watchBrowser();
  }

  session(): Promise<string> {
    return this.#held().session.session();
  }

  async boundary(): Promise<void> {
    this.#answer({ type: 'boundary', run: this.order.run });
    await this.#hear('proceed', this.#ground.limits.proceed_wait_ms, new RunFailure('session_fenced'));
  }

  async store(bytes: ArrayBuffer): Promise<void> {
    this.#answer({ type: 'file', run: this.order.run, bytes });
    await this.#hear('stored', this.#ground.limits.proceed_wait_ms, new RunFailure('session_fenced'));
  }

  async challenge(kind: ChallengeKind, acceptsCode: boolean): Promise<string> {
    const { limits, waiting } = this.#ground;
    if (waiting.size >= limits.waiting_runs) throw browserUnavailable('too_many_waiting');
    await this.#stopTrace(); // no code is ever in one
    this.#page.rest(limits.waiting_page_ms);
    this.#turns.giveBack();
    waiting.add(this);
    try {
      this.#answer({ type: 'challenge', run: this.order.run, kind, acceptsCode });
      const code = await this.#hear('code', limits.code_wait_ms, new RunFailure('challenge_expired'));
      await this.#turns.take();
      return code;
    } finally {
      waiting.delete(this);
    }
  }

  request_ms(): number {
    return this.#time.atMost(this.#ground.limits.request_ms);
  }

  navigation_ms(): number {
    return this.#time.atMost(this.#ground.limits.navigation_ms);
  }

  async #prepare(): Promise<void> {
    await this.#turns.take();
    const { connectionId, stateRevision, epoch, proxy, session } = this.order;
    const owner: ContextOwner = {
      connectionId,
      stateRevision,
      epoch,
      proxy,
      session,
      fenced: () => this.interrupt(new RunFailure('session_fenced')),
    };
    const lease = await this.#ground.contexts.lease(owner);
    if (this.#ended) {
      await lease.drop();
      throw this.#interrupted.signal.reason;
    }
    this.#lease = lease;
    this.#watchBrowser();
    const { artifacts } = this.#ground;
    if (!artifacts || this.order.credentials) return;
    const { context } = lease.session;
    if (await artifacts.trace(context)) this.#traced = context;
  }

  async #stopTrace(): Promise<void> {
    const traced = this.#traced;
    this.#traced = undefined;
    if (traced) await this.#ground.artifacts?.discard(traced);
  }

  #watchBrowser(): void {
    this.#unwatchBrowser();
    this.#unwatchBrowser = this.#held().session.browser.onGone(() => this.interrupt(browserUnavailable('lost')));
  }

  /** Waits for the actor with the clock stopped. */
  async #hear(what: Answered, wait_ms: number, tooLong: RunFailure): Promise<string> {
    this.#time.pause();
    try {
      return await this.#answers.wait(what, wait_ms, tooLong);
    } finally {
      if (!this.#ended) this.#time.resume();
    }
  }

  #held(): ContextLease {
    if (!this.#lease) throw this.#interrupted.signal.reason ?? new Error('no context');
    return this.#lease;
  }

  #succeed(outcome: ProgramOutcome): void {
    const { run } = this.order;
    const effects: { effects?: SessionEffects } = outcome.effects ? { effects: outcome.effects } : {};
    if ('skipped' in outcome) this.#end({ type: 'skipped', run, reason: outcome.skipped, ...effects }, true);
    else this.#end({ type: 'result', run, result: outcome.result, ...effects }, true);
  }

  #fail(failure: RunFailure): void {
    this.#end(
      {
        type: 'failure',
        run: this.order.run,
        code: failure.code,
        details: failure.details,
        transient: failure.transient && !this.#pastBoundary,
        pastBoundary: this.#pastBoundary && !failure.definite,
        ...(failure.effects && { effects: failure.effects }),
      },
      !this.#interrupted.signal.aborted && leavesContextUsable(failure),
    );
  }

  #end(message: FromBrowser, keepContext: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#time.stop();
    this.#unwatchBrowser();
    this.#turns.giveBack();
    this.#answer(message);
    const shown = this.#show(message);
    if (shown) void shown.then(() => this.#letGo(message, keepContext));
    else this.#letGo(message, keepContext);
  }

  /** Keeps or throws away what shows how the run went, where the operator asked for it; undefined when there is nothing. */
  #show(message: FromBrowser): Promise<void> | undefined {
    const { artifacts } = this.#ground;
    if (!artifacts || !this.#lease || this.#lease.session.browser.gone) return undefined;
    if (message.type !== 'failure' || ENDED_FROM_OUTSIDE.has(message.code)) return this.#stopTrace();
    const { connectionId, capability } = this.order;
    return artifacts.keep({ connectionId, capability, code: message.code }, this.#page.current, this.#traced);
  }

  /** Gives page and context back, warm where they may be. */
  #letGo(message: FromBrowser, keepContext: boolean): void {
    const lease = this.#lease;
    this.#lease = undefined;
    const kept = keepContext && lease?.keep() === true;
    this.#page.end(kept && message.type !== 'failure');
    if (!keepContext) void lease?.drop();
  }
}

/** Failures that say nothing about the page. */
const ENDED_FROM_OUTSIDE: ReadonlySet<string> = new Set(['canceled', 'session_fenced']);
