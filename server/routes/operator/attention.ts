import typia from 'typia';
import { LIMITS as ACTOR_LIMITS } from '../../../actors/limits.js';
import { listFailingProxies, listIdleProxies } from '../../../storage/connections/proxies.js';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import { OPERATOR, type Right } from '../../../storage/model/records.js';
import {
  type Attention,
  exhaustedSubscriptions,
  expiringKeys,
  heldSubscriptions,
  pausedSubscriptions,
  unknownOutcomes,
  unreadyConnections,
  waitingOperations,
} from '../../../storage/overview/attention.js';
import { listNodes } from '../../../storage/overview/nodes.js';
import { listPartitions } from '../../../storage/partitions/inspection.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type Answer, json } from '../../http/answer.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { challengeCause, healthCause, pauseCause, proxyCause } from './attention-words.js';

/** What needs somebody now. */
export interface AttentionJson {
  /** By kind, the worst first; kinds of which there is nothing are left out. */
  attention: AttentionGroupJson[];
}

/** What needs somebody for one reason. */
export interface AttentionGroupJson {
  /** What it is. */
  kind: AttentionKind;
  /** How bad it is: `critical`, something may be wrong already; `warning`, work stands still; `notice`, it will. */
  severity: 'critical' | 'warning' | 'notice';
  /** How many there are; of more than 1000, 1000. */
  count: Count;
  /** Whether there are more than were counted. */
  more: boolean;
  /** The longest there first, at most 20. */
  entries: AttentionEntryJson[];
}

/**
 * What it is. `outcome_unknown`: nobody knows whether a write happened, and nobody has looked. `operation_waiting`: an operation waits for its
 * user. `connection_unready`: a connection is not ready. `deliveries_exhausted`: deliveries were given up. `destination_paused`: an address does
 * not answer. `subscription_held`: a subscription has been on hold for a day. `key_expiring`: a key expires soon. For operators, `node_silent`: a node tells nothing of itself. `partition_unowned`:
 * nobody runs a partition. `proxy_failing`: nothing gets through a proxy. `proxy_unused`: no connection uses a proxy.
 */
export type AttentionKind =
  | 'outcome_unknown'
  | 'operation_waiting'
  | 'connection_unready'
  | 'deliveries_exhausted'
  | 'destination_paused'
  | 'subscription_held'
  | 'key_expiring'
  | 'partition_unowned'
  | 'node_silent'
  | 'proxy_failing'
  | 'proxy_unused';

/** One thing that needs somebody. */
export interface AttentionEntryJson {
  /** Id of it; of a partition its number. */
  id: string;
  /** What it is called: of an operation or a subscription, the account of its connection, or `All connections`; null when it has no name. */
  name: string | null;
  /** The connection that it concerns; null where it concerns none, or all of them. */
  connection_id: Uuid | null;
  /** Why it needs somebody, for people; its words may change. */
  cause: string;
  /** Since when; null when that is not known. */
  since: Timestamp | null;
  /** Path at which the API answers it. */
  path: string;
}

interface Kind {
  kind: AttentionKind;
  severity: AttentionGroupJson['severity'];
  /** Without it the kind is left out. */
  needs: Right;
  /** `keyDays`: how long before its end a key is told of. */
  find(sql: Sql, workspaceId: string, keyDays: number): ReturnType<Attention>;
  cause(told: string): string;
  path(id: string): string;
}

/** The worst first. */
const KINDS: readonly Kind[] = [
  {
    kind: 'outcome_unknown',
    severity: 'critical',
    needs: 'operations:read',
    find: unknownOutcomes,
    cause: (capability) => `${capability} may have happened, or not: nobody has looked.`,
    path: (id) => `/v1/operations/${id}`,
  },
  {
    kind: 'operation_waiting',
    severity: 'warning',
    needs: 'operations:read',
    find: waitingOperations,
    cause: challengeCause,
    path: (id) => `/v1/operations/${id}`,
  },
  {
    kind: 'connection_unready',
    severity: 'warning',
    needs: 'connections:read',
    find: unreadyConnections,
    cause: healthCause,
    path: (id) => `/v1/connections/${id}`,
  },
  {
    kind: 'deliveries_exhausted',
    severity: 'warning',
    needs: 'events:read',
    find: exhaustedSubscriptions,
    cause: (error) => `Deliveries were given up: ${error}.`,
    path: (id) => `/v1/subscriptions/${id}`,
  },
  {
    kind: 'destination_paused',
    severity: 'warning',
    needs: 'events:read',
    find: pausedSubscriptions,
    cause: pauseCause,
    path: (id) => `/v1/subscriptions/${id}`,
  },
  {
    kind: 'subscription_held',
    severity: 'notice',
    needs: 'events:read',
    find: heldSubscriptions,
    cause: () => 'It is on hold: what is due is kept, and none of it is sent until the hold ends.',
    path: (id) => `/v1/subscriptions/${id}`,
  },
  {
    kind: 'key_expiring',
    severity: 'notice',
    needs: 'connections:write',
    find: expiringKeys,
    cause: (end) => `It expires at ${end}.`,
    path: () => '/v1/keys',
  },
];

