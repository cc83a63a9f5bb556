import { randomBytes } from 'node:crypto';
import typia, { type tags } from 'typia';
import { v7 as uuidv7 } from 'uuid';
import { CALLBACK_REFUSALS, checkCallback } from '../../actors/deliveries/callback-guard.js';
import type { Text } from '../../browser-pool/contract/fields.js';
import type { ConnectionRef } from '../../storage/connections/connections.js';
import {
  activateSubscription,
  countDeliveries,
  deactivateSubscription,
  findSubscriptions,
  insertSubscription,
  listSubscriptions,
  lockSubscription,
  rotateSecret,
  type SubscriptionRow,
} from '../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../storage/model/errors.js';
import type { DeliveryStatus, EventType } from '../../storage/model/records.js';
import { subscriptionSecretContext } from '../../storage/secrets/sealing.js';
import { type Answer, invalidField, json } from '../http/answer.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';
import { BODY_bytes, SECRET_OVERLAP_hours } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { connectionRefResource, subscriptionResource } from './resources.js';

/** Where events of a connection are pushed to (contract: "Subscription creation rules"). */
export interface NewSubscriptionInput {
  event_types: EventType[] & tags.MinItems<1> & tags.UniqueItems;
  /** Public HTTPS, without query and fragment. */
  callback_url: string & tags.MinLength<1> & tags.MaxLength<2048>;
  /** Signs the callbacks; one is generated when it is absent. */
  secret?: Text<32, 255>;
}

/** Exactly this one key. */
export interface SubscriptionPatchInput {
  active: boolean;
}

/** Subscription as it is answered (contract: "Subscription"). */
export interface SubscriptionJson {
  id: Uuid;
  connection_id: Uuid;
  event_types: EventType[];
  callback_url: string;
  active: boolean;
  created_at: Timestamp;
}

/** Only the answer to a creation tells the secret. */
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

/** A new secret, told here only; until `previous_valid_until` the one before it signs as well. */
export interface RotatedSecretJson {
  secret: string;
  previous_valid_until: Timestamp;
}

function subscriptionJson(row: SubscriptionRow): SubscriptionJson {
  return {
    id: row.id,
    connection_id: row.connection_id,
    event_types: row.event_types,
    callback_url: row.callback_url,
    active: row.active,
    created_at: row.created_at.toISOString(),
  };
}

const newSecret = () => randomBytes(32).toString('base64url');

async function list({ db, resource }: Call<ConnectionRef, undefined, undefined>): Promise<Answer> {
  const rows = await listSubscriptions(db, resource.id);
  return json(200, { subscriptions: rows.map(subscriptionJson) } satisfies SubscriptionsJson);
}

async function create(call: Call<ConnectionRef, NewSubscriptionInput, undefined>): Promise<Answer> {
  const { db, ring, callbackPolicy, resource, body } = call;
  const callback = await checkCallback(body.callback_url, callbackPolicy);
  if (!callback.ok) throw invalidField('body.callback_url', CALLBACK_REFUSALS[callback.reason]);
  const id = uuidv7();
  const secret = body.secret ?? newSecret();
  const row = await insertSubscription(db, {
    id,
    connectionId: resource.id,
    eventTypes: body.event_types,
    callbackUrl: body.callback_url,
    secretSealed: ring.seal(secret, subscriptionSecretContext(id)),
  });
  if (!row) throw new HttpError('not_found', 'there is no such resource');
  const created: NewSubscriptionJson = { ...subscriptionJson(row), secret };
  return json(201, created, { Location: `/v1/subscriptions/${id}` });
}

async function get({ db, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const delivery_counts = await countDeliveries(db, resource.id);
  const detail: SubscriptionDetailJson = { ...subscriptionJson(resource), delivery_counts };
  return json(200, detail);
}

/**
 *   inactive ─ active:true, connection ready ─▶ active     (not ready: 409, unchanged)
 *   active ─ active:false ─▶ inactive                      (pending and sending deliveries become canceled)
 */
async function patch({
  db,
  resource,
  body,
}: Call<SubscriptionRow, SubscriptionPatchInput, undefined>): Promise<Answer> {
  await db.transaction(async (tx) => {
    const locked = await lockSubscription(tx, resource);
    if (!locked) throw new HttpError('not_found', 'there is no such resource');
    if (locked.active === body.active) return;
    if (!body.active) return deactivateSubscription(tx, resource);
    if (locked.health !== 'ready') throw new HttpError('connection_not_ready');
    await activateSubscription(tx, resource.id);
  });
  const [row] = await findSubscriptions(db, [resource.id]);
  if (!row) throw new HttpError('not_found', 'there is no such resource');
  return json(200, subscriptionJson(row));
}

async function rotate({ db, ring, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const secret = newSecret();
  const sealed = ring.seal(secret, subscriptionSecretContext(resource.id));
  const until = await rotateSecret(db, resource.id, sealed, SECRET_OVERLAP_hours);
  if (!until) throw new HttpError('not_found', 'there is no such resource');
  return json(200, { secret, previous_valid_until: until.toISOString() } satisfies RotatedSecretJson);
}

export const subscriptionRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/connections/{connection_id}/subscriptions',
    summary: 'Subscriptions of a connection',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: connectionRefResource,
    answers: { 200: { description: 'The subscriptions.', schema: typia.json.schemas<[SubscriptionsJson]>() } },
    handle: list,
  }),
  route({
    method: 'POST',
    path: '/v1/connections/{connection_id}/subscriptions',
    summary: 'Push events of a connection to a callback',
    scopes: ['events:write'],
    body: {
      kind: 'json',
      limit_bytes: BODY_bytes,
      validate: typia.createValidateEquals<NewSubscriptionInput>(),
      schema: typia.json.schemas<[NewSubscriptionInput]>(),
    },
    resource: connectionRefResource,
    answers: {
      201: {
        description: 'The new subscription; not active when the connection is not ready.',
        schema: typia.json.schemas<[NewSubscriptionJson]>(),
        headers: ['Location'],
      },
    },
    refusals: ['encryption_key_unavailable'],
    handle: create,
  }),
  route({
    method: 'GET',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'One subscription with the counts of its deliveries',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 200: { description: 'The subscription.', schema: typia.json.schemas<[SubscriptionDetailJson]>() } },
    handle: get,
  }),
  route({
    method: 'PATCH',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Activate or deactivate a subscription',
    scopes: ['events:write'],
    body: {
      kind: 'json',
      limit_bytes: BODY_bytes,
      validate: typia.createValidateEquals<SubscriptionPatchInput>(),
      schema: typia.json.schemas<[SubscriptionPatchInput]>(),
    },
    resource: subscriptionResource,
    answers: {
      200: { description: 'The subscription as it is now.', schema: typia.json.schemas<[SubscriptionJson]>() },
    },
    refusals: ['connection_not_ready'],
    handle: patch,
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/{subscription_id}/rotate-secret',
    summary: 'New signing secret; the old one signs beside it for a day',
    scopes: ['events:write'],
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 200: { description: 'The new secret.', schema: typia.json.schemas<[RotatedSecretJson]>() } },
    refusals: ['encryption_key_unavailable'],
    handle: rotate,
  }),
];
