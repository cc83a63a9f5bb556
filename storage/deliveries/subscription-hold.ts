import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';
import { lockSubscription, type SubscriptionRow } from './subscriptions.js';
import { unsettle } from './workspace-subscriptions.js';

/**
 * Holds the subscription, or releases it (EVT-21). Its job may be gone while it is held, so a release makes that due, of a subscription of
 * the workspace as its members follow. True when something changed, false when it was so already, undefined when the subscription or its
 * connection is gone. Run it in a transaction.
 */
export async function setHold(
  tx: Sql,
  { id, connection_id, partition }: Pick<SubscriptionRow, 'id' | 'connection_id' | 'partition'>,
  onHold: boolean,
): Promise<boolean | undefined> {
  if (!(await lockSubscription(tx, { id, connection_id }))) return undefined;
  const changed = await tx.query<{ active: boolean }>(
    'setHold',
    'update subscription set on_hold = $2 where id = $1 and on_hold <> $2 returning active',
    [id, onHold],
  );
  if (!onHold && changed[0]?.active) {
    if (partition === null) await unsettle(tx, id);
    else await wakeSubscriptions(tx, [{ id, partition }]);
  }
  return changed.length > 0;
}
