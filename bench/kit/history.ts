import type { Sql } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

export interface History {
  subscriptionId: string;
  /** The cursor of the last page of operations: the hundred that come after it are the oldest. */
  hundredthOperationId: string;
}

/** Ids in order of time, as the service makes them; n from 1 is the age. */
const ID = `(lpad(to_hex(1700000000000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`;

/**
 * Gives a connection a long history at once: `rows` events, as many deliveries of one subscription (every other one failed)
 * and as many operations. Vacuumed and analysed, as autovacuum would have left it by then. Like the baseline, this is SQL
 * that no part of the service runs.
 */
export async function fillHistory(db: Sql, connectionId: string, rows: number): Promise<History> {
  await db.query(
    'fillEvents',
    `insert into event (id, workspace_id, connection_id, provider_event_id, type, data)
     select ${ID}, c.workspace_id, c.id, 'history-' || n, 'sponsored_inmail_received',
       jsonb_build_object('message_body', repeat('history ', 20))
     from connection c, generate_series(1, $2::bigint) n where c.id = $1`,
    [connectionId, rows],
  );
  await db.query(
    'fillPositions',
    `with counted as (insert into event_list (connection_id, event_count) values ($1, $2))
     insert into event_position (connection_id, rank, event_id) select $1, n, ${ID} from generate_series(1, $2::bigint) n`,
    [connectionId, rows],
  );
  const [subscription] = await db.query<{ id: string }>(
    'fillSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed,
       delivery_count)
     select gen_random_uuid(), workspace_id, id, partition, '{sponsored_inmail_received}', 'https://198.51.100.1/', false, '\\x00', $2
     from connection where id = $1 returning id`,
    [connectionId, rows],
  );
  if (!subscription) throw new Error('no such connection');
  await db.query(
    'fillDeliveries',
    `insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, attempt_count, delivered_at,
       rank)
     select gen_random_uuid(), s.workspace_id, s.id, ${ID}, s.partition,
       case when n % 2 = 0 then 'failed' else 'delivered' end, 1, case when n % 2 = 1 then now() end, n
     from subscription s, generate_series(1, $2::bigint) n where s.id = $1`,
    [subscription.id, rows],
  );
  await db.query(
    'fillOperations',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
       input, result, error_code, error_details)
     select ${ID}, c.workspace_id, c.id, c.partition, 'social.profile.get',
       case when n <= $3 then 'failed' else 'succeeded' end, 'history-' || n, '\\x00', '{}',
       case when n > $3 then '{"profile": {}}'::jsonb end, case when n <= $3 then 'upstream_error' end,
       case when n <= $3 then '{"retryable": true}'::jsonb end
     from connection c, generate_series(1, $2::bigint) n where c.id = $1`,
    [connectionId, rows, LIMITS.failed_operations],
  );
  for (const table of ['event', 'event_position', 'delivery', 'operation']) {
    await db.query(`vacuum_${table}`, `vacuum (analyze) ${table}`);
  }
  const [cursor] = await db.query<{ id: string }>('fillCursor', `select ${ID} as id from (values (101)) v(n)`);
  return { subscriptionId: subscription.id, hundredthOperationId: cursor?.id ?? '' };
}
