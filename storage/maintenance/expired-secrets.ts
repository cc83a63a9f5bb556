import { forgetGivenPasswords } from '../connections/reconnect-links.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Sql } from '../postgres/database.js';
import { Background } from '../process/background.js';
import { deleteExpiredSessions } from '../workspaces/console-sessions.js';

/** Deletes console sessions and passwords of reconnect links whose time is over, slice after slice, beside the service. Every node runs one. */
export function expiredSecrets(db: Sql, log: Logger): Background {
  return new Background(async () => {
    try {
      const most = LIMITS.session_sweep_rows;
      const deleted = [await deleteExpiredSessions(db, most), await forgetGivenPasswords(db, most)];
      if (deleted.includes(most)) return LIMITS.session_sweep_pause_ms;
    } catch (error) {
      log.warn({ err: error }, 'expired secrets: not deleted yet, trying again');
    }
    return LIMITS.session_sweep_ms;
  });
}
