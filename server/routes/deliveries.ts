import typia, { type tags } from 'typia';
import {
  type DeliveryAttemptRow,
  type DeliveryRow,
  findDeliveries,
  listDeliveries,
  listDeliveryAttempts,
} from '../../storage/deliveries/deliveries-read.js';
import { replayDelivery, replayFailedDeliveries } from '../../storage/deliveries/replay.js';
import type { SubscriptionRow } from '../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../storage/model/errors.js';
import type { DeliveryStatus } from '../../storage/model/records.js';
import { type Answer, invalidField, json } from '../http/answer.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { type OffsetQuery, PAGE_AND_ONE, pageOf } from './paging.js';
import { deliveryResource, subscriptionResource } from './resources.js';

export interface DeliveriesQuery extends OffsetQuery {
  status?: DeliveryStatus;
}

/** Which failed deliveries to try again: those of newer events (EVT-13). */
export interface ReplayFailedInput {
  since: string & tags.Format<'date-time'>;
}

/** Delivery as it is answered (contract: "Delivery"). */
export interface DeliveryJson {
  id: Uuid;
  subscription_id: Uuid;
  event_id: Uuid;
  status: DeliveryStatus;
  attempt_count: Count;
  replay_count: Count;
  next_attempt_at: Timestamp | null;
  delivered_at: Timestamp | null;
  last_error: string | null;
}

/** Delivery in detail. */
export interface DeliveryDetailJson extends DeliveryJson {
  attempts: DeliveryAttemptJson[];
}

export interface DeliveryAttemptJson {
  id: Uuid;
  /** Goes on through replays. */
  sequence: Count;
  outcome: DeliveryAttemptRow['outcome'];
  status_code: Count | null;
  error: string | null;
  started_at: Timestamp;
  completed_at: Timestamp | null;
}

/** A page of deliveries. */
export interface DeliveriesJson {
  next_offset: Count | null;
  deliveries: DeliveryJson[];
}

/** How many deliveries a bulk replay made pending. */
export interface ReplayedJson {
  replayed: Count;
}

function deliveryJson(row: DeliveryRow): DeliveryJson {
  return {
    id: row.id,
    subscription_id: row.subscription_id,
    event_id: row.event_id,
    status: row.status,
    attempt_count: row.attempt_count,
    replay_count: row.replay_count,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
    last_error: row.last_error,
  };
}

function attemptJson(row: DeliveryAttemptRow): DeliveryAttemptJson {
  return {
    id: row.id,
    sequence: row.sequence,
    outcome: row.outcome,
    status_code: row.status_code,
    error: row.error,
    started_at: row.started_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

async function list({ db, resource, query }: Call<SubscriptionRow, undefined, DeliveriesQuery>): Promise<Answer> {
  const offset = query.offset ?? 0;
  const rows = await listDeliveries(db, resource.id, query.status ?? null, offset, PAGE_AND_ONE);
  const { page, next_offset } = pageOf(rows, offset);
  return json(200, { next_offset, deliveries: page.map(deliveryJson) } satisfies DeliveriesJson);
}

async function get({ db, resource }: Call<DeliveryRow, undefined, undefined>): Promise<Answer> {
  const attempts = await listDeliveryAttempts(db, resource.id);
  const detail: DeliveryDetailJson = { ...deliveryJson(resource), attempts: attempts.map(attemptJson) };
  return json(200, detail);
}

async function replay({ db, system, resource }: Call<DeliveryRow, undefined, undefined>): Promise<Answer> {
  const outcome = await db.transaction((tx) => replayDelivery(tx, resource.id));
  if (outcome === 'gone') throw new HttpError('not_found');
  if (outcome !== 'replayed') throw new HttpError(outcome);
  system.hint({ type: 'deliveries', connectionId: resource.connection_id });
  const [row] = await findDeliveries(db, [resource.id]);
  if (!row) throw new HttpError('not_found');
  return json(202, deliveryJson(row));
}

/** In batches, so that however many there are no transaction is long; a crash between two leaves the rest failed. */
async function replayFailed(call: Call<SubscriptionRow, ReplayFailedInput, undefined>): Promise<Answer> {
  const { db, system, resource, body } = call;
  const since = new Date(body.since);
  // A leap second is RFC 3339, but no Date.
  if (Number.isNaN(since.getTime())) throw invalidField('body.since', 'a point in time', body.since);
  let total = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const batch = await db.transaction((tx) =>
      replayFailedDeliveries(tx, resource.id, since, after, LIMITS.replay_batch_rows),
    );
    if (!batch && total === 0) throw new HttpError('subscription_inactive');
    if (!batch) break;
    total += batch.replayed;
    after = batch.lastEvent;
    if (batch.replayed > 0) system.hint({ type: 'deliveries', connectionId: resource.connection_id });
    if (batch.replayed < LIMITS.replay_batch_rows) break;
  }
  return json(202, { replayed: total } satisfies ReplayedJson);
}

export const deliveryRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/subscriptions/{subscription_id}/deliveries',
    summary: 'Deliveries of a subscription, newest event first',
    scopes: ['events:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['offset'],
      validate: typia.createValidateEquals<DeliveriesQuery>(),
      schema: typia.json.schemas<[DeliveriesQuery]>(),
    },
    resource: subscriptionResource,
    answers: { 200: { description: 'A page of deliveries.', schema: typia.json.schemas<[DeliveriesJson]>() } },
    handle: list,
  }),
  route({
    method: 'GET',
    path: '/v1/deliveries/{delivery_id}',
    summary: 'One delivery with its attempts',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: deliveryResource,
    answers: { 200: { description: 'The delivery.', schema: typia.json.schemas<[DeliveryDetailJson]>() } },
    handle: get,
  }),
  route({
    method: 'POST',
    path: '/v1/deliveries/{delivery_id}/replay',
    summary: 'Try a failed delivery again',
    scopes: ['events:write'],
    body: { kind: 'none' },
    resource: deliveryResource,
    answers: { 202: { description: 'The delivery, queued again.', schema: typia.json.schemas<[DeliveryJson]>() } },
    refusals: ['delivery_not_failed', 'subscription_inactive'],
    handle: replay,
  }),
  route({
    method: 'POST',
    path: '/v1/subscriptions/{subscription_id}/replay-failed',
    summary: 'Try every failed delivery of newer events again',
    scopes: ['events:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<ReplayFailedInput>(),
      schema: typia.json.schemas<[ReplayFailedInput]>(),
    },
    resource: subscriptionResource,
    answers: { 202: { description: 'Queued again.', schema: typia.json.schemas<[ReplayedJson]>() } },
    refusals: ['subscription_inactive'],
    handle: replayFailed,
  }),
];
