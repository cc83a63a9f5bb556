import type { Logger } from './log.js';
import type { OutageEvents } from './postgres/reachability.js';

/** One line when the database cannot be reached any more, and one with the outage's length when it can be again. */
export function outageLog(log: Logger): OutageEvents {
  return {
    began: (error) => log.error({ err: error }, 'the database cannot be reached'),
    ended: (lasted_ms) => log.warn({ lasted_ms }, 'the database can be reached again'),
  };
}
