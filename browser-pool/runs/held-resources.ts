import type { BrowserContext, Page } from 'playwright';
import type { ContextLease } from '../contexts/context-lease.js';
import { browserUnavailable, RunFailure } from '../failures.js';
import type { RunEnd, RunOrder, SessionEffects } from '../messages.js';
import type { Renewal } from '../session.js';
import { RunPage } from './run-page.js';
import type { RunResources } from './run-resources.js';
import { RunSlots } from './run-slots.js';

/** How the resources of a run follow the run, and end it. */
export interface RunLifetime {
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  interrupt(failure: RunFailure): void;
  /** The site changed the run's session. May be called behind the run's end, for as long as its context is open. */
  renewed(renewal: Renewal): void;
  /** The running time stands still while the run waits for a slot, and goes on behind it. */
  stopClock(): void;
  startClock(): void;
}

/**
 * What one run holds of the host's resources: its slot, its context, its page and, where the operator wants one, a trace.
 *
 * I1. All of it is given back by `release`, whatever happens; what arrives after an interruption is given back at once.
 * I2. A page stays warm only in a context that does, and only behind a run that did not fail.
 * I3. No trace is being taken while the run waits for a code, or ran with credentials.
 */
export class HeldResources {
  readonly #order: RunOrder;
  readonly #shared: RunResources;
  readonly #run: RunLifetime;
  readonly #slots: RunSlots;
  readonly #page: RunPage;
  #lease: ContextLease | undefined;
  /** The context a trace is being taken of. */
  #traced: BrowserContext | undefined;
  #unwatchBrowser: () => void = () => {};

  constructor(order: RunOrder, shared: RunResources, run: RunLifetime) {
    this.#order = order;
    this.#shared = shared;
    this.#run = run;
    this.#slots = new RunSlots({
      runSlots: shared.runSlots,
      pageSlots: shared.pageSlots,
      workspaceId: order.workspaceId,
      clock: run,
      signal: run.signal,
    });
    this.#page = new RunPage(() => this.#slots.acquirePage(), shared.warmPages);
  }

  get holdsPage(): boolean {
    return this.#page.isOpen;
  }

  /** The run's context; throws the run's failure when it has ended. */
  get context(): BrowserContext {
    return this.#held().session.context;
  }

  /** What the browser of the run's context says that it is. */
  get userAgent(): string {
    return this.#held().session.browser.userAgent;
  }

  /**
   * Resolves when the run holds its slot, and a page slot first if it is going to need a page. Rejects with the run's
   * failure.
   */
  async acquireSlot(usesPage = false): Promise<void> {
    if (usesPage) await this.#slots.reservePage();
    await this.#slots.acquire();
  }

  /** Leases the connection's context, and starts a trace where one is wanted. */
  async openContext(): Promise<void> {
    const { connectionId, stateRevision, epoch, proxy, session } = this.#order;
    const fenced = () => this.#run.interrupt(new RunFailure('session_fenced'));
    const { renewed } = this.#run;
    const owner = { connectionId, stateRevision, epoch, proxy, session, renewed, fenced };
    const lease = await this.#shared.contexts.lease(owner);
    if (this.#run.signal.aborted) {
      await lease.drop(); // I1
      throw this.#run.signal.reason;
    }
    this.#lease = lease;
    this.#watchBrowser();
    const { artifacts } = this.#shared;
    if (!artifacts || this.#order.credentials) return; // I3
    const { context } = lease.session;
    if (await artifacts.trace(context)) this.#traced = context;
  }

  /** The run's page; waits for a page slot. */
  openPage(navigation_ms: number): Promise<Page> {
    return this.#page.open(this.#held().session, navigation_ms);
  }

  async renewContext(session: string | null): Promise<void> {
    this.#page.close();
    this.#traced = undefined; // a trace ends with its context
    this.#unwatchBrowser(); // a retiring browser closes behind its last context, and the next one may be another's
    await this.#held().renew(session);
    this.#watchBrowser();
  }

  session(): Promise<string> {
    return this.#held().session.session();
  }

  renewedSession(): Promise<string> {
    return this.#held().session.renewedSession();
  }

  sawCookies(leftOut: string[]): void {
    this.#lease?.session.sawCookies();
    const { connectionId: connection_id, capability } = this.#order;
    if (leftOut.length > 0) this.#shared.log.warn({ connection_id, capability, cookies: leftOut }, COOKIES_LEFT_OUT);
  }

  /**
   * Before the run ends: reports what the site changed of the session, unless these effects replace or end it. Undefined when there is
   * nothing to wait for. Never rejects.
   */
  settleSession(effects: SessionEffects | undefined): Promise<void> | undefined {
    const session = this.#lease?.session;
    const goesOn = effects?.session === undefined && (effects?.health ?? 'ready') === 'ready';
    if (!goesOn) session?.forget();
    return session?.settle();
  }

  /** Before a wait for the user: only the context stays held, and the page for a while, unless it is opened anew behind the wait. */
  async park({ withPage }: { withPage: boolean }): Promise<void> {
    await this.#stopTrace(); // I3
    if (withPage) this.#page.park(this.#shared.limits.waiting_page_ms);
    else this.#page.close();
    this.#slots.release();
  }

  /** Gives everything back; the context stays warm if `keepContext` and its lease allow it. */
  release(end: RunEnd, keepContext: boolean): void {
    this.#unwatchBrowser();
    this.#slots.release();
    const artifactsDone = this.#finishArtifacts(end);
    if (artifactsDone) void artifactsDone.then(() => this.#releaseContext(end, keepContext));
    else this.#releaseContext(end, keepContext);
  }

  /** Keeps or discards what shows how the run went; undefined when there is nothing to wait for. */
  #finishArtifacts(end: RunEnd): Promise<void> | undefined {
    const { artifacts } = this.#shared;
    if (!artifacts || !this.#lease || this.#lease.session.browser.gone) return undefined;
    if (end.type !== 'failure' || ENDED_FROM_OUTSIDE.has(end.code)) return this.#stopTrace();
    const { connectionId, capability } = this.#order;
    return artifacts.keep({ connectionId, capability, code: end.code }, this.#page.current, this.#traced);
  }

  #releaseContext(end: RunEnd, keepContext: boolean): void {
    const lease = this.#lease;
    this.#lease = undefined;
    const kept = keepContext && lease?.keep() === true;
    this.#page.end(kept && end.type !== 'failure'); // I2
    if (!keepContext) void lease?.drop();
  }

  async #stopTrace(): Promise<void> {
    const traced = this.#traced;
    this.#traced = undefined;
    if (traced) await this.#shared.artifacts?.discard(traced);
  }

  #watchBrowser(): void {
    this.#unwatchBrowser();
    this.#unwatchBrowser = this.#held().session.browser.onGone(() => this.#run.interrupt(browserUnavailable('lost')));
  }

  #held(): ContextLease {
    if (!this.#lease) throw this.#run.signal.reason ?? new Error('no context');
    return this.#lease;
  }
}

const COOKIES_LEFT_OUT = 'the site set cookies that no browser takes: they were left out';

/** Failures that are not about the page. */
const ENDED_FROM_OUTSIDE: ReadonlySet<string> = new Set(['canceled', 'session_fenced']);
