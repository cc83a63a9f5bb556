import { readFile } from 'node:fs/promises';
import type { Site } from '../../../browser-pool/social/site/site.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import type { Logger } from '../../../storage/log/log.js';
import type { Database } from '../../../storage/postgres/database.js';
import type { KeyRing } from '../../../storage/secrets/encryption.js';
import { refuseForgottenProvider, removeSandboxProxies, useSandboxProxies } from '../first-run.js';
import type { Services } from '../services.js';
import type { Config } from '../settings/config.js';
import { launchSandbox } from './sandbox-process.js';
import type { SandboxReady } from './sandbox-ready.js';

export interface ProviderOptions {
  config: Config;
  log: Logger;
  ring: KeyRing;
  services: Services;
  /** The API's database, once there is one. */
  db(): Database | undefined;
}

/**
 * The provider's site that the browser drives. Where the stand-in network is the provider, its process starts beside the database, once nobody
 * else uses DATA_DIR.
 */
export class ProviderNetwork {
  readonly #options: ProviderOptions;
  #launched: ReturnType<typeof launchSandbox> | undefined;
  /** Its control port; null where the provider is no stand-in network of this process. */
  controlUrl: string | null = null;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** Starts the stand-in network, where it is the provider. */
  launch(): void {
    const { config, log, ring, services, db } = this.#options;
    if (config.provider.kind !== 'sandbox' || this.#launched) return;
    this.#launched = launchSandbox({
      dataDir: config.dataDir,
      controlPort: config.sandboxControlPort,
      log,
      onRestart: async (ready) => {
        const open = db();
        if (open) await useSandboxProxies(open, ring, ready, log);
      },
    });
    const { sandbox } = this.#launched;
    services.add('stand-in network', () => sandbox.stop());
  }

  /** The site, with the proxies of a stand-in network in place. Rejects with one line. */
  async site(db: Database): Promise<Site> {
    const { config, log, ring } = this.#options;
    if (config.provider.kind === 'site') return this.#describedSite(config.provider.file, db);
    await refuseForgottenProvider(config, db);
    if (!this.#launched) throw new Error('the stand-in network was not launched');
    await this.#launched.started;
    const { ready } = this.#launched.sandbox;
    this.controlUrl = ready.control_url;
    await useSandboxProxies(db, ring, ready, log);
    return sandboxSite(ready);
  }

  /** The site that a file describes. */
  async #describedSite(file: string, db: Database): Promise<Site> {
    const { log, ring } = this.#options;
    const { describedProvider } = await import('./provider-site.js'); // large, and few starts need it
    const { site, network } = await describedProvider(file);
    if (network) await useSandboxProxies(db, ring, network, log);
    else await removeSandboxProxies(db, log);
    return site;
  }
}

/** The stand-in network as the browser drives it. */
async function sandboxSite({ origin, ca_file, spki }: SandboxReady): Promise<Site> {
  return socialSite({ origin, spki, ca: await readFile(ca_file, 'utf8') });
}
