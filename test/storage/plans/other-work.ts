import { followAudit, listAudit } from '../../../storage/audit/entries.js';
import { findConnectionRefs, findConnections, listConnections } from '../../../storage/connections/connections.js';
import {
  listFilteredConnections,
  NAMES_START,
  searchConnections,
} from '../../../storage/connections/filtered-connections.js';
import { listGaps } from '../../../storage/connections/listener-read.js';
import { readSecrets } from '../../../storage/connections/session-secrets.js';
import { newId } from '../../../storage/model/new-id.js';
import {
  findOperations,
  listOperations,
  settledOperations,
  wasSubmitted,
} from '../../../storage/operations/operations.js';
import {
  exhaustedSubscriptions,
  heldSubscriptions,
  pausedSubscriptions,
  unknownOutcomes,
  unreadyConnections,
  waitingOperations,
} from '../../../storage/overview/attention.js';
import { countsOf, readSteps, stepsOfOthers, storeStep } from '../../../storage/overview/steps.js';
import { Tally, together } from '../../../storage/overview/tally.js';
import { shareBacklog } from '../../../storage/partitions/backlog.js';
import { notifyHints } from '../../../storage/partitions/hints.js';
import { measurePartitions } from '../../../storage/partitions/measures.js';
import {
  claimPartitions,
  freePartitions,
  liveNodes,
  renewLeases,
  retakePartitions,
  strayPartitions,
} from '../../../storage/partitions/partitions.js';
import { LIST_START } from '../../../storage/postgres/list-place.js';
import { findKeysByHash, touchKeys } from '../../../storage/workspaces/keys.js';
import { dealShares } from '../../../storage/workspaces/rate-shares.js';
import { noteStored, storedBytes } from '../../../storage/workspaces/stored.js';
import { ALL_PARTITIONS, BUSY, idOf, NODE } from './sizes.js';
import type { HotWork } from './statement.js';
import type { Subjects } from './subjects.js';

const PAGE = 20;
const LEASE_ms = 60_000;

/** What requests read, and what nodes do again and again. */
export function otherWork(of: Subjects): HotWork[] {
  return [...reads(of), ...rounds(of)];
}

function reads(of: Subjects): HotWork[] {
  const list = {
    workspaceId: of.workspaceId,
    connectionId: null,
    status: null,
    capability: null,
    before: null,
    limit: PAGE,
    results: false,
    look: 100,
  };
  const filter = { workspaceId: of.workspaceId, provider: null, health: null };
  const log = { workspaceId: of.workspaceId, actorId: null, action: null, targetId: null, since: null, until: null };
  const connectionId = of.connections[0]!.id;
  return [
    {
      name: 'findKeysByHash, touchKeys',
      pool: 'edge',
      async work(db) {
        await findKeysByHash(db, of.keys);
        await touchKeys(
          db,
          of.keys.map((_, i) => ({ id: idOf('other', i + 2), address: '127.0.0.1' })),
        );
      },
    },
    {
      name: 'findOperations, settledOperations, wasSubmitted',
      pool: 'edge',
      async work(db) {
        await findOperations(db, of.ended);
        await settledOperations(db, of.ended);
        await wasSubmitted(db, of.workspaceId, 'key-3');
      },
    },
    {
      name: 'listOperations',
      pool: 'edge',
      async work(db) {
        await listOperations(db, list);
        await listOperations(db, { ...list, results: true, before: of.ended[8]! });
        await listOperations(db, { ...list, connectionId: of.connections[5]!.id });
        await listOperations(db, { ...list, status: 'queued' });
        await listOperations(db, { ...list, status: 'waiting_user' });
        await listOperations(db, { ...list, connectionId, status: 'waiting_user' });
      },
    },
    {
      name: 'listOperations, of a connection with a long history',
      pool: 'edge',
      rows: of.history + 100,
      why: 'without statistics it sorts what the connection has',
      async work(db) {
        await listOperations(db, { ...list, connectionId });
        await listOperations(db, { ...list, connectionId, before: of.ended[8]!, status: 'failed' });
      },
    },
    {
      name: 'listConnections, findConnections, findConnectionRefs, readSecrets, listGaps',
      pool: 'edge',
      async work(db) {
        await listConnections(db, of.workspaceId, LIST_START, PAGE);
        await findConnections(
          db,
          of.connections.map(({ id }) => id),
        );
        await findConnectionRefs(
          db,
          of.connections.map(({ id }) => id),
        );
        await readSecrets(db, connectionId);
        await listGaps(db, connectionId, PAGE);
      },
    },
    {
      name: 'listFilteredConnections, searchConnections',
      pool: 'edge',
      notGeneric: 'a plan that does not know the filter costs more',
      async work(db) {
        await listFilteredConnections(db, { ...filter, health: 'needs_login' }, LIST_START, PAGE);
        await searchConnections(db, filter, 'a12', NAMES_START, PAGE);
      },
    },
    {
      name: 'listAudit, followAudit',
      pool: 'edge',
      async work(db) {
        await listAudit(db, log, null, PAGE);
        await listAudit(db, { ...log, actorId: idOf('other', 3) }, null, PAGE);
        await listAudit(db, { ...log, targetId: of.ended[0]! }, null, PAGE);
        await followAudit(db, of.workspaceId, { xact: '0', id: idOf('other', 0) }, PAGE);
        await followAudit(db, null, { xact: '0', id: idOf('other', 0) }, PAGE);
      },
    },
    {
      name: 'attention',
      pool: 'edge',
      rows: 10_000,
      blocks: 20_000,
      why: 'it looks at paused destinations, and counts, up to bounds of its own',
      async work(db) {
        for (const one of [
          unknownOutcomes,
          waitingOperations,
          unreadyConnections,
          exhaustedSubscriptions,
          pausedSubscriptions,
          heldSubscriptions,
        ]) {
          await one(db, of.workspaceId);
        }
      },
    },
    {
      name: 'readSteps',
      pool: 'edge',
      work: (db) => readSteps(db, of.workspaceId, new Date(Date.now() - 300_000)),
    },
  ];
}

