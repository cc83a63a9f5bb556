import { callbackUrlOf, type SubscriptionRow } from '../../../storage/deliveries/subscriptions.js';
import type { DeliveryStatus, EventType } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type Answer, json } from '../../http/answer.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';
import { type SigningSecretJson, signingSecretJson } from './signing-secret.js';

/** Where events of a connection are pushed to (contract: "Subscription"). */
export interface SubscriptionJson {
  /** Id of the subscription. */
  id: Uuid;
  /** The connection whose events it gets; null of one that gets those of all connections of the workspace. */
  connection_id: Uuid | null;
  /** The types of event that it gets. */
  event_types: EventType[];
  /** HTTPS address that is called. */
  callback_url: string;
  /** Whether it gets events; a disconnect of the connection ends that. */
  active: boolean;
  /** Whether it is on hold: its deliveries wait until it is released. */
  on_hold: boolean;
  /** Whether its address has proven itself by the answer to a challenge. */
  verified: boolean;
  /** When it was created. */
  created_at: Timestamp;
  /** Of all connections: its last change, or its creation, has not come to every connection yet. */
  settling: boolean;
  /**
   * Set while its receiver does not answer: its deliveries wait, and one of those to its host and port is tried now and then.
   * Null otherwise.
   */
  paused: PauseJson | null;
}

/** Why deliveries of a subscription wait. */
export interface PauseJson {
  /** Since when they wait. */
  since: Timestamp;
  /** Why the last try failed, as the `error` of an attempt. */
  reason: string;
}

/** A new subscription, with its secret; only the answer to a creation has it. */
export interface NewSubscriptionJson extends SubscriptionJson, SigningSecretJson {}

/** A subscription in detail, with its deliveries counted by status. */
export interface SubscriptionDetailJson extends SubscriptionJson {
  /** How many of its deliveries have each status. */
  delivery_counts: DeliveryCountsJson;
}

/** How many deliveries have each status. */
export interface DeliveryCountsJson extends Record<DeliveryStatus, Count> {
  /** How many wait for their next attempt. */
  pending: Count;
  /** How many have an attempt under way. */
  sending: Count;
  /** How many the receiver took. */
  delivered: Count;
  /** How many failed at the last attempt of a series. */
  failed: Count;
  /** How many were canceled with their subscription. */
  canceled: Count;
}

/** Every subscription of a connection, or of the workspace, or a page of them. */
export interface SubscriptionsJson {
  /** The subscriptions, oldest first. */
  subscriptions: SubscriptionJson[];
  /** With `limit` or `cursor` only: where the next page begins, null on the last one. */
  next_cursor?: string | null;
}

export function subscriptionJson(db: Sql, row: SubscriptionRow): SubscriptionJson {
  return {
    id: row.id,
    connection_id: row.connection_id,
    event_types: row.event_types,
    callback_url: callbackUrlOf(db, row),
    active: row.active,
    on_hold: row.on_hold,
    verified: row.verified,
    created_at: row.created_at.toISOString(),
    settling: row.settling,
    paused: row.paused_since && { since: row.paused_since.toISOString(), reason: row.paused_reason ?? 'internal' },
  };
}

/** The one answer with the secret. */
export function createdAnswer(db: Sql, row: SubscriptionRow, secret: string): Answer {
  const created: NewSubscriptionJson = { ...subscriptionJson(db, row), ...signingSecretJson(secret) };
  return json(201, created, { Location: `/v1/subscriptions/${row.id}` });
}