async function ofWorkspace({ db, key, keyExpiryWarningDays }: Call<undefined, undefined, undefined>): Promise<Answer> {
  const attention: AttentionGroupJson[] = [];
  for (const { kind, severity, needs, find, cause, path } of KINDS) {
    if (!key.scopes.includes(needs)) continue;
    const { rows, count, more } = await find(db, key.workspace_id, keyExpiryWarningDays);
    const entries = rows.map((row) => ({
      ...{ id: row.id, name: row.name, connection_id: row.connection_id, cause: cause(row.cause ?? 'unknown') },
      ...{ since: row.since.toISOString(), path: path(row.id) },
    }));
    if (count > 0) attention.push({ kind, severity, count, more, entries });
  }
  return json(200, { attention } satisfies AttentionJson);
}

/** All of these are few: none is counted beyond what is shown of it. */
async function ofInstallation({ db }: Call<undefined, undefined, undefined>): Promise<Answer> {
  const kinds: AttentionGroupJson[] = [
    kindOf('partition_unowned', 'critical', await unownedPartitions(db)),
    kindOf('node_silent', 'warning', await silentNodes(db)),
    kindOf('proxy_failing', 'warning', await failingProxies(db)),
    kindOf('proxy_unused', 'notice', await unusedProxies(db)),
  ];
  return json(200, { attention: kinds.filter(({ count }) => count > 0) } satisfies AttentionJson);
}

function kindOf(
  kind: AttentionKind,
  severity: AttentionGroupJson['severity'],
  found: AttentionEntryJson[],
): AttentionGroupJson {
  const counted = STORAGE_LIMITS.attention_counted;
  const count = Math.min(found.length, counted);
  return {
    kind,
    severity,
    count,
    more: found.length > counted,
    entries: found.slice(0, STORAGE_LIMITS.attention_shown),
  };
}

async function unownedPartitions(db: Sql): Promise<AttentionEntryJson[]> {
  const partitions = await listPartitions(db);
  return partitions
    .filter(({ owned }) => !owned)
    .map(({ partition, lease_until }) => ({
      ...{ id: String(partition), name: `Partition ${partition}`, connection_id: null, path: '/v1/operator/nodes' },
      cause: 'No node runs it: what stands in it is accepted, and waits.',
      since: lease_until?.toISOString() ?? null,
    }));
}

async function silentNodes(db: Sql): Promise<AttentionEntryJson[]> {
  const nodes = await listNodes(db, 2 * ACTOR_LIMITS.renew_ms, ACTOR_LIMITS.lease_ms);
  return nodes
    .filter(({ state }) => state !== 'alive')
    .map(({ id, state, heartbeat_at }) => ({
      ...{ id, name: null, connection_id: null, path: '/v1/operator/nodes', since: heartbeat_at.toISOString() },
      cause: state === 'late' ? 'It has not shown itself for too long.' : 'It is gone: others may take what it had.',
    }));
}

async function failingProxies(db: Sql): Promise<AttentionEntryJson[]> {
  const proxies = await listFailingProxies(db, LIMITS.listed_proxies);
  return proxies.map(({ id, region, failing_since, failure }) => ({
    ...{
      id,
      name: region,
      connection_id: null,
      path: '/v1/operator/proxies',
      since: failing_since?.toISOString() ?? null,
    },
    cause: proxyCause(failure),
  }));
}

async function unusedProxies(db: Sql): Promise<AttentionEntryJson[]> {
  const proxies = await listIdleProxies(db, LIMITS.listed_proxies);
  return proxies.map(({ id, region, created_at }) => ({
    ...{ id, name: region, connection_id: null, path: '/v1/operator/proxies', since: created_at.toISOString() },
    cause: `No connection of ${region} uses it.`,
  }));
}

const ATTENTION = typia.json.schemas<[AttentionJson]>();

export const attentionRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getAttention',
    path: '/v1/attention',
    summary: 'List what needs action',
    description:
      'Answers what waits for somebody in the workspace, with the cause of each. Of subscriptions it tells with the scope `events:read` only, of keys with `connections:write`. Its cost is bounded, whatever the workspace holds.',
    scopes: ['operations:read', 'connections:read'],
    body: { kind: 'none' },
    answers: { 200: { description: 'What needs somebody.', schema: ATTENTION } },
    handle: ofWorkspace,
  }),
  route({
    method: 'GET',
    operationId: 'getInstallationAttention',
    path: '/v1/operator/attention',
    summary: 'List what needs an operator',
    description:
      'Answers what waits for an operator, whichever workspace it concerns: partitions that nobody runs, nodes that are silent, proxies that fail or that no connection uses.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    answers: { 200: { description: 'What needs an operator.', schema: ATTENTION } },
    handle: ofInstallation,
  }),
];
