import * as fields from '../fields.js';
import { codeOnly, type Row } from '../table.js';

/** Rows of subscriptions, listeners, events and deliveries. They run in order. */

export const subscriptions: Row[] = [
  {
    title: 'Subscriptions, create: 201 Subscription plus secret',
    send: 'POST /v1/connections/{ada}/subscriptions',
    body: { event_types: ['message_received'], callback_url: '{callback}', secret: '{secret}' },
    status: 201,
    fields: [...fields.SUBSCRIPTION, 'secret'],
    like: { active: true, event_types: ['message_received'], secret: '{secret}' },
    keep: { subscription: 'id' },
  },
  {
    title: 'Subscriptions, create: a secret is generated; on a connection that is not ready it is inactive (EVT-1)',
    send: 'POST /v1/connections/{sue}/subscriptions',
    body: { event_types: ['message_sent', 'message_received'], callback_url: '{callback}' },
    status: 201,
    fields: [...fields.SUBSCRIPTION, 'secret'],
    like: { active: false },
    keep: { inactive: 'id' },
  },
  {
    title: 'Subscriptions, list: 200 {subscriptions}, without secrets',
    send: 'GET /v1/connections/{ada}/subscriptions',
    status: 200,
    fields: ['subscriptions'],
    like: { subscriptions: [{ id: '{subscription}' }] },
  },
  {
    title: 'Subscriptions, read: 200 Subscription plus delivery_counts',
    send: 'GET /v1/subscriptions/{subscription}',
    status: 200,
    fields: [...fields.SUBSCRIPTION, 'delivery_counts'],
    like: { delivery_counts: { pending: 0, sending: 0, delivered: 0, failed: 0, canceled: 0 } },
  },
  {
    title: 'Subscriptions, PATCH: 409 connection_not_ready on activation',
    send: 'PATCH /v1/subscriptions/{inactive}',
    body: { active: true },
    status: 409,
    answer: codeOnly('connection_not_ready'),
  },
  {
    title: 'Subscriptions, PATCH: 200 Subscription',
    send: 'PATCH /v1/subscriptions/{subscription}',
    body: { active: false },
    status: 200,
    fields: fields.SUBSCRIPTION,
    like: { active: false },
  },
  {
    title: 'Subscriptions, PATCH: active again',
    send: 'PATCH /v1/subscriptions/{subscription}',
    body: { active: true },
    status: 200,
    like: { active: true },
  },
  ...[{}, { active: null }, { active: 'true' }, { active: true, secret: 'x' }].map(
    (body): Row => ({
      title: `Subscriptions, PATCH: exactly {active:true} or {active:false}, not ${JSON.stringify(body)}`,
      send: 'PATCH /v1/subscriptions/{subscription}',
      body,
      status: 400,
    }),
  ),
  {
    title: 'Subscriptions, rotate secret (EVT-12)',
    send: 'POST /v1/subscriptions/{inactive}/rotate-secret',
    status: 200,
    fields: ['secret', 'previous_valid_until'],
  },
  {
    title: 'Listener, of a simulated connection (CONN-3)',
    send: 'GET /v1/connections/{ada}/listener',
    status: 200,
    fields: fields.LISTENER,
    like: {
      stream_status: 'connected',
      continuity_status: 'continuous',
      connection_health: 'ready',
      open_gap_count: 0,
    },
  },
  {
    title: 'Listener, of a connection that is not ready (EVT-9)',
    send: 'GET /v1/connections/{sue}/listener',
    status: 200,
    fields: fields.LISTENER,
    like: { stream_status: 'stopped', connection_health: 'needs_login', gaps: [] },
  },
  {
    title: 'Events, simulated: 201 with the event (EVT-11)',
    send: 'POST /v1/connections/{ada}/simulated-events',
    body: { type: 'message_received', data: { message_body: 'Hello' } },
    status: 201,
    fields: fields.EVENT,
    like: { type: 'message_received', connection_id: '{ada}', data: { message_body: 'Hello' } },
    keep: { event: 'id' },
  },
  {
    title: 'Events, simulated: 409 not_simulated on a real connection',
    send: 'POST /v1/connections/{sue}/simulated-events',
    body: { type: 'message_received', data: {} },
    status: 409,
    answer: codeOnly('not_simulated'),
  },
  {
    title: 'Events, list: newest first, next_offset null at the end',
    send: 'GET /v1/connections/{ada}/events',
    status: 200,
    fields: ['next_offset', 'events'],
    like: { next_offset: null, events: [{ id: '{event}' }] },
  },
  {
    title: 'Events, read: 200 Event detail',
    send: 'GET /v1/events/{event}',
    status: 200,
    fields: fields.EVENT,
  },
  {
    title: 'Deliveries, list: 200 {next_offset, deliveries}',
    send: 'GET /v1/subscriptions/{subscription}/deliveries?offset=0',
    status: 200,
    fields: ['next_offset', 'deliveries'],
    like: { next_offset: null, deliveries: [{ event_id: '{event}' }] },
  },
  {
    title: 'Deliveries, list: an optional status',
    send: 'GET /v1/subscriptions/{subscription}/deliveries?status=failed',
    status: 200,
    answer: { next_offset: null, deliveries: [] },
  },
];

export const deliveries: Row[] = [
  {
    title: 'Deliveries, read: 200 Delivery plus attempts',
    send: 'GET /v1/deliveries/{failed}',
    status: 200,
    fields: [...fields.DELIVERY, 'attempts'],
    like: { status: 'failed', replay_count: 0, attempts: [] },
  },
  {
    title: 'Deliveries, replay: 409 with a reason when it is not failed (EVT-5)',
    send: 'POST /v1/deliveries/{delivered}/replay',
    status: 409,
    answer: codeOnly('delivery_not_failed'),
  },
  {
    title: 'Deliveries, replay: 202 Delivery in its new queued state, the same id',
    send: 'POST /v1/deliveries/{failed}/replay',
    status: 202,
    fields: fields.DELIVERY,
    like: { id: '{failed}', replay_count: 1 },
  },
  {
    title: 'Deliveries, bulk replay: 202 {replayed} (EVT-13)',
    send: 'POST /v1/subscriptions/{subscription}/replay-failed',
    body: { since: '2020-01-01T00:00:00.000Z' },
    status: 202,
    answer: { replayed: 1 },
  },
  {
    title: 'Deliveries, bulk replay: 409 subscription_inactive',
    send: 'POST /v1/subscriptions/{inactive}/replay-failed',
    body: { since: '2020-01-01T00:00:00Z' },
    status: 409,
    answer: codeOnly('subscription_inactive'),
  },
];
