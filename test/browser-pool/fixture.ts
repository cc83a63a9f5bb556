import type { Test } from 'tap';
import type { PoolLimits } from '../../browser-pool/limits.js';
import { Network } from '../fixture/network.js';
import { type Line, Pool } from './pool.js';

/** A network of its own and a pool on it, both ended with the test. */
export async function poolFixture(t: Test, limits: Partial<PoolLimits> = {}): Promise<PoolFixture> {
  const network = await Network.start();
  t.teardown(() => network.close());
  const open = (given: Partial<PoolLimits>) => {
    const pool = new Pool(network.site, given);
    t.teardown(() => pool.close());
    return pool;
  };
  const pool = open(limits);
  return {
    network,
    pool,
    line: pool.line,
    shortTimeouts: () => open({ request_ms: 1_000, proceed_wait_ms: 4_000 }).line,
  };
}

export interface PoolFixture {
  network: Network;
  pool: Pool;
  line: Line;
  /** Another pool, with little time: for what never comes. Everything else has the usual time, on slow machines too. */
  shortTimeouts(): Line;
}
