import { Background } from '../background.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log.js';
import type { Sql } from '../postgres/database.js';
import { deleteExpiredSessions } from './console-sessions.js';

/** Deletes sessions whose time is over, slice after slice, beside the service. Every node runs one. */
export function expiredSessions(db: Sql, log: Logger): Background {
  return new Background(async () => {
    try {
      const deleted = await deleteExpiredSessions(db, LIMITS.session_sweep_rows);
      if (deleted === LIMITS.session_sweep_rows) return LIMITS.session_sweep_pause_ms;
    } catch (error) {
      log.warn({ err: error }, 'expired sessions are not deleted yet, trying again');
    }
    return LIMITS.session_sweep_ms;
  });
}
