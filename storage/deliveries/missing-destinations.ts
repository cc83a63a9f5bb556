import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import type { SubscriptionRow } from './subscriptions.js';

/** A subscription from before the hash of its destination was stored (`NewSubscription.destination`). */
export type WithoutDestination = Pick<SubscriptionRow, 'id' | 'workspace_id' | 'callback_url' | 'callback_url_sealed'>;

/** The next page of them behind this id; the last one is shorter than `destination_rows`. Index: subscription_without_destination. */
export function listWithoutDestination(sql: Sql, after: string): Promise<WithoutDestination[]> {
  return sql.query<WithoutDestination>(
    'listWithoutDestination',
    `select id, workspace_id, callback_url, callback_url_sealed from subscription
     where destination is null and id > $1 order by id limit $2`,
    [after, LIMITS.destination_rows],
  );
}

/** Stores these hashes. A row that is locked is left out: it is one of the next start's. */
export async function storeDestinations(sql: Sql, hashes: { id: string; destination: Buffer }[]): Promise<void> {
  await sql.query(
    'storeDestinations',
    `with free as materialized (
       select id from subscription where id = any($1::uuid[]) and destination is null order by id for no key update skip locked
     )
     update subscription s set destination = h.destination
     from free f join unnest($1::uuid[], $2::bytea[]) h(id, destination) on h.id = f.id where s.id = f.id`,
    [hashes.map(({ id }) => id), hashes.map(({ destination }) => destination)],
  );
}
