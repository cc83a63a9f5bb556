import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ProxyTrial, tryProxy, UnusableProxy } from '../../../browser-pool/proxy-trial.js';
import type { Site } from '../../../browser-pool/social/site/site.js';
import type { NewProxy } from '../../../storage/connections/proxies.js';
import { createLogger } from '../../../storage/log/log.js';
import { LIMITS } from '../../start/limits.js';
import { describedProvider } from '../../start/provider/provider-site.js';
import type { Config } from '../../start/settings/config.js';
import { Failure } from '../answer.js';

/** What comes of using it; null where there is no site yet to reach through it. A proxy that cannot be used is refused. */
export async function trialOf(
  config: Config,
  { url, username, password }: Omit<NewProxy, 'region'>,
): Promise<ProxyTrial | null> {
  const site = await knownSite(config);
  if (site === undefined) return null;
  const slow = setTimeout(() => process.stderr.write(`trying the proxy at ${url}\n`), LIMITS.progress_ms);
  try {
    const proxy = { id: '', server: url, ...(username !== undefined && { username, password: password ?? '' }) };
    const log = createLogger({ ...config.log, level: 'silent' }, {});
    return await tryProxy(site, proxy, { log, sandbox: config.browserSandbox });
  } catch (error) {
    if (!(error instanceof UnusableProxy)) throw error;
    throw new Failure(`the proxy at ${url} cannot be used: ${error.message} (--untried adds it all the same)`);
  } finally {
    clearTimeout(slow);
  }
}

/** The site of the service; undefined where it is a stand-in network that never ran. */
async function knownSite({ provider, dataDir }: Config): Promise<Site | undefined> {
  const file = provider.kind === 'site' ? provider.file : join(dataDir, 'sandbox', 'provider.json');
  if (provider.kind === 'sandbox' && !existsSync(file)) return undefined;
  return (await describedProvider(file)).site;
}
