import typia from 'typia';
import { LIMITS as ACTOR_LIMITS } from '../../actors/limits.js';
import { countPinned, listProxies, type ProxyRow } from '../../storage/connections/proxies.js';
import { OPERATOR } from '../../storage/model/records.js';
import { listNodes, listPartitions, type NodeView } from '../../storage/partitions/inspection.js';
import { type Answer, json } from '../http/answer.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';

/** The nodes of the installation. */
export interface NodesJson {
  /** Those that run, or did within the last hour; the longest started first. */
  nodes: NodeJson[];
  /** Numbers of the partitions that nobody owns now. */
  unowned_partitions: Count[];
}

/** One node: a process that executes operations. */
export interface NodeJson {
  /** Id of the node; a process that is started again has another. */
  id: Uuid;
  /** How it is: `alive`, it shows itself; `late`, it has not for longer than it should; `gone`, others may take its partitions. */
  state: 'alive' | 'late' | 'gone';
  /** When it was started. */
  started_at: Timestamp;
  /** When it last showed itself. */
  heartbeat_at: Timestamp;
  /** The partitions that it owns. */
  partitions: NodePartitionJson[];
}

/** A partition of the connections, and the lease under which a node owns it. */
export interface NodePartitionJson {
  /** Number of the partition, 0 to 63. */
  id: Count;
  /** Generation of its owner. */
  epoch: Count;
  /** Milliseconds until the lease runs out, unless it is renewed. */
  lease_ms: number;
}

/** The proxies of the installation. */
export interface ProxiesJson {
  /** By region, then the oldest first; at most 1000. */
  proxies: ProxyJson[];
}

/** A proxy that accounts of a region use. */
export interface ProxyJson {
  /** Id of the proxy. */
  id: Uuid;
  /** Region that it stands for, two letters. */
  region: string;
  /** Its address, without its credentials. */
  url: string;
  /** Whether it signs in with credentials. */
  has_credentials: boolean;
  /** Whether it is offered. */
  active: boolean;
  /** How many connections are pinned to it. */
  connections: Count;
  /** When it was added. */
  created_at: Timestamp;
}

const nodeJson = ({ id, state, started_at, heartbeat_at, partitions }: NodeView): NodeJson => ({
  ...{ id, state, partitions },
  started_at: started_at.toISOString(),
  heartbeat_at: heartbeat_at.toISOString(),
});

const proxyJson = (
  { id, region, url, credentials_sealed, active, created_at }: ProxyRow,
  connections: number,
): ProxyJson => ({
  ...{ id, region, url, active, connections },
  has_credentials: credentials_sealed !== null,
  created_at: created_at.toISOString(),
});

async function nodes({ db }: Call<undefined, undefined, undefined>): Promise<Answer> {
  // Partitions last: one that changes hands meanwhile is owned in one of the two at least.
  // Late: two renewals are missing; gone: its leases have run out.
  const listed = await listNodes(db, 2 * ACTOR_LIMITS.renew_ms, ACTOR_LIMITS.lease_ms);
  const partitions = await listPartitions(db);
  return json(200, {
    nodes: listed.map(nodeJson),
    unowned_partitions: partitions.filter(({ owned }) => !owned).map(({ partition }) => partition),
  } satisfies NodesJson);
}

async function proxies({ db }: Call<undefined, undefined, undefined>): Promise<Answer> {
  const listed = await listProxies(db, LIMITS.listed_proxies);
  const pinned = await countPinned(db);
  return json(200, { proxies: listed.map((row) => proxyJson(row, pinned.get(row.id) ?? 0)) } satisfies ProxiesJson);
}

export const nodeRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listNodes',
    path: '/v1/operator/nodes',
    summary: 'The nodes, what each owns, and what nobody owns',
    description:
      'Lists the nodes as the database knows them, whichever of them answers. What stands in a partition that nobody owns is accepted, and is executed once a node has taken it.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    answers: { 200: { description: 'The nodes.', schema: typia.json.schemas<[NodesJson]>() } },
    handle: nodes,
  }),
  route({
    method: 'GET',
    operationId: 'listProxies',
    path: '/v1/operator/proxies',
    summary: 'The regional proxies, without their credentials',
    description:
      'Lists the proxies of all regions, with how many connections are pinned to each. Credentials are never shown.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    answers: { 200: { description: 'The proxies.', schema: typia.json.schemas<[ProxiesJson]>() } },
    handle: proxies,
  }),
];
