import typia from 'typia';
import type { ConnectionRef } from '../../../storage/connections/connections.js';
import { roomForSubscription } from '../../../storage/deliveries/subscription-bounds.js';
import {
  countDeliveries,
  insertSubscription,
  listSubscriptions,
  proveSubscription,
  type SubscriptionRow,
} from '../../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { ListPlace } from '../../../storage/postgres/list-place.js';
import { type Answer, json } from '../../http/answer.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { listAnswer } from '../list-answer.js';
import type { CursorQuery } from '../paging.js';
import { connectionRefResource, subscriptionResource } from '../resources.js';
import { type NewSubscriptionInput, prepared } from './new-subscription.js';
import {
  createdAnswer,
  type NewSubscriptionJson,
  type SubscriptionDetailJson,
  type SubscriptionsJson,
  subscriptionJson,
} from './subscription-json.js';
import { proves, withRoomForProof } from './subscription-proof.js';

async function list({ db, resource, query }: Call<ConnectionRef, undefined, CursorQuery>): Promise<Answer> {
  const name = 'subscriptions' satisfies keyof SubscriptionsJson;
  const read = (after: ListPlace, limit: number) => listSubscriptions(db, resource.id, after, limit);
  return listAnswer({ name, read, show: (row) => subscriptionJson(db, row) }, query);
}

async function create(call: Call<ConnectionRef, NewSubscriptionInput, undefined>): Promise<Answer> {
  const { db, resource, body, audit } = call;
  const { subscription, secret, bounds } = await prepared(call);
  const { id, destination } = subscription;
  const row = await withRoomForProof(call, async () => {
    const stored = await db.transaction(async (tx) => {
      const room = await roomForSubscription(tx, resource.id, destination, bounds);
      if (room === false) throw new HttpError('too_many_subscriptions');
      const inserted = room && (await insertSubscription(tx, { connectionId: resource.id, ...subscription }));
      if (inserted)
        await audit.record(tx, [
          ['subscription', id],
          ['connection', resource.id],
        ]);
      return inserted;
    });
    if (!stored || !(await proves(call, id, body.callback_url))) return stored;
    return proveSubscription(db, id);
  });
  if (!row) throw new HttpError('not_found');
  return createdAnswer(db, row, secret);
}

async function get({ db, resource }: Call<SubscriptionRow, undefined, undefined>): Promise<Answer> {
  const delivery_counts = await countDeliveries(db, resource);
  const detail: SubscriptionDetailJson = { ...subscriptionJson(db, resource), delivery_counts };
  return json(200, detail);
}

export const subscriptionRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listSubscriptions',
    path: '/v1/connections/{connection_id}/subscriptions',
    summary: 'List the subscriptions of a connection',
    description:
      'Lists the subscriptions of a connection in the order of their creation. Without `limit` and `cursor` it answers all of them.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<CursorQuery>(),
      schema: typia.json.schemas<[CursorQuery]>(),
    },
    resource: connectionRefResource,
    answers: { 200: { description: 'The subscriptions.', schema: typia.json.schemas<[SubscriptionsJson]>() } },
    handle: list,
  }),
  route({
    method: 'POST',
    operationId: 'createSubscription',
    audit: 'subscription.create',
    path: '/v1/connections/{connection_id}/subscriptions',
    summary: 'Create a subscription of a connection',
    description:
      'Has events of a connection pushed to an HTTPS address, signed with a secret that only this answer shows. On a connection that is not `ready` the subscription begins inactive.',
    scopes: ['events:write'],
    changes: 'subscriptions',
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
    refusals: ['too_many_subscriptions', 'encryption_key_unavailable'],
    handle: create,
  }),
  route({
    method: 'GET',
    operationId: 'getSubscription',
    path: '/v1/subscriptions/{subscription_id}',
    summary: 'Get a subscription',
    description: 'Reads one subscription with how many of its deliveries have each status.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: subscriptionResource,
    answers: { 200: { description: 'The subscription.', schema: typia.json.schemas<[SubscriptionDetailJson]>() } },
    handle: get,
  }),
];
