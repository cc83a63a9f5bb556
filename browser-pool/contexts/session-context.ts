import type { BrowserContext, BrowserContextOptions, Page } from 'playwright';
import type { LiveBrowser } from '../chromium/browser.js';
import { resolvedProxy } from '../chromium/egress.js';
import type { ProxyTarget } from '../messages.js';

type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/**
 * A browser context that holds one session and goes out through one proxy. Made from the session's cookies alone
 * (7 ms); the session's local storage is restored with its first page (100 ms more), because JSON endpoints do not
 * see it.
 */
export class SessionContext {
  readonly browser: LiveBrowser;
  readonly context: BrowserContext;
  #unrestored: StorageState['origins'];

  /** Use `open`. */
  constructor(browser: LiveBrowser, context: BrowserContext, unrestored: StorageState['origins']) {
    this.browser = browser;
    this.context = context;
    this.#unrestored = unrestored;
  }

  /** `session` is a `storageState` as JSON text; null makes a context without any session. */
  static async open(browser: LiveBrowser, proxy: ProxyTarget, session: string | null): Promise<SessionContext> {
    const state: StorageState = session === null ? { cookies: [], origins: [] } : JSON.parse(session);
    const { username, password } = proxy;
    const server = await resolvedProxy(proxy.server);
    const context = await browser.newContext({
      proxy: { server, ...(username !== undefined && { username }), ...(password !== undefined && { password }) },
      storageState: { cookies: state.cookies, origins: [] },
      acceptDownloads: false,
      serviceWorkers: 'block',
    });
    return new SessionContext(browser, context, state.origins);
  }

  /** Opens a page of the session, local storage included. */
  async newPage(): Promise<Page> {
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

  /** Closes the context with its pages. */
  close(): Promise<void> {
    return this.browser.closeContext(this.context);
  }
}
