import t from 'tap';
import { LiveBrowser } from '../../../browser-pool/chromium/browser.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { LIMITS } from '../../../browser-pool/limits.js';

t.test('a retiring browser closes behind its last context, one still being made included', async (t) => {
  const limits = { ...LIMITS, browser_memory_mib: 1, memory_interval_ms: 1 };
  const browser = await LiveBrowser.launch({ path: findBrowser() ?? '', args: [], sandboxed: false }, limits);
  t.teardown(() => browser.close());
  const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext({})));
  t.notOk(browser.running, 'it holds too much memory');
  t.notOk(browser.gone, 'and stays for the contexts requested of it');
  for (const context of contexts) await browser.closeContext(context);
  t.ok(browser.gone);
});
