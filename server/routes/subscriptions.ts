import typia, { type tags } from 'typia';
import { v7 as uuidv7 } from 'uuid';
import { CALLBACK_REFUSALS, checkCallback } from '../../actors/deliveries/callback-guard.js';
import type { Distinct, Text } from '../../browser-pool/contract/fields.js';
import type { ConnectionRef } from '../../storage/connections/connections.js';
import {
  countDeliveries,
  insertSubscription,
  listSubscriptions,
  type SubscriptionRow,
} from '../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../storage/model/errors.js';
import type { EventType } from '../../storage/model/records.js';
import { subscriptionSecretContext } from '../../storage/secrets/sealing.js';
import { type Answer, invalidField, json } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { connectionRefResource, subscriptionResource } from './resources.js';
import { signingSecret } from './signing-secret.js';
import {
  type NewSubscriptionJson,
  type SubscriptionDetailJson,
  type SubscriptionsJson,
  subscriptionJson,
} from './subscription-json.js';

/** Where events of a connection are pushed to (contract: "Subscription creation rules"). */
export interface NewSubscriptionInput {
  event_types: EventType[] & tags.MinItems<1> & Distinct;
  /** Public HTTPS, without query and fragment. */
  callback_url: string & tags.MinLength<1> & tags.MaxLength<2048>;
  /** Signs the callbacks; one is generated when it is absent. */
  secret?: Text<32, 255>;
}

async function list({ db, resource }: Call<ConnectionRef, undefined, undefined>): Promise<Answer> {
  const rows = await listSubscriptions(db, resource.id);
  return json(200, { subscriptions: rows.map(subscriptionJson) } satisfies SubscriptionsJson);
}

async function create(call: Call<ConnectionRef, NewSubscriptionInput, undefined>): Promise<Answer> {
  const { db, ring, callbackPolicy, resource, body } = call;
  const callback = await checkCallback(body.callback_url, callbackPolicy);
  if (!callback.ok) throw invalidField('body.callback_url', CALLBACK_REFUSALS[callback.reason]);
  const id = uuidv7();
  const secret = body.secret ?? signingSecret();
  const row = await insertSubscription(db, {
    id,
    connectionId: resource.id,
    eventTypes: body.event_types,
    callbackUrl: body.callback_url,
    secretSealed: ring.seal(secret, subscriptionSecretContext(id)),
  });
  if (!row) throw new HttpError('not_found');
  const created: NewSubscriptionJson = { ...subscriptionJson(row), secret };
  return json(201, created, { Location: `/v1/subscriptions/${id}` });
}

async function get({ db, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const delivery_counts = await countDeliveries(db, resource.id);
  const detail: SubscriptionDetailJson = { ...subscriptionJson(resource), delivery_counts };
  return json(200, detail);
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
      limit_bytes: LIMITS.body_bytes,
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
];
