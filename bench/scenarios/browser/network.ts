import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProxyTarget } from '../../../browser-pool/messages.js';
import type { Site } from '../../../browser-pool/social/site/site.js';
import { NetworkProcess } from '../../kit/network-process.js';
import { TemporaryFolder } from '../../kit/temporary-folder.js';

/** The stand-in network with a data directory that goes with it. */
export interface BenchNetwork extends AsyncDisposable {
  site: Site;
  proxy: ProxyTarget;
}

export async function startNetwork(): Promise<BenchNetwork> {
  const folder = new TemporaryFolder(join(tmpdir(), 'bench-network-'));
  const network = await NetworkProcess.start(folder.path);
  const [proxy] = network.proxies;
  if (!proxy) throw new Error('the network has no proxy');
  return {
    site: await network.site(),
    proxy,
    async [Symbol.asyncDispose]() {
      await network.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
