import type { SubscriptionRow } from '../../storage/deliveries/subscriptions.js';
import type { DeliveryStatus, EventType } from '../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';

/** Subscription as it is answered (contract: "Subscription"). */
export interface SubscriptionJson {
  id: Uuid;
  connection_id: Uuid;
  event_types: EventType[];
  callback_url: string;
  active: boolean;
  created_at: Timestamp;
}

/** Only the answer to a creation has the secret. */
export interface NewSubscriptionJson extends SubscriptionJson {
  secret: string;
}

/** Subscription in detail, with its deliveries counted by status. */
export interface SubscriptionDetailJson extends SubscriptionJson {
  delivery_counts: DeliveryCountsJson;
}

export type DeliveryCountsJson = Record<DeliveryStatus, Count>;

export interface SubscriptionsJson {
  subscriptions: SubscriptionJson[];
}

export function subscriptionJson(row: SubscriptionRow): SubscriptionJson {
  return {
    id: row.id,
    connection_id: row.connection_id,
    event_types: row.event_types,
    callback_url: row.callback_url,
    active: row.active,
    created_at: row.created_at.toISOString(),
  };
}
