import { v4 as uuidv4 } from 'uuid';
import { TEST_EVENT } from '../model/records.js';
import type { Sql, Transaction } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { type DeliveryRow, listDeliveries } from './deliveries-read.js';
import { recordEvents } from './events-record.js';
import type { SubscriptionRow } from './subscriptions.js';

/** How many test events of one subscription may be under way, and among how many of its newest deliveries they are counted. */
export interface TestEventBounds {
  pending_tests: number;
  tests_among_deliveries: number;
}

/**
 * Records a test event of the subscription's connection with one delivery, to this subscription (EVT-19): gives the delivery, or why
 * there is none. Run it in a transaction, and roll that back when it is refused.
 *
 * The lock is on the connection alone: it makes tests take turns and holds off whatever changes `active`, and recorders of
 * the connection's other events, which lock its list before its subscriptions, go on. Index: delivery_by_rank.
 */
export async function recordTestEvent(
  tx: Transaction,
  { id, connection_id, workspace_id }: SubscriptionRow,
  { pending_tests, tests_among_deliveries }: TestEventBounds,
): Promise<DeliveryRow | 'gone' | 'subscription_inactive' | 'no_connection' | 'too_many_tests'> {
  const member = await memberOf(tx, { id, connection_id });
  if (typeof member === 'string') return member;
  const [connection] = await tx.query(
    'lockConnectionForTest',
    'select from connection where id = $1 and deleted_at is null for no key update',
    [member.connection_id],
  );
  const [subscription] = await tx.query<{ active: boolean; tests: number }>(
    'countPendingTests',
    `select s.active, (
       select count(*) from delivery d join event e on e.id = d.event_id
       where d.subscription_id = s.id and d.rank > s.delivery_count - $2
         and d.status in ('pending', 'sending') and e.type = $3) as tests
     from subscription s where s.id = $1`,
    [member.id, tests_among_deliveries, TEST_EVENT],
  );
  if (!connection || !subscription) return 'gone';
  if (!subscription.active) return 'subscription_inactive';
  if (subscription.tests >= pending_tests) return 'too_many_tests';
  const event = {
    connectionId: member.connection_id,
    providerEventId: `test-${uuidv4()}`,
    type: TEST_EVENT,
    data: { subscription_id: id },
  } as const;
  await recordEvents(tx, workspace_id, [event], member.id);
  // Its newest until the commit: counting the delivery has locked the subscription.
  const [delivery] = await listDeliveries(tx, member, null, 0, 1);
  return delivery ?? 'gone';
}

/** Of a subscription of the workspace, an active member of the connection that was stored first; or why there is none. */
async function memberOf(
  tx: Sql,
  { id, connection_id }: Pick<SubscriptionRow, 'id' | 'connection_id'>,
): Promise<{ id: string; connection_id: string } | 'subscription_inactive' | 'no_connection'> {
  if (connection_id !== null) return { id, connection_id };
  const [found] = await tx.query<{ active: boolean; has_members: boolean; id: string | null; connection_id: string }>(
    'memberForTest',
    `select p.active, ${findsRow('from subscription where parent_id = p.id')} as has_members, m.id, m.connection_id from subscription p left join lateral (
       select id, connection_id from subscription where parent_id = p.id and active order by connection_id limit 1) m on true
     where p.id = $1`,
    [id],
  );
  if (!found?.active) return 'subscription_inactive';
  if (!found.has_members) return 'no_connection';
  // A member is inactive while a disconnect of its connection still cancels.
  return found.id === null ? 'subscription_inactive' : { id: found.id, connection_id: found.connection_id };
}
