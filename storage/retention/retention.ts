import { Background } from '../background.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log.js';
import type { Database } from '../postgres/database.js';
import type { RetentionDays } from './classes.js';
import { takeTurn } from './turn.js';

/**
 * Erases what is older than the settings allow, slice after slice, beside the service. Every node runs one, and one slice is under way in
 * the whole installation (`turn.ts`). Slices pause between them, so that others' statements and disks keep up.
 */
export function retention(db: Database, days: RetentionDays, log: Logger): Background {
  const off = Object.values(days).every((one) => one === null);
  return new Background(async () => {
    if (off) return undefined;
    try {
      const turn = await takeTurn(db, days);
      if (turn === undefined) return LIMITS.retention_poll_ms;
      if (turn.erased > 0) log.debug(turn, 'rows of an age were erased');
      return LIMITS.retention_pause_ms;
    } catch (error) {
      log.warn({ err: error }, 'what is older than the retention allows is not erased yet, trying again');
      return LIMITS.retention_poll_ms;
    }
  });
}
