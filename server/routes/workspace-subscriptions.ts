import typia from 'typia';
import { listWorkspaceSubscriptions, type SubscriptionFilter } from '../../storage/deliveries/subscriptions.js';
import type { ListPlace } from '../../storage/postgres/list-place.js';
import type { Answer } from '../http/answer.js';
import type { Uuid } from '../http/fields.js';
import { type Call, type Route, route } from '../http/route.js';
import { listAnswer } from './list-answer.js';
import type { CursorQuery } from './paging.js';
import { type SubscriptionsJson, subscriptionJson } from './subscription-json.js';

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

export const workspaceSubscriptionRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listWorkspaceSubscriptions',
    path: '/v1/subscriptions',
    summary: 'Subscriptions of the workspace, oldest first; limit and cursor make pages of them',
    description:
      'Lists the subscriptions of all connections in the order of their creation, those of one connection or those that get events if you ask for it. Without `limit` and `cursor` it answers all of them.',
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
