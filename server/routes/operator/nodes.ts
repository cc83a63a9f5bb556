import typia from 'typia';
import { LIMITS as ACTOR_LIMITS } from '../../../actors/limits.js';
import { countPinned, listProxies, type ProxyRow } from '../../../storage/connections/proxies.js';
import { OPERATOR } from '../../../storage/model/records.js';
import { listNodes, type NodeView } from '../../../storage/overview/nodes.js';
import type { ToldMeasures } from '../../../storage/overview/steps.js';
import { listPartitions } from '../../../storage/partitions/inspection.js';
import { type Answer, json } from '../../http/answer.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';

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
  /** What it told of itself last, every ten seconds; null: nothing in the last minute. */
  measures: NodeMeasuresJson | null;
}

/** What a node tells of itself; null in what a node of an earlier version does not tell. */
export interface NodeMeasuresJson {
  /** Whether it ends, and takes no new work. */
  draining: boolean | null;
  /** Threads that live. */
  threads: Count | null;
  /** Threads that died and were replaced since it was started. */
  thread_restarts: Count | null;
  /** Connections that it holds in memory. */
  mailboxes: Count | null;
  /** Operations that wait for their turn. */
  queued: Count | null;
  /** Submissions that one statement stored, on average; null without any. */
  batch_items: number | null;
  /** Browsers that run. */
  browsers: Count | null;
  /** Browsers that were replaced since their threads were started. */
  browser_restarts: Count | null;
  /** Sessions that are open in browsers. */
  contexts: Count | null;
  /** Pages that are open, those kept for the next run with them. */
  pages: Count | null;
  /** Page programs that wait for their turn. */
  runs_waiting: Count | null;
  /** Milliseconds in which the database answered it. */
  database_ms: number | null;
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
  /** Since when nothing has got through it; null: it works, as far as is known. */
  failing_since: Timestamp | null;
  /** When it was added. */
  created_at: Timestamp;
}

const nodeJson = ({ id, state, started_at, heartbeat_at, partitions, measures }: NodeView): NodeJson => ({
  ...{ id, state, partitions, measures: measures && measuresJson(measures) },
  started_at: started_at.toISOString(),
  heartbeat_at: heartbeat_at.toISOString(),
});

const measuresJson = ({ oldest_queued_s: _, ...measures }: ToldMeasures): NodeMeasuresJson => measures;

const proxyJson = (
  { id, region, url, credentials_sealed, active, failing_since, created_at }: ProxyRow,
  connections: number,
): ProxyJson => ({
  ...{ id, region, url, active, connections },
  has_credentials: credentials_sealed !== null,
  failing_since: failing_since?.toISOString() ?? null,
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
    summary: 'List nodes and partitions',
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
    summary: 'List regional proxies',
    description:
      'Lists the proxies of all regions, with how many connections are pinned to each. Credentials are never shown.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    answers: { 200: { description: 'The proxies.', schema: typia.json.schemas<[ProxiesJson]>() } },
    handle: proxies,
  }),
];
