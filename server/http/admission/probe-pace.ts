import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from '../limits.js';
import { TokenBucket } from '../token-bucket.js';

/**
 * Paces probes, which need no key and are never refused (HTTP-13). As many as watch a node are answered at once; each one past
 * `LIMITS.probes_per_s` is answered `LIMITS.held_probe_ms` later, well before those who watch give up. So strangers who send nothing else get no
 * more of the node than their connections allow.
 */
export class ProbePace {
  readonly #now: () => number;
  readonly #prompt: TokenBucket;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#prompt = new TokenBucket(LIMITS.probes_per_s, LIMITS.probes_per_s, now());
  }

  /** Resolves when the probe may be answered; undefined: at once. */
  hold(): Promise<void> | undefined {
    return this.#prompt.take(this.#now()) ? undefined : delay(LIMITS.held_probe_ms);
  }
}
