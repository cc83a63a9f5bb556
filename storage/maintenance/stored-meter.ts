import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Database } from '../postgres/database.js';
import { Background } from '../process/background.js';
import { measureStored } from './stored.js';

/**
 * Measures what workspaces store, slice after slice, beside the service. Every node runs one, and one slice is under way in the whole installation.
 * It rests ten times as long as a slice took, so that it takes a tenth of one connection at most. `bound`: bytes of every workspace that has no limit
 * of its own; null where none is limited.
 */
export function storedMeter({ db, log, bound }: { db: Database; log: Logger; bound: number | null }): Background {
  return new Background(async () => {
    const began = performance.now();
    try {
      const more = await measureStored(db, bound);
      return more ? Math.max(LIMITS.stored_pause_ms, 10 * (performance.now() - began)) : LIMITS.stored_poll_ms;
    } catch (error) {
      log.warn({ err: error }, 'stored meter: not measured now, trying again');
      return LIMITS.stored_poll_ms;
    }
  });
}
