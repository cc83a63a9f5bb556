import typia from 'typia';
import { v4 as uuidv4 } from 'uuid';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import type { ConnectionRef } from '../../../storage/connections/connections.js';
import {
  dataOf,
  type EventRow,
  type EventSummary,
  findEvents,
  listEvents,
} from '../../../storage/deliveries/events.js';
import { recordEvents } from '../../../storage/deliveries/events-record.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { EventType } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { isShallowJson, JSON_DEPTH } from '../../../storage/postgres/pg-safe-values.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import type { Count } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { type OffsetQuery, PAGE_AND_ONE, pageOf } from '../paging.js';
import { connectionRefResource, eventResource } from '../resources.js';
import { type EventJson, type EventSummaryJson, eventSchema } from './event-json.js';

/** An event to record on a simulated connection (EVT-11). */
export interface SimulatedEventInput {
  /** What happened. */
  type: EventType;
  /** Its payload, taken as it is. Receivers expect the fields that an event of this type has. */
  data: Record<string, unknown>;
}

/** A page of events. */
export interface EventsJson {
  /** `offset` of the next page, null on the last one. */
  next_offset: Count | null;
  /** The events, newest first. */
  events: EventSummaryJson[];
}

function summaryJson(
  { id, provider_event_id, type, received_at }: EventSummary,
  reference: string | null,
): EventSummaryJson {
  const summary = { id, provider_event_id, type, received_at: received_at.toISOString() };
  return reference === null ? summary : { ...summary, connection_reference: reference };
}

function eventJson(db: Sql, row: EventRow): EventJson {
  // What the stream or a client gave for this type.
  return {
    ...summaryJson(row, null),
    connection_id: row.connection_id,
    data: dataOf(db, row),
  } as EventJson;
}

/** The body is a callback's: what the client calls the connection stands in the header that callbacks have. */
function eventAnswer(db: Sql, status: number, row: EventRow, headers: Record<string, string> = {}): Answer {
  const reference = row.connection_reference;
  return json(status, eventJson(db, row), {
    ...headers,
    ...(reference !== null && { 'X-CS-Connection-Reference': reference }),
  });
}

async function list({ db, resource, query }: Call<ConnectionRef, undefined, OffsetQuery>): Promise<Answer> {
  const offset = query.offset ?? 0;
  const { page, next_offset } = pageOf(await listEvents(db, resource.id, offset, PAGE_AND_ONE));
  return json(200, {
    next_offset,
    events: page.map((row) => summaryJson(row, resource.reference)),
  } satisfies EventsJson);
}

async function simulate(call: Call<ConnectionRef, SimulatedEventInput, undefined>): Promise<Answer> {
  const { db, system, key, audit, resource, body } = call;
  if (!isShallowJson(body.data)) throw invalidField('body.data', `finite numbers, nested at most ${JSON_DEPTH} deep`);
  if (!PROVIDERS[resource.provider].takesEvents) throw new HttpError('not_simulated');
  const event = {
    connectionId: resource.id,
    providerEventId: `simulated-${uuidv4()}`,
    type: body.type,
    data: body.data,
  };
  const { row, deliveries } = await db.transaction(async (tx) => {
    const [one] = await recordEvents(tx, key.workspace_id, [event]);
    if (!one) throw new HttpError('not_found');
    await audit.record(tx, [
      ['event', one.id],
      ['connection', resource.id],
    ]);
    const [row] = await findEvents(tx, [one.id]);
    if (!row) throw new HttpError('not_found');
    return { row, deliveries: one.deliveries };
  });
  if (deliveries > 0) system.hint({ type: 'deliveries', connectionId: resource.id });
  return eventAnswer(db, 201, row, { Location: `/v1/events/${row.id}` });
}

export const eventRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listEvents',
    path: '/v1/connections/{connection_id}/events',
    summary: 'List the events of a connection',
    description: 'Lists the events of a connection, 100 on a page. Continue with `next_offset` until it is null.',
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
    operationId: 'getEvent',
    revealed: 'event.reveal',
    path: '/v1/events/{event_id}',
    summary: 'Get an event',
    description: 'Reads one event with its payload, as a callback carries it.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: eventResource,
    answers: {
      200: { description: 'The event.', schema: eventSchema, headers: ['X-CS-Connection-Reference'] },
    },
    handle: async ({ db, audit, resource }) => {
      await audit.reveal([['event', resource.id]]);
      return eventAnswer(db, 200, resource);
    },
  }),
  route({
    method: 'POST',
    operationId: 'recordSimulatedEvent',
    audit: 'event.simulate',
    path: '/v1/connections/{connection_id}/simulated-events',
    summary: 'Record an event on a simulated connection',
    description:
      'Records an event of any type on a simulated connection, as its stream would have, and delivers it to its subscriptions.',
    scopes: ['events:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<SimulatedEventInput>(),
      schema: typia.json.schemas<[SimulatedEventInput]>(),
    },
    resource: connectionRefResource,
    answers: {
      201: {
        description: 'The recorded event.',
        schema: eventSchema,
        headers: ['Location', 'X-CS-Connection-Reference'],
      },
    },
    refusals: ['not_simulated'],
    handle: simulate,
  }),
];
