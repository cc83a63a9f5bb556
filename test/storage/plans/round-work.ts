import { noteStored, storedBytes } from '../../../storage/maintenance/stored.js';
import { newId } from '../../../storage/model/new-id.js';
import { countsOf, stepsOfOthers, storeStep } from '../../../storage/overview/steps.js';
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
import { dealShares } from '../../../storage/workspaces/rate-shares.js';
import { ALL_PARTITIONS, BUSY, idOf, NODE } from './sizes.js';
import type { HotWork } from './statement.js';
import type { Subjects } from './subjects.js';

const LEASE_ms = 60_000;

/** What nodes do again and again. */
export function roundWork(of: Subjects): HotWork[] {
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
      rows: 2 * of.backlog,
      blocks: 4 * of.backlog,
      why: 'it counts connections, and mailboxes up to a bound',
      work: (db) => measurePartitions(db, [BUSY, 8]),
    },
  ];
}
