import { announcedConnections, oldestAnnouncement_s, tell } from '../../../storage/deliveries/announcements.js';
import { finishDeliveries, heldStarts, startDeliveries, undoStarts } from '../../../storage/deliveries/deliveries.js';
import { findDeliveries, listDeliveries, listDeliveryAttempts } from '../../../storage/deliveries/deliveries-read.js';
import {
  fetchSubscriptions,
  parkSubscriptions,
  wakeSubscriptions,
} from '../../../storage/deliveries/delivery-queue.js';
import { findCallbackEvent, findEvents, listEvents } from '../../../storage/deliveries/events.js';
import { oldestPending } from '../../../storage/deliveries/oldest-pending.js';
import { forgetPauses, notePauses } from '../../../storage/deliveries/pauses.js';
import { LIMITS } from '../../../storage/limits.js';
import { newId } from '../../../storage/model/new-id.js';
import { DELIVERY_STATUSES } from '../../../storage/model/records.js';
import { recorded } from '../../fixture/recorded.js';
import { BATCH, BUSY, EPOCH, idOf } from './sizes.js';
import type { HotWork } from './statement.js';
import { type Subjects, sha } from './subjects.js';

const OWNED = { id: BUSY, epoch: EPOCH };
const PAGE = 20;

/** What records events, and delivers them. */
export function deliveryWork(of: Subjects): HotWork[] {
  const claims = of.subscriptions.map((subscription) => ({
    ...{ subscription, attemptIds: [newId(), newId()], from_us: null },
  }));
  const events = of.connections.map(({ id }, i) => ({
    ...{
      connectionId: id,
      providerEventId: `new-${i}`,
      type: 'message_received' as const,
      data: { conversation_id: 'c' },
    },
  }));
  const ends = (outcome: 'delivered' | 'failed') =>
    of.sending.map((one) => ({
      ...one,
      outcome,
      statusCode: outcome === 'failed' ? 500 : 200,
      error: outcome === 'failed' ? 'status' : null,
    }));
  const paused = Array.from({ length: BATCH }, (_, i) => sha(String(-1 - i)).toString('hex'));
  const [long] = of.subscriptions;
  const parent = { id: idOf('subscription', 0), connection_id: null };
  return [
    { name: 'recordEvents', pool: 'thread', work: (db) => recorded(db, of.workspaceId, events) },
    {
      name: 'recordEvents, known ones',
      pool: 'thread',
      work: (db) =>
        recorded(
          db,
          of.workspaceId,
          events.map((e, i) => ({ ...e, providerEventId: `e${i + 1}` })),
        ),
    },
    {
      name: 'recordEvents, of a request',
      pool: 'edge',
      work: (db) => recorded(db, of.workspaceId, events.slice(0, 1)),
    },
    {
      name: 'recordEvents, to one subscription',
      pool: 'edge',
      work: (db) => recorded(db, of.workspaceId, events.slice(0, 1), long!.id),
    },
    { name: 'startDeliveries', pool: 'thread', work: (db) => startDeliveries(db, claims) },
    {
      name: 'startDeliveries, within a backlog',
      pool: 'thread',
      work: (db) =>
        startDeliveries(
          db,
          claims.map((one) => ({ ...one, from_us: (Date.now() - 3_700_000) * 1000 })),
        ),
    },
    {
      name: 'heldStarts',
      pool: 'thread',
      work: (db) =>
        heldStarts(
          db,
          of.sending.map(({ attemptId, ...one }) => ({ ...one, attempt_id: attemptId })),
        ),
    },
    {
      name: 'undoStarts',
      pool: 'thread',
      work: (db) =>
        undoStarts(
          db,
          of.sending.map(({ attemptId, epoch }, i) => ({
            subscription_id: of.subscriptions[i]!.id,
            epoch,
            attempt_id: attemptId,
          })),
          1_000,
        ),
    },
    {
      name: 'finishDeliveries, delivered',
      pool: 'thread',
      work: (db) => finishDeliveries(db, ends('delivered'), [5, 30]),
    },
    {
      name: 'finishDeliveries, to be retried',
      pool: 'thread',
      work: (db) => finishDeliveries(db, ends('failed'), [5, 30]),
    },
    { name: 'finishDeliveries, exhausted', pool: 'thread', work: (db) => finishDeliveries(db, ends('failed'), []) },
    { name: 'wakeSubscriptions', pool: 'thread', work: (db) => wakeSubscriptions(db, of.subscriptions) },
    {
      name: 'fetchSubscriptions',
      pool: 'thread',
      notKept: 'few jobs are sorted: what is due in the queue is read each time',
      work: (db) => fetchSubscriptions(db, OWNED, BATCH, { workspaces: [], destinations: [] }),
    },
    {
      name: 'fetchSubscriptions, but for full shares',
      pool: 'thread',
      notKept: 'few jobs are sorted: what is due in the queue is read each time',
      work: (db) => fetchSubscriptions(db, OWNED, BATCH, { workspaces: [idOf('workspace', 2)], destinations: paused }),
    },
    { name: 'parkSubscriptions', pool: 'thread', work: (db) => parkSubscriptions(db, of.subscriptions) },
    {
      name: 'oldestPending',
      pool: 'thread',
      rows: 3 * LIMITS.oldest_pending_subscriptions + of.backlog,
      blocks: 3_000 + of.backlog,
      why: 'pg-boss has no index of jobs by their time: it looks at all of these partitions',
      work: (db) => oldestPending(db, [BUSY, 8]),
    },
    {
      name: 'notePauses, forgetPauses',
      pool: 'thread',
      async work(db) {
        await notePauses(
          db,
          paused.map((destination) => ({ destination, reason: 'timeout' })),
        );
        await forgetPauses(db, paused);
      },
    },
    {
      name: 'tell',
      pool: 'edge',
      work: (db) => tell(db, BATCH),
    },
    {
      name: 'tell, of one connection',
      pool: 'edge',
      withoutStatistics: {
        rows: 3 * of.backlog,
        blocks: of.backlog,
        why: 'after a batch failed, it passes those of others',
      },
      work: (db) => tell(db, BATCH, of.connections[5]!.id),
    },
    {
      name: 'oldestAnnouncement_s, announcedConnections',
      pool: 'edge',
      async work(db) {
        await oldestAnnouncement_s(db);
        await announcedConnections(db, of.connections[0]!.id, BATCH);
      },
    },
    {
      name: 'listEvents, findEvents, findCallbackEvent',
      pool: 'edge',
      async work(db) {
        await listEvents(db, of.connections[0]!.id, 0, PAGE);
        await listEvents(db, of.connections[0]!.id, 1_000, PAGE);
        await findEvents(db, of.events);
        await findCallbackEvent(db, of.events[0]!);
      },
    },
    {
      name: 'listDeliveries, findDeliveries, listDeliveryAttempts',
      pool: 'edge',
      async work(db) {
        await listDeliveries(db, long!, null, 0, PAGE);
        await listDeliveries(db, long!, null, 1_000, PAGE);
        await listDeliveries(db, of.subscriptions[3]!, null, 0, PAGE);
        await findDeliveries(
          db,
          of.sending.map(({ id }) => id),
        );
        await listDeliveryAttempts(db, of.sending[0]!.id);
      },
    },
    {
      name: 'listDeliveries, of a status or of all connections',
      pool: 'edge',
      withoutStatistics: {
        rows: of.history,
        blocks: of.history,
        why: 'it sorts what the subscription has of the status',
      },
      async work(db) {
        for (const status of DELIVERY_STATUSES) await listDeliveries(db, long!, status, 0, PAGE);
        await listDeliveries(db, parent, 'pending', 0, PAGE);
        await listDeliveries(db, parent, null, 0, PAGE);
      },
    },
  ];
}
