import type { EventEmitter } from 'node:events';
import t from 'tap';
import { LiveBrowser } from '../../../browser-pool/chromium/browser.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { SessionContext } from '../../../browser-pool/contexts/session-context.js';
import { WarmPages } from '../../../browser-pool/contexts/warm-pages.js';
import { LIMITS } from '../../../browser-pool/limits.js';

t.test('kept pages', async (t) => {
  const browser = await LiveBrowser.launch({ path: findBrowser() ?? '', args: [], sandboxed: false }, LIMITS);
  t.teardown(() => browser.close());
  const session = await SessionContext.open(browser, { id: 'none', server: 'http://127.0.0.1:9' }, null);

  t.test('a page is given back as it was, with what Playwright itself listens to', async (t) => {
    const pages = new WarmPages(1, 60_000);
    const page = await session.newPage();
    const emitter = page as unknown as EventEmitter;
    const listeners = () => ['close', 'crash'].map((event) => emitter.listenerCount(event));
    const before = listeners();
    pages.keep(session, page);
    t.equal(pages.take(session), page);
    t.strictSame(listeners(), before);
    t.equal(pages.take(session), undefined, 'once');
    await page.close();
  });

  t.test('a page that closes by itself is kept no longer', async (t) => {
    const pages = new WarmPages(1, 60_000);
    const page = await session.newPage();
    pages.keep(session, page);
    await page.close();
    t.equal(pages.size, 0);
  });
});
