import { findBrowser } from '../../browser-pool/chromium/find-browser.js';
import { LIMITS } from '../../browser-pool/limits.js';
import { createLogger } from '../../storage/log/log.js';
import { ConfigError } from './settings/config.js';

/**
 * With `on`, starts a browser to see that it can use its sandbox here (POOL-20). Without any browser there is nothing to see.
 * @throws ConfigError when it cannot
 */
export async function requireBrowserSandbox(setting: 'auto' | 'on' | 'off'): Promise<void> {
  if (setting !== 'on' || !findBrowser()) return;
  // Loaded here only: the main thread drives no browser otherwise, and the library takes long to load.
  const { BrowserKeeper } = await import('../../browser-pool/chromium/browser-keeper.js');
  const keeper = new BrowserKeeper([], LIMITS, createLogger({ level: 'silent', format: 'json' }, {}), setting);
  try {
    await keeper.current();
  } catch {
    throw new ConfigError(
      'BROWSER_SANDBOX has "on", and no browser starts with its sandbox here: allow user namespaces to unprivileged users, as root have setpriv and a browser that every user may execute, or set it to auto',
    );
  } finally {
    await keeper.close();
  }
}
