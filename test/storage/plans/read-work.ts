import { followAudit, listAudit } from '../../../storage/audit/entries.js';
import { countReveals, recordReveal } from '../../../storage/audit/reveals.js';
import { findConnectionRefs, findConnections, listConnections } from '../../../storage/connections/connections.js';
import {
  listFilteredConnections,
  NAMES_START,
  searchConnections,
} from '../../../storage/connections/filtered-connections.js';
import { listGaps } from '../../../storage/connections/listener-read.js';
import { readSecrets } from '../../../storage/connections/session-secrets.js';
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
import { readSteps } from '../../../storage/overview/steps.js';
import { LIST_START } from '../../../storage/postgres/list-place.js';
import { findKeysByHash, touchKeys } from '../../../storage/workspaces/keys.js';
import { idOf } from './sizes.js';
import type { HotWork } from './statement.js';
import type { Subjects } from './subjects.js';

const PAGE = 20;

/** What requests read. */
export function readWork(of: Subjects): HotWork[] {
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
      withoutStatistics: {
        rows: 30_000,
        blocks: 8_000,
        why: 'of a table of up to 60,000 rows, it sorts what is of the workspace',
      },
      async work(db) {
        await listOperations(db, list);
        await listOperations(db, { ...list, results: true, before: of.ended[8]! });
        await listOperations(db, { ...list, connectionId: of.connections[5]!.id });
        await listOperations(db, { ...list, status: 'queued' });
        await listOperations(db, { ...list, status: 'waiting_user' });
        await listOperations(db, { ...list, connectionId, status: 'waiting_user' });
        await listOperations(db, { ...list, idempotencyKey: 'key-3' });
        await listOperations(db, { ...list, reference: 'customer-4711', errorCode: 'upstream_error' });
        await listOperations(db, { ...list, createdAfter: new Date(0), createdBefore: new Date() });
      },
    },
    {
      name: 'listOperations, of a connection with a long history',
      pool: 'edge',
      withoutStatistics: { rows: of.history + 100, blocks: of.history, why: 'it sorts what the connection has' },
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
        await readSecrets(db, connectionId, null);
        await listGaps(db, connectionId, PAGE);
      },
    },
    {
      name: 'listFilteredConnections, searchConnections',
      pool: 'edge',
      withoutStatistics: { rows: 3 * of.backlog, blocks: of.backlog, why: 'it passes connections that do not fit' },
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
      name: 'recordReveal, countReveals',
      pool: 'edge',
      async work(db) {
        const { known } = await db.transaction((tx) =>
          recordReveal(tx, {
            actor: { kind: 'key', id: idOf('other', 3), name: null, address: '127.0.0.1' },
            ...{ action: 'operation.reveal_input', workspaceId: of.workspaceId, requestId: null },
            targets: of.ended.map((id) => ['operation', id] as const),
          }),
        );
        await countReveals(
          db,
          known.map((one) => ({ ...one, reads: 2 })),
        );
      },
    },
    {
      name: 'attention',
      pool: 'edge',
      rows: 10_000,
      blocks: 40_000,
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
