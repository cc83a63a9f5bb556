import { v7 as uuidv7 } from 'uuid';
import type { DeliveryStatus, OperationStatus } from '../../storage/model/records.js';
import type { Sql } from '../../storage/postgres/database.js';
import { newIds } from '../fixture/rows.js';

/** Puts an operation where an actor would have put it. */
export async function putOperation(db: Sql, id: string, status: OperationStatus, extra: object = {}): Promise<void> {
  const challenge = status === 'waiting_user' ? { ...CHALLENGE, ...extra } : null;
  const details = status === 'failed' ? { error_code: 'upstream_error', ...extra } : { error_code: null };
  const result = status === 'succeeded' || status === 'skipped' ? extra : null;
  await db.query(
    'testPutOperation',
    `update operation set status = $2, epoch = 1, challenge = $3, error_code = $4, error_details = $5, result = $6
     where id = $1`,
    [
      id,
      status,
      challenge,
      details.error_code,
      status === 'failed' ? { retryable: true } : null,
      result && JSON.stringify(result),
    ],
  );
}

/** Notes that the owner took a code, and lets the operation run on. */
export async function takeCode(db: Sql, id: string): Promise<void> {
  await db.query(
    'testTakeCode',
    `update operation set status = 'running', challenge = null,
       timeline = timeline || jsonb_build_object('reason', 'code_received', 'mark', challenge -> 'answered_at')
     where id = $1 and status = 'waiting_user'`,
    [id],
  );
}

const CHALLENGE = {
  id: 'challenge-1',
  kind: 'email',
  expires_at: '2999-01-01T00:00:00.000Z',
  accepts_code: true,
  answered: false,
  tries: 0,
};

/** Logs a social connection in, as a login would have. */
export async function makeReady(db: Sql, connectionId: string): Promise<void> {
  await db.query(
    'testMakeReady',
    `update connection set health = 'ready', state_revision = state_revision + 1, session_sealed = '\\x00',
       session_revision = state_revision + 1, recruiter_health = 'ready', recruiter_contract = 'c',
       recruiter_verified_revision = state_revision + 1 where id = $1`,
    [connectionId],
  );
}

/** As many events of the connection, oldest first, each with a delivery to the subscription; recorded now, or one a millisecond from then on. */
export async function insertDeliveries(
  db: Sql,
  subscriptionId: string,
  statuses: DeliveryStatus[],
  from_ms?: number,
): Promise<{ events: string[]; deliveries: string[] }> {
  const events = statuses.map((_, i) => (from_ms === undefined ? uuidv7() : uuidv7({ msecs: from_ms + i })));
  const deliveries = newIds(statuses.length);
  await db.query(
    'testEvents',
    `with stored as (
       insert into event (id, workspace_id, connection_id, provider_event_id, type, data)
       select i.id, s.workspace_id, s.connection_id, i.id, 'message_received', '{"n": 1}'
       from unnest($1::uuid[]) i(id), subscription s where s.id = $2
       returning id, connection_id
     ), counted as (
       insert into event_list as l (connection_id, event_count)
       select connection_id, count(*) from stored group by connection_id
       on conflict (connection_id) do update set event_count = l.event_count + excluded.event_count
       returning connection_id, event_count
     )
     insert into event_position (connection_id, rank, event_id)
     select connection_id, c.event_count + 1 - row_number() over (order by s.id desc), s.id
     from counted c join stored s using (connection_id)`,
    [events, subscriptionId],
  );
  await db.query(
    'testInsertDeliveries',
    `with counted as (
       update subscription set delivery_count = delivery_count + cardinality($1::uuid[]) where id = $4
       returning id, workspace_id, partition, delivery_count
     )
     insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, epoch, delivered_at, rank)
     select i.id, s.workspace_id, s.id, i.event_id, s.partition, i.status, 1,
       case when i.status = 'delivered' then now() end,
       s.delivery_count + 1 - row_number() over (order by i.event_id desc)
     from unnest($1::uuid[], $2::uuid[], $3::text[]) i(id, event_id, status), counted s`,
    [deliveries, events, statuses, subscriptionId],
  );
  return { events, deliveries };
}

/** A queue of the connection as other nodes leave it: operations with their jobs, which no request here has stored. */
export async function insertQueue(db: Sql, connectionId: string, rows: number): Promise<void> {
  await db.query(
    'testQueue',
    `with stored as (
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
       select gen_random_uuid(), c.workspace_id, c.id, c.partition, 'social.profile.get', 'queued', 'queued-' || n, '\\x00', '{}'
       from connection c, generate_series(1, $2::integer) n where c.id = $1
     )
     insert into pgboss.job_common (id, name, data)
     select id, 'mailbox-' || partition, '{"from":"00000000-0000-0000-0000-000000000000"}' from connection where id = $1`,
    [connectionId, rows],
  );
}

/** As many simulated connections, ready. */
export async function insertConnections(db: Sql, workspaceId: string, count: number): Promise<void> {
  await db.query(
    'testConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select gen_random_uuid(), $1, 0, 'simulated', 'person:' || n, 'person', n, 'ready' from generate_series(1, $2::int) n`,
    [workspaceId, count],
  );
}

/** As many operations of the connection, newer than those it has, which no request here has stored. */
export async function insertOperations(
  db: Sql,
  connectionId: string,
  count: number,
  status: 'succeeded' | 'canceled' | 'queued' = 'succeeded',
): Promise<void> {
  await db.query(
    'testInsertOperations',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result)
     select ids.id, c.workspace_id, c.id, c.partition, 'social.profile.get', $3, gen_random_uuid(), '\\x00', '{}', case when $3 <> 'queued' then '{}'::jsonb end
     from connection c, unnest($2::uuid[]) ids (id) where c.id = $1`,
    [connectionId, newIds(count), status],
  );
}
