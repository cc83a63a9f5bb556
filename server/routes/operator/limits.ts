import typia from 'typia';
import { limitOf, type WorkspaceLimit, workspaceUse } from '../../../storage/workspaces/limits.js';
import { type Answer, json } from '../../http/answer.js';
import { type Call, type Route, route } from '../../http/route.js';

/** How many there may be, and how many there are. */
export interface LimitJson {
  /** How many there may be. */
  limit: number;
  /** How many there are now; of a rate, about how many were asked for in the last second, refused ones among them. */
  used: number;
}

/** What the workspace may have, over all nodes. Each is null where no limit applies. */
export interface LimitsJson {
  /** Requests a second; more are 429 `rate_limited`. */
  requests_per_second: LimitJson | null;
  /** Submissions a second; more are 429 `rate_limited`. */
  submissions_per_second: LimitJson | null;
  /** Connections; more are 409 `too_many_connections`. */
  connections: LimitJson | null;
  /** Subscriptions; more are 409 `too_many_subscriptions`. */
  subscriptions: LimitJson | null;
  /**
   * MiB that inputs, results and files of operations take, and entries of the audit log; more submissions are 409 `storage_full`. `used` is what was measured last, with what was
   * accepted since: results, and what was erased, are in it some minutes later.
   */
  stored_mib: LimitJson | null;
}

async function get({
  db,
  key,
  limits,
  workspaceRates,
  workspaceStored,
}: Call<undefined, undefined, undefined>): Promise<Answer> {
  const shown = (name: WorkspaceLimit, used: number | null): LimitJson | null => {
    const limit = limitOf(name, key.limits, limits);
    return limit === null || used === null ? null : { limit, used };
  };
  const limited = limitOf('connections', key.limits, limits) !== null;
  const { connections, subscriptions } = await workspaceUse(db, key.workspace_id, limited);
  const rate = (name: 'requests_per_second' | 'submissions_per_second') =>
    shown(name, workspaceRates.asked(name, key.workspace_id));
  return json(200, {
    requests_per_second: rate('requests_per_second'),
    submissions_per_second: rate('submissions_per_second'),
    connections: shown('connections', connections),
    subscriptions: shown('subscriptions', subscriptions),
    stored_mib: shown('stored_mib', Math.round(10 * (await workspaceStored.used_mib(key.workspace_id))) / 10),
  } satisfies LimitsJson satisfies Record<WorkspaceLimit, LimitJson | null>);
}

export const limitRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getLimits',
    path: '/v1/limits',
    summary: 'Get the limits of the workspace',
    description:
      'Reads the limits of the workspace, over all nodes, with how much of each is used now. Answers to requests that count in a limited rate carry `RateLimit-Policy` and `RateLimit`, as of the draft of the IETF: the rate, and what the node that answers has left of it.',
    scopes: [],
    body: { kind: 'none' },
    answers: { 200: { description: 'The limits.', schema: typia.json.schemas<[LimitsJson]>() } },
    handle: get,
  }),
];
