import { setTimeout as delay } from 'node:timers/promises';
import { settle, unsettledSubscriptions } from '../deliveries/workspace-subscriptions.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Database } from '../postgres/database.js';
import { Background } from '../process/background.js';

/**
 * Goes on with changes of workspaces' subscriptions that were too long for their request (EVT-23). Every node runs one, beside what is removed:
 * connections without a member miss events until it comes to them. What fails holds up nothing else, and is tried again.
 */
export function settling({ db, log }: { db: Database; log: Logger }): Background {
  const failed = (err: unknown) =>
    log.warn({ err }, 'propagation: a subscription has not come to all connections yet, trying again');
  return new Background(async (isStopping) => {
    const paused = async () => {
      await delay(LIMITS.removal_pause_ms);
      return isStopping();
    };
    const ids = await unsettledSubscriptions(db).catch((error) => {
      failed(error);
      return [];
    });
    for (const id of ids) {
      if (isStopping()) break;
      await settle(db, id, paused).catch(failed);
    }
    return LIMITS.settle_poll_ms;
  });
}
