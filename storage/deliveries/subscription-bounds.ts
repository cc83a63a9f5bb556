import type { Sql } from '../postgres/database.js';
import { isShown } from './subscriptions.js';

/** How many subscriptions there may be. */
export interface SubscriptionBounds {
  ofConnection: number;
  /** Over all nodes. */
  ofWorkspace: number;
  /** Of one connection to one destination. */
  ofDestination: number;
}

/**
 * Whether one more subscription fits within the bounds; undefined when the connection is gone. Exact until the transaction ends, which
 * is to insert it: creations take turns by locks on the connection and, after it, on the workspace's count, on all nodes. The
 * statements are apart, so that the second one sees what the one before it waited for. Subscriptions without a hash of their
 * destination count for the connection and the workspace only. Index: subscription_by_destination, as far as the bounds.
 */
export async function roomForSubscription(
  tx: Sql,
  connectionId: string,
  destination: Buffer | null,
  bounds: SubscriptionBounds,
): Promise<boolean | undefined> {
  const [connection] = await tx.query<{ workspace_id: string }>(
    'lockConnectionForSubscription',
    'select workspace_id from connection where id = $1 and deleted_at is null for no key update',
    [connectionId],
  );
  if (!connection) return undefined;
  const [used] = await tx.query<{ of_workspace: number; of_connection: number; of_destination: number }>(
    'lockSubscriptionCount',
    `with counted as (
       insert into subscription_count as c (workspace_id, subscriptions) values ($1, 0)
       on conflict (workspace_id) do update set subscriptions = c.subscriptions returning subscriptions
     )
     select (select subscriptions from counted) as of_workspace,
       (select count(*) from (select from subscription where connection_id = $2 and ${isShown('subscription')} limit $4) s) as of_connection,
       (select count(*) from (
         select from subscription where connection_id = $2 and destination = $3 and ${isShown('subscription')}
         limit $5) s) as of_destination`,
    [connection.workspace_id, connectionId, destination, bounds.ofConnection, bounds.ofDestination],
  );
  if (!used) throw new Error('a count has no row');
  return (
    used.of_workspace < bounds.ofWorkspace &&
    used.of_connection < bounds.ofConnection &&
    used.of_destination < bounds.ofDestination
  );
}
