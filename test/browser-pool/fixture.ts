import type { Test } from 'tap';
import type { PoolLimits } from '../../browser-pool/limits.js';
import { Network, type SiteName } from '../fixture/network.js';
import { type ActorChannel, Pool } from './pool.js';

/** A network of its own, as one of its sites, and a pool on it; both end with the test. */
export async function poolFixture(
  t: Test,
  limits: Partial<PoolLimits> = {},
  site: SiteName = 'social',
): Promise<PoolFixture> {
  const network = await Network.start(site);
  t.teardown(() => network.close());
  const open = (limits: Partial<PoolLimits>) => {
    const pool = new Pool(network.site, limits);
    t.teardown(() => pool.close());
    return pool;
  };
  const pool = open(limits);
  return {
    network,
    pool,
    channel: pool.channel,
    shortTimeouts: () => open({ request_ms: 1_000, proceed_wait_ms: 4_000 }).channel,
  };
}

export interface PoolFixture {
  network: Network;
  pool: Pool;
  channel: ActorChannel;
  /** Another pool with short timeouts, for what never answers. Everything else has the usual time, on slow machines too. */
  shortTimeouts(): ActorChannel;
}
