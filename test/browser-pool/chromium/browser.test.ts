import t from 'tap';
import { LiveBrowser } from '../../../browser-pool/chromium/browser.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { POOL_LIMITS } from '../../../browser-pool/limits.js';

t.test('a browser that is to give way closes behind its last context, one still being made included', async (t) => {
  const limits = { ...POOL_LIMITS, browser_memory_mib: 1, memory_interval_ms: 1 };
  const browser = await LiveBrowser.launch(findBrowser() ?? '', [], false, limits);
  t.teardown(() => browser.close());
  const contexts = await Promise.all([1, 2, 3].map(() => browser.newContext({})));
  t.notOk(browser.running, 'it weighs too much');
  t.notOk(browser.gone, 'and stays for what was asked of it');
  for (const context of contexts) await browser.closeContext(context);
  t.ok(browser.gone);
});