function rounds(of: Subjects): HotWork[] {
  const tally = new Tally();
  for (let n = 1; n < 10; n++) tally.count(idOf('workspace', n), 'accepted');
  const counted = tally.take();
  const measures = {
    ...{ queued: 0, oldest_queued_s: 0, database_ms: 1, threads: 2, thread_restarts: 0, mailboxes: 0, browsers: 0 },
    ...{ browser_restarts: 0, contexts: 0, pages: 0, runs_waiting: 0, batch_items: null, draining: false },
  };
  return [
    { name: 'renewLeases', pool: 'control', work: (db) => renewLeases(db, NODE, LEASE_ms, ALL_PARTITIONS) },
    {
      name: 'freePartitions, strayPartitions, liveNodes, shareBacklog, notifyHints',
      pool: 'control',
      async work(db) {
        await freePartitions(db);
        await strayPartitions(db, NODE, [1]);
        await liveNodes(db, LEASE_ms);
        await shareBacklog(db, NODE, new Map([[of.workspaceId, 12]]), LEASE_ms);
        await notifyHints(db, ['{}']);
      },
    },
    {
      name: 'claimPartitions, of a quiet partition',
      pool: 'control',
      work: (db) => db.transaction((tx) => claimPartitions(tx, NODE, 1, LEASE_ms, [63])),
    },
    {
      name: 'claimPartitions, of the busy partition',
      pool: 'control',
      rows: 10 * of.backlog,
      blocks: 400 * of.backlog,
      why: 'it recovers everything that was in hand',
      work: (db) => db.transaction((tx) => claimPartitions(tx, NODE, 1, LEASE_ms, [BUSY])),
    },
    {
      name: 'retakePartitions, of a quiet partition',
      pool: 'control',
      work: (db) => db.transaction((tx) => retakePartitions(tx, NODE, [62], LEASE_ms, [newId()])),
    },
    {
      name: 'storeStep, stepsOfOthers, countsOf',
      pool: 'control',
      async work(db) {
        const step = new Date(Math.floor(Date.now() / 10_000) * 10_000);
        await storeStep(db, { nodeId: NODE, step, workspaces: counted, together: together(counted), measures });
        await stepsOfOthers(db, newId(), new Date(Date.now() - 30_000));
        await countsOf(db, [{ node_id: NODE, step }]);
      },
    },
    {
      name: 'dealShares',
      pool: 'edge',
      work: (db) =>
        db.transaction((tx) =>
          dealShares(
            tx,
            NODE,
            [{ workspaceId: of.workspaceId, rate: 'requests_per_second', asked: 1, bound: 10 }],
            [],
            LEASE_ms,
          ),
        ),
    },
    {
      name: 'noteStored, storedBytes',
      pool: 'edge',
      async work(db) {
        await noteStored(db, new Map([[of.workspaceId, 12]]));
        await storedBytes(db, [of.workspaceId]);
      },
    },
    {
      name: 'measurePartitions',
      pool: 'thread',
      rows: 50_000,
      blocks: 50_000,
      why: 'it counts connections, and mailboxes up to a bound',
      work: (db) => measurePartitions(db, [BUSY, 8]),
    },
  ];
}
