import type { BrowserContext, Page } from 'playwright';
import { Deadline } from '../../storage/process/deadline.js';
import type { LiveBrowser } from '../chromium/browser.js';
import { resolvedProxy } from '../chromium/egress.js';
import { LIMITS } from '../limits.js';
import type { ProxyTarget } from '../messages.js';
import { keepsAll, type Renewal, renewedBy, type Session } from '../session.js';

/**
 * A browser context that holds one session and goes out through one proxy. Made from the session's cookies alone
 * (7 ms); the session's local storage is restored with its first page (100 ms more), because JSON endpoints do not
 * see it.
 *
 * What the site changes of its cookies is reported, to be stored:
 * I1. The cookies are read only after something may have set some: an answer that said so, or a page. A run without pays nothing.
 * I2. Each renewal is reported once, in order, its base being the one before. One that turns out not to be stored is reported anew.
 */
export class SessionContext {
  readonly browser: LiveBrowser;
  readonly context: BrowserContext;
  readonly #proxy: ProxyTarget;
  /** As it was last reported, and as it was stored before that; undefined when what the site changes is not to be stored. */
  #session: { text: string; before: string } | undefined;
  #unrestored: Session['origins'];
  #report: (renewal: Renewal) => void = () => {};
  /** Cookies may have been set since they were read. */
  #touched = false;
  /** Looks that are under way or wait. */
  #looking = 0;
  #looks: Promise<void> = Promise.resolve();

  /** Use `open`. */
  constructor(browser: LiveBrowser, context: BrowserContext, proxy: ProxyTarget, session: string | null) {
    this.browser = browser;
    this.context = context;
    this.#proxy = proxy;
    this.#session = session === null ? undefined : { text: session, before: session };
    this.#unrestored = stateOf(session).origins;
  }

  /** `session` is a `storageState` as JSON text; null makes a context without any session. */
  static async open(browser: LiveBrowser, proxy: ProxyTarget, session: string | null): Promise<SessionContext> {
    const { username, password } = proxy;
    const server = await resolvedProxy(proxy.server);
    const context = await browser.newContext({
      proxy: { server, ...(username !== undefined && { username }), ...(password !== undefined && { password }) },
      storageState: { cookies: stateOf(session).cookies, origins: [] },
      acceptDownloads: false,
      serviceWorkers: 'block',
    });
    return new SessionContext(browser, context, proxy, session);
  }

  /** False for another proxy, and for one that has moved or has other credentials by now. */
  leavesThrough({ id, server, username, password }: ProxyTarget): boolean {
    const own = this.#proxy;
    return own.id === id && own.server === server && own.username === username && own.password === password;
  }

  /** Whether a run may go on in it that was ordered with this stored session: false when the session was renewed elsewhere meanwhile. */
  continues(session: string | null): boolean {
    const own = this.#session;
    if (session === null || (session !== own?.text && session !== own?.before)) return false;
    if (session !== own.text) this.#touched = true; // I2: the renewal was not stored
    this.#session = { text: session, before: session };
    return true;
  }

  /** Who gets the renewals from now on. */
  reportTo(report: (renewal: Renewal) => void): void {
    this.#report = report;
  }

  /** Opens a page of the session, local storage included. */
  async newPage(): Promise<Page> {
    this.#touched = true;
    if (this.#unrestored.length > 0) {
      await this.context.setStorageState({ cookies: await this.context.cookies(), origins: this.#unrestored });
      this.#unrestored = [];
    }
    return this.context.newPage();
  }

  /** The session as JSON text. Quick only while a page of its site is open (3 ms, else 100–170 ms). */
  async session(): Promise<string> {
    return JSON.stringify(await this.context.storageState());
  }

  /** The session that the context was made from, as JSON text, with the cookies that it has now (1 ms). */
  async renewedSession(): Promise<string> {
    if (!this.#session) return this.session();
    return renewedBy(this.#session.text, await this.context.cookies()) ?? this.#session.text;
  }

  /** An answer set cookies: reports what it changed. Called in the middle of a run. */
  sawCookies(): void {
    this.#touched = true;
    void this.#look(true);
  }

  /** Reports what the site changed of the session, in `close_ms` at most; undefined when nothing can have changed. Never rejects. */
  settle(): Promise<void> | undefined {
    if (this.#looking === 0 && !this.#mayBeRenewed) return undefined;
    return Deadline.within(LIMITS.close_ms, this.#look(false)).catch(() => {});
  }

  /** What the site changes is not reported any more: the session has ended, or another takes its place. */
  forget(): void {
    this.#session = undefined;
  }

  /** Reports what the site changed, and closes the context with its pages. */
  async close(): Promise<void> {
    if (!this.browser.gone) await this.settle();
    await this.browser.closeContext(this.context);
  }

  get #mayBeRenewed(): boolean {
    return this.#session !== undefined && (this.#touched || this.context.pages().length > 0); // I1
  }

  /** One look after the other (I2). */
  #look(midRun: boolean): Promise<void> {
    this.#looking += 1;
    this.#looks = this.#looks
      .then(() => this.#lookOnce(midRun))
      .catch(() => {}) // the browser is gone, and what it held with it
      .finally(() => {
        this.#looking -= 1;
      });
    return this.#looks;
  }

  async #lookOnce(midRun: boolean): Promise<void> {
    if (!this.#mayBeRenewed) return;
    this.#touched = this.context.pages().length > 0;
    const cookies = await this.context.cookies();
    if (!this.#session) return;
    const { text: base } = this.#session;
    const session = renewedBy(base, cookies);
    if (session === undefined) return;
    // The site takes cookies away when it ends a session: the end of the run shows whether it did.
    if (midRun && !keepsAll({ base, session })) {
      this.#touched = true;
      return;
    }
    this.#session = { text: session, before: base };
    this.#report({ base, session });
  }
}

function stateOf(session: string | null): Session {
  return { cookies: [], origins: [], ...(session === null ? {} : (JSON.parse(session) as Partial<Session>)) };
}
