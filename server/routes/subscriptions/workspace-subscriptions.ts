import typia from 'typia';
import {
  findSubscriptions,
  listWorkspaceSubscriptions,
  type SubscriptionFilter,
} from '../../../storage/deliveries/subscriptions.js';
import {
  insertWorkspaceSubscription,
  proveWorkspaceSubscription,
  roomForWorkspaceSubscription,
} from '../../../storage/deliveries/workspace-subscriptions.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { ListPlace } from '../../../storage/postgres/list-place.js';
import type { Answer } from '../../http/answer.js';
import type { Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { listAnswer } from '../list-answer.js';
import type { CursorQuery } from '../paging.js';
import { type NewSubscriptionInput, prepared } from './new-subscription.js';
import { settledInTime } from './settled.js';
import {
  createdAnswer,
  type NewSubscriptionJson,
  type SubscriptionsJson,
  subscriptionJson,
} from './subscription-json.js';
import { proves, withRoomForProof } from './subscription-proof.js';

/** Filters and paging of the list over all connections. */
export interface WorkspaceSubscriptionsQuery extends CursorQuery {
  /** Only subscriptions of this connection. */
  connection_id?: Uuid;
  /** `true`: only those that get events; `false`: only those that do not. */
  active?: 'true' | 'false';
}

async function list({ db, key, query }: Call<undefined, undefined, WorkspaceSubscriptionsQuery>): Promise<Answer> {
  const filter: SubscriptionFilter = {
    connectionId: query.connection_id ?? null,
    active: query.active === undefined ? null : query.active === 'true',
  };
  const name = 'subscriptions' satisfies keyof SubscriptionsJson;
  const read = (after: ListPlace, limit: number) =>
    listWorkspaceSubscriptions(db, key.workspace_id, filter, after, limit);
  return listAnswer({ name, read, show: (row) => subscriptionJson(db, row) }, query);
}

/** Events of all connections, those that come later too (EVT-23). */
async function create(call: Call<undefined, NewSubscriptionInput, undefined>): Promise<Answer> {
  const { db, key, body, audit } = call;
  const { workspace_id: workspaceId } = key;
  const { subscription, secret, bounds } = await prepared(call);
  const { id, destination } = subscription;
  await withRoomForProof(call, async () => {
    await db.transaction(async (tx) => {
      if (!(await roomForWorkspaceSubscription(tx, workspaceId, destination, bounds))) {
        throw new HttpError('too_many_subscriptions');
      }
      await insertWorkspaceSubscription(tx, { workspaceId, ...subscription });
      await audit.record(tx, [['subscription', id]]);
    });
    if (await proves(call, id, body.callback_url)) await db.transaction((tx) => proveWorkspaceSubscription(tx, id));
  });
  await settledInTime(call, id);
  const [row] = await findSubscriptions(db, [id]);
  if (!row) throw new HttpError('not_found');
  return createdAnswer(db, row, secret);
}

export const workspaceSubscriptionRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'createWorkspaceSubscription',
    audit: 'subscription.create',
    path: '/v1/subscriptions',
    summary: 'Create a subscription of the workspace',
    description:
      'Has events of all connections of the workspace pushed, as those of one connection are, to an HTTPS address, also of those that come later, signed with a secret that only this answer shows. What the service tells of itself comes of connections that are not `ready` too. A disconnect cancels what waits for that connection; events of the provider go on when it is `ready` again. Each connection keeps its own order, and none waits for another.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<NewSubscriptionInput>(),
      schema: typia.json.schemas<[NewSubscriptionInput]>(),
    },
    answers: {
      201: {
        description: 'The new subscription; `settling` while it has not come to every connection.',
        schema: typia.json.schemas<[NewSubscriptionJson]>(),
        headers: ['Location'],
      },
    },
    refusals: ['too_many_subscriptions', 'encryption_key_unavailable'],
    handle: create,
  }),
  route({
    method: 'GET',
    operationId: 'listWorkspaceSubscriptions',
    path: '/v1/subscriptions',
    summary: 'List the subscriptions of the workspace',
    description:
      'Lists the subscriptions of all connections, and those of the workspace, in the order of their creation, those of one connection or those that get events if you ask for it. Without `limit` and `cursor` it answers all of them.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<WorkspaceSubscriptionsQuery>(),
      schema: typia.json.schemas<[WorkspaceSubscriptionsQuery]>(),
    },
    answers: { 200: { description: 'The subscriptions.', schema: typia.json.schemas<[SubscriptionsJson]>() } },
    handle: list,
  }),
];
