import { LIMITS } from '../../limits.js';
import type { Logger } from '../../log/log.js';
import type { Database } from '../../postgres/database.js';
import { Background } from '../../process/background.js';
import { classesOf, type RetentionClass, type RetentionDays } from './classes.js';
import { takeTurn, throughSince_s } from './turn.js';

/** What metrics tell of it. */
export interface RetentionStats {
  /** Rows that this process has erased, by class. */
  erased: Partial<Record<RetentionClass, number>>;
  /** Since everything of a class that is too old was last gone, as far as this process knows. */
  behind_s: Partial<Record<RetentionClass, number>>;
}

export interface RetentionOptions {
  db: Database;
  log: Logger;
  days: RetentionDays;
  /** Gets the stats whenever they have changed. */
  stats?(stats: RetentionStats): void;
}

/**
 * Erases what is older than the settings allow, slice after slice, beside the service. Every node runs one, and one slice is under way in
 * the whole installation (`turn.ts`), which says when the next one is due.
 */
export function retention({ db, log, days, stats }: RetentionOptions): Background {
  const classes = classesOf(days);
  const started_ms = performance.now();
  const erased: RetentionStats['erased'] = Object.fromEntries(classes.map((one) => [one, 0]));
  let through: { since_s: RetentionStats['behind_s']; at_ms: number } = { since_s: {}, at_ms: started_ms };
  const report = () => {
    const elapsed_s = (performance.now() - through.at_ms) / 1000;
    const running_s = (performance.now() - started_ms) / 1000;
    const behind = (one: RetentionClass) => {
      const since_s = through.since_s[one];
      return since_s === undefined ? running_s : since_s + elapsed_s;
    };
    stats?.({ erased, behind_s: Object.fromEntries(classes.map((one) => [one, behind(one)])) });
  };
  return new Background(async () => {
    if (classes.length === 0) return undefined;
    try {
      const turn = await takeTurn(db, days);
      if (turn) erased[turn.class] = (erased[turn.class] ?? 0) + turn.erased;
      if (turn && turn.erased > 0) log.debug(turn, 'retention: rows were erased');
      through = { since_s: await throughSince_s(db), at_ms: performance.now() };
      if (turn?.failure !== undefined) {
        log.warn(
          { err: turn.failure, class: turn.class },
          'retention: a slice failed, going on with less, or behind it',
        );
      }
      return Math.min(turn?.pause_ms ?? Number.POSITIVE_INFINITY, LIMITS.retention_poll_ms);
    } catch (error) {
      log.warn({ err: error }, 'retention: what is too old is not erased yet, trying again');
      return LIMITS.retention_poll_ms;
    } finally {
      report();
    }
  });
}
