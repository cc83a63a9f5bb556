import typia, { type tags } from 'typia';
import {
  type DeliveryAttemptRow,
  type DeliveryRow,
  findDeliveries,
  listDeliveries,
  listDeliveryAttempts,
} from '../../../storage/deliveries/deliveries-read.js';
import { replayDelivery, replayFailedDeliveries } from '../../../storage/deliveries/replay.js';
import type { SubscriptionRow } from '../../../storage/deliveries/subscriptions.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { DeliveryStatus, RecordedEventType } from '../../../storage/model/records.js';
import { type Answer, json } from '../../http/answer.js';
import { type Count, momentAt, type Timestamp, type Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { type OffsetQuery, PAGE_AND_ONE, pageOf } from '../paging.js';
import { deliveryResource, subscriptionResource } from '../resources.js';

export interface DeliveriesQuery extends OffsetQuery {
  /** Only deliveries with this status. */
  status?: DeliveryStatus;
}

/** Which failed deliveries to try again: those of newer events (EVT-13). */
export interface ReplayFailedInput {
  /** Deliveries of events recorded after this moment, in ISO 8601. */
  since: string & tags.Format<'date-time'>;
}

/** One event on its way to one subscription (contract: "Delivery"). */
export interface DeliveryJson {
  /** Id of the delivery series; `X-CS-Delivery-Id` of its callbacks. */
  id: Uuid;
  /** The subscription that gets the event. */
  subscription_id: Uuid;
  /** The event. */
  event_id: Uuid;
  /** What happened, as `type` of the event. */
  event_type: RecordedEventType;
  /** When the event was recorded. */
  received_at: Timestamp;
  /** How it stands. */
  status: DeliveryStatus;
  /** How many attempts were made, replays included. */
  attempt_count: Count;
  /** How often it was replayed. */
  replay_count: Count;
  /** When the next attempt is due, null when none is. */
  next_attempt_at: Timestamp | null;
  /** When the receiver took it, null when it has not. */
  delivered_at: Timestamp | null;
  /** Why the last attempt failed, as the `error` of an attempt; null when it did not. */
  last_error: string | null;
}

/** A delivery in detail. */
export interface DeliveryDetailJson extends DeliveryJson {
  /** Its attempts, the first one first. */
  attempts: DeliveryAttemptJson[];
}

/** One call of the receiver. */
export interface DeliveryAttemptJson {
  /** Id of the attempt. */
  id: Uuid;
  /** Its place among the attempts, from 1; it goes on through replays. */
  sequence: Count;
  /** How it ended. */
  outcome: DeliveryAttemptRow['outcome'];
  /** HTTP status of the receiver's answer, null when none came. */
  status_code: Count | null;
  /**
   * Why it failed: `dns`, `blocked`, `refused`, `unreachable`, `tls`, `timeout`, `status`, `reset`, `protocol`, `secret` or
   * `internal`; null when it did not.
   */
  error: string | null;
  /** When it began. */
  started_at: Timestamp;
  /** When it ended, null while it runs. */
  completed_at: Timestamp | null;
}

/** A page of deliveries. */
export interface DeliveriesJson {
  /** `offset` of the next page, null on the last one. */
  next_offset: Count | null;
  /** The deliveries, newest event first. */
  deliveries: DeliveryJson[];
}

/** How much a bulk replay made pending. */
export interface ReplayedJson {
  /** How many deliveries are tried again. */
  replayed: Count;
}

export function deliveryJson(row: DeliveryRow): DeliveryJson {
  return {
    id: row.id,
    subscription_id: row.subscription_id,
    event_id: row.event_id,
    event_type: row.event_type,
    received_at: row.received_at.toISOString(),
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
  const rows = await listDeliveries(db, resource, query.status ?? null, offset, PAGE_AND_ONE);
  const { page, next_offset } = pageOf(rows);
  return json(200, { next_offset, deliveries: page.map(deliveryJson) } satisfies DeliveriesJson);
}

async function get({ db, resource }: Call<DeliveryRow, undefined, undefined>): Promise<Answer> {
  const attempts = await listDeliveryAttempts(db, resource.id);
  const detail: DeliveryDetailJson = { ...deliveryJson(resource), attempts: attempts.map(attemptJson) };
  return json(200, detail);
}

async function replay({ db, system, audit, resource }: Call<DeliveryRow, undefined, undefined>): Promise<Answer> {
  // Read before the commit: afterwards its owner may have sent it already, and the answer says what was asked for (EVT-5).
  const row = await db.transaction(async (tx) => {
    const outcome = await replayDelivery(tx, resource.id);
    if (outcome !== 'replayed') throw new HttpError(outcome === 'gone' ? 'not_found' : outcome);
    await audit.record(tx, [
      ['delivery', resource.id],
      ['subscription', resource.subscription_id],
    ]);
    const [replayed] = await findDeliveries(tx, [resource.id]);
    return replayed!;
  });
  system.hint({ type: 'deliveries', connectionId: resource.connection_id });
  return json(202, deliveryJson(row));
}

/** In batches, so that each transaction is short; a crash between two leaves the rest failed. */
async function replayFailed(call: Call<SubscriptionRow, ReplayFailedInput, undefined>): Promise<Answer> {
  const { db, system, audit, resource, body } = call;
  const since = momentAt('body.since', body.since);
  let total = 0;
  for (let after: string | null = '00000000-0000-0000-0000-000000000000'; after !== null; ) {
    const from: string = after;
    const batch = await db.transaction(async (tx) => {
      const replayed = await replayFailedDeliveries(tx, resource, since, from, LIMITS.replay_batch_rows);
      if (replayed && replayed.replayed > 0 && total === 0) await audit.record(tx, [['subscription', resource.id]]);
      return replayed;
    });
    if (!batch && total === 0) throw new HttpError('subscription_inactive');
    total += batch?.replayed ?? 0;
    for (const connectionId of batch?.connections ?? []) system.hint({ type: 'deliveries', connectionId });
    after = batch?.lastEvent ?? null;
  }
  return json(202, { replayed: total } satisfies ReplayedJson);
}

export const deliveryRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listDeliveries',
    path: '/v1/subscriptions/{subscription_id}/deliveries',
    summary: 'List the deliveries of a subscription',
    description:
      'Lists the deliveries of a subscription, with one status if you ask for it, 100 on a page. Continue with `next_offset` until it is null.',
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
    operationId: 'getDelivery',
    path: '/v1/deliveries/{delivery_id}',
    summary: 'Get a delivery with its attempts',
    description: 'Reads one delivery with every attempt that was made.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: deliveryResource,
    answers: { 200: { description: 'The delivery.', schema: typia.json.schemas<[DeliveryDetailJson]>() } },
    handle: get,
  }),
  route({
    method: 'POST',
    operationId: 'replayDelivery',
    audit: 'delivery.replay',
    path: '/v1/deliveries/{delivery_id}/replay',
    summary: 'Replay a delivery',
    description:
      'Puts a failed delivery back into the queue, with five new attempts. Its id stays, and its attempts go on counting.',
    scopes: ['events:write'],
    changes: 'subscriptions',
    body: { kind: 'none' },
    resource: deliveryResource,
    answers: { 202: { description: 'The delivery, queued again.', schema: typia.json.schemas<[DeliveryJson]>() } },
    refusals: ['delivery_not_failed', 'subscription_inactive'],
    handle: replay,
  }),
  route({
    method: 'POST',
    operationId: 'replayFailedDeliveries',
    audit: 'delivery.replay_failed',
    path: '/v1/subscriptions/{subscription_id}/replay-failed',
    summary: 'Replay failed deliveries',
    description: 'Puts every failed delivery of newer events back into the queue, however many there are.',
    scopes: ['events:write'],
    changes: 'subscriptions',
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
