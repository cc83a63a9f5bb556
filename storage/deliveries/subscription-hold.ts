import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';
import { lockSubscription } from './subscriptions.js';

/**
 * Holds the subscription, or releases it (EVT-21). Its job may be gone while it is held, so a release makes that due. True when
 * something changed, false when it was so already, undefined when the subscription or its connection is gone. Run it in a transaction.
 */
export async function setHold(
  tx: Sql,
  subscription: { id: string; connection_id: string; partition: number },
  onHold: boolean,
): Promise<boolean | undefined> {
  if (!(await lockSubscription(tx, subscription))) return undefined;
  const changed = await tx.query<{ active: boolean }>(
    'setHold',
    'update subscription set on_hold = $2 where id = $1 and on_hold <> $2 returning active',
    [subscription.id, onHold],
  );
  if (!onHold && changed[0]?.active) await wakeSubscriptions(tx, [subscription]);
  return changed.length > 0;
}
