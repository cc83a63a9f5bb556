import t from 'tap';
import { LiveBrowser } from '../../../browser-pool/chromium/browser.js';
import type { BrowserKeeper } from '../../../browser-pool/chromium/browser-keeper.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { type ContextOwner, Contexts } from '../../../browser-pool/contexts/contexts.js';
import { LIMITS } from '../../../browser-pool/limits.js';

const SESSION = JSON.stringify({ cookies: [], origins: [] });
const OWNER: ContextOwner = {
  connectionId: 'ada',
  ...{ stateRevision: 1, epoch: 1, session: SESSION },
  proxy: { id: 'proxy', server: 'http://127.0.0.1:9' },
  renewed: () => {},
  fenced: () => {},
};

t.test('warm contexts', async (t) => {
  const browser = await LiveBrowser.launch({ path: findBrowser() ?? '', args: [], sandboxed: false }, LIMITS);
  t.teardown(() => browser.close());
  const keeper = { current: () => Promise.resolve(browser) } as unknown as BrowserKeeper;

  /** The context of a run for this owner, which ends well. */
  const used = async (contexts: Contexts, changes: Partial<ContextOwner> = {}) => {
    const lease = await contexts.lease({ ...OWNER, ...changes });
    t.equal(lease.keep(), true);
    return lease.session;
  };

  t.test('the next run of the same owner goes on in it', async (t) => {
    const contexts = new Contexts(keeper, LIMITS);
    t.equal(await used(contexts), await used(contexts));
    t.equal(contexts.open, 1);
  });

  for (const [what, changes] of Object.entries<Partial<ContextOwner>>({
    'another epoch': { epoch: 2 },
    'another revision': { stateRevision: 2 },
    'another proxy': { proxy: { id: 'other', server: 'http://127.0.0.1:9' } },
    'another session': {
      session: JSON.stringify({ cookies: [], origins: [{ origin: 'https://a.test', localStorage: [] }] }),
    },
  })) {
    t.test(`${what} gets one of its own, and the former one is closed`, async (t) => {
      const contexts = new Contexts(keeper, LIMITS);
      const first = await used(contexts);
      const next = await used(contexts, changes);
      t.not(next, first);
      t.equal(contexts.open, 1);
      t.equal(await used(contexts, changes), next, 'which is warm from then on');
    });
  }

  t.test('a context serves so many runs, and no more', async (t) => {
    const contexts = new Contexts(keeper, { ...LIMITS, context_uses: 2 });
    const [first, second, third] = [await used(contexts), await used(contexts), await used(contexts)];
    t.equal(second, first);
    t.not(third, first);
  });
});
