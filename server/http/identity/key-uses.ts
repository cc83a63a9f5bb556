import { LRUCache } from 'lru-cache';
import type { Logger } from '../../../storage/log/log.js';
import { atMost } from '../../../storage/process/cache-size.js';
import type { KeyUse } from '../../../storage/workspaces/keys.js';
import { isPassing } from '../answer.js';
import { LIMITS } from '../limits.js';

/** Writes when keys, operators or sessions were last used: at most every `LIMITS.key_touch_ms` each, many in a statement. */
export class KeyUses {
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  readonly #log: Logger;
  readonly #notedAt = new LRUCache<string, number>(atMost(LIMITS.key_cache_keys));
  #pending = new Map<string, KeyUse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (uses: readonly KeyUse[]) => Promise<void>, log: Logger) {
    this.#write = write;
    this.#log = log;
  }

  /** `address` is asked for where the use is written. */
  add(id: string, address: () => string): void {
    const now = performance.now();
    if (now - (this.#notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < LIMITS.key_touch_ms) return;
    this.#notedAt.set(id, now);
    this.#pending.set(id, { id, address: address() });
    // Soon after the first use, so that many share a statement.
    this.#timer ??= setTimeout(() => void this.flush(), LIMITS.key_cache_ms).unref();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = [...this.#pending.values()];
    this.#pending = new Map();
    if (uses.length === 0) return;
    await this.#write(uses).catch((error: unknown) => {
      if (!isPassing(error)) this.#log.warn({ err: error }, 'keys: a use was not noted');
    });
  }
}
