import typia from 'typia';
import { v4 as uuidv4 } from 'uuid';
import { PROVIDERS } from '../../actors/provider-traits.js';
import type { ConnectionRef } from '../../storage/connections/connections.js';
import { type EventRow, type EventSummary, findEvents, listEvents } from '../../storage/deliveries/events.js';
import { recordEvents } from '../../storage/deliveries/events-record.js';
import { HttpError } from '../../storage/model/errors.js';
import type { EventType } from '../../storage/model/records.js';
import { isShallowJson, JSON_DEPTH } from '../../storage/postgres/pg-safe-values.js';
import { type Answer, invalidField, json } from '../http/answer.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { type OffsetQuery, PAGE_AND_ONE, pageOf } from './paging.js';
import { connectionRefResource, eventResource } from './resources.js';

/** An event to record on a simulated connection (EVT-11). */
export interface SimulatedEventInput {
  type: EventType;
  data: Record<string, unknown>;
}

/** Event in a list (contract: "Event"). */
export interface EventSummaryJson {
  id: Uuid;
  provider_event_id: string;
  type: EventType;
  received_at: Timestamp;
}

/** Event in detail; `data` is the normalized provider payload. */
export interface EventJson extends EventSummaryJson {
  connection_id: Uuid;
  data: Record<string, unknown>;
}

/** A page of events. */
export interface EventsJson {
  next_offset: Count | null;
  events: EventSummaryJson[];
}

/** Also the body of a callback. */
export const eventSchema = typia.json.schemas<[EventJson]>();

function summaryJson({ id, provider_event_id, type, received_at }: EventSummary): EventSummaryJson {
  return { id, provider_event_id, type, received_at: received_at.toISOString() };
}

function eventJson(row: EventRow): EventJson {
  return { ...summaryJson(row), connection_id: row.connection_id, data: row.data };
}

async function list({ db, resource, query }: Call<ConnectionRef, undefined, OffsetQuery>): Promise<Answer> {
  const offset = query.offset ?? 0;
  const { page, next_offset } = pageOf(await listEvents(db, resource.id, offset, PAGE_AND_ONE), offset);
  return json(200, { next_offset, events: page.map(summaryJson) } satisfies EventsJson);
}

async function simulate(call: Call<ConnectionRef, SimulatedEventInput, undefined>): Promise<Answer> {
  const { db, system, key, resource, body } = call;
  if (!isShallowJson(body.data)) throw invalidField('body.data', `finite numbers, nested at most ${JSON_DEPTH} deep`);
  if (!PROVIDERS[resource.provider].takesEvents) throw new HttpError('not_simulated');
  const event = {
    connectionId: resource.id,
    providerEventId: `simulated-${uuidv4()}`,
    type: body.type,
    data: body.data,
  };
  const [recorded] = await db.transaction((tx) => recordEvents(tx, key.workspace_id, [event]));
  if (!recorded) throw new HttpError('not_found');
  if (recorded.deliveries > 0) system.hint({ type: 'deliveries', connectionId: resource.id });
  const [row] = await findEvents(db, [recorded.id]);
  if (!row) throw new HttpError('not_found');
  return json(201, eventJson(row), { Location: `/v1/events/${row.id}` });
}

export const eventRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/connections/{connection_id}/events',
    summary: 'Events of a connection, newest first',
    scopes: ['events:read'],
    body: { kind: 'none' },
    query: {
      numbers: ['offset'],
      validate: typia.createValidateEquals<OffsetQuery>(),
      schema: typia.json.schemas<[OffsetQuery]>(),
    },
    resource: connectionRefResource,
    answers: { 200: { description: 'A page of events.', schema: typia.json.schemas<[EventsJson]>() } },
    handle: list,
  }),
  route({
    method: 'GET',
    path: '/v1/events/{event_id}',
    summary: 'One event with its payload',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: eventResource,
    answers: { 200: { description: 'The event.', schema: eventSchema } },
    handle: async ({ resource }) => json(200, eventJson(resource)),
  }),
  route({
    method: 'POST',
    path: '/v1/connections/{connection_id}/simulated-events',
    summary: 'Record an event on a simulated connection',
    scopes: ['events:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<SimulatedEventInput>(),
      schema: typia.json.schemas<[SimulatedEventInput]>(),
    },
    resource: connectionRefResource,
    answers: { 201: { description: 'The recorded event.', schema: eventSchema, headers: ['Location'] } },
    refusals: ['not_simulated'],
    handle: simulate,
  }),
];
