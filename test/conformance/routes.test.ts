import t from 'tap';
import { SCOPES } from '../../storage/model/records.js';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { insertDeliveries } from '../server/rows.js';
import * as fields from './fields.js';
import { ROUTES } from './route-table.js';
import { hold, type Row, type TableFixture, tableFixture, work } from './table.js';

/** The tables of "Endpoints", row by row: what each route answers, field by field, and each error that it names. */

const SOCIAL = { provider: 'social', username: 'sue', password: 'sandbox', region: 'us' };
const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });
const KEYED = (key: string) => ({ 'Idempotency-Key': key });
const CONFLICT = (code: string) => ({ code });

const service: Row[] = [
  {
    title: 'Service, healthz: no key, 200 {status:"ok"}',
    send: 'GET /healthz',
    scopes: 'none',
    status: 200,
    answer: { status: 'ok' },
    carries: { 'cache-control': undefined, 'x-request-id': /./ },
  },
  {
    title: 'HTTP-20, the OpenAPI document',
    send: 'GET /openapi.json',
    scopes: 'none',
    status: 200,
    like: {
      paths: { '/v1/connections': { get: {}, post: {} }, '/v1/operations/{operation_id}/challenge': { post: {} } },
    },
  },
];

const connections: Row[] = [
  {
    title: 'Connections, list: an empty workspace',
    send: 'GET /v1/connections',
    status: 200,
    answer: { connections: [] },
  },
  {
    title: 'Connections, create simulated: 201 Connection, ready (CONN-3)',
    send: 'POST /v1/connections',
    body: person('ada'),
    status: 201,
    fields: fields.CONNECTION,
    like: { provider: 'simulated', external_actor: { kind: 'person', id: 'ada' }, health: 'ready', state_revision: 0 },
    carries: { location: /^\/v1\/connections\/[0-9a-f-]{36}$/ },
    keep: { ada: 'id' },
  },
  {
    title: 'Connections, create social: 201 Connection, needs_login; id of the actor null before login',
    send: 'POST /v1/connections',
    body: SOCIAL,
    status: 201,
    fields: fields.SOCIAL_CONNECTION,
    like: {
      provider: 'social',
      external_actor: { id: null },
      health: 'needs_login',
      state_revision: 0,
      region: 'US',
      regional_proxy_configured: true,
      session_proxy: null,
      recruiter: { health: 'not_verified', reason: null, contract: null, verified_at: null, operation_id: null },
    },
    keep: { sue: 'id' },
  },
  {
    title: 'Connections, create: 409 connection_conflict, same username trimmed and case-folded (CONN-1)',
    send: 'POST /v1/connections',
    body: { ...SOCIAL, username: ' SUE ' },
    status: 409,
    answer: CONFLICT('connection_conflict'),
  },
  {
    title: 'Connections, create: 409 connection_conflict, same simulated actor',
    send: 'POST /v1/connections',
    body: person('ada'),
    status: 409,
    answer: CONFLICT('connection_conflict'),
  },
  {
    title: 'Connections, create: an installation of the same id is another actor',
    send: 'POST /v1/connections',
    body: { provider: 'simulated', external_actor: { kind: 'installation', id: 'ada' } },
    status: 201,
    keep: { installation: 'id' },
  },
  {
    title: 'Connections, create: no proxy capacity in the region is 201, not configured (CONN-2)',
    send: 'POST /v1/connections',
    body: { ...SOCIAL, username: 'remote', region: 'zz' },
    status: 201,
    like: { region: 'ZZ', regional_proxy_configured: false },
    keep: { remote: 'id' },
  },
  {
    title: 'Connections, read: 200 Connection',
    send: 'GET /v1/connections/{sue}',
    status: 200,
    fields: fields.SOCIAL_CONNECTION,
  },
  {
    title: 'Connections, list: ordered by creation time',
    send: 'GET /v1/connections',
    status: 200,
    fields: ['connections'],
    like: { connections: [{ id: '{ada}' }, { id: '{sue}' }, { id: '{installation}' }, { id: '{remote}' }] },
  },
  {
    title: 'Connections, PATCH: an unchanged region alone is a no-op',
    send: 'PATCH /v1/connections/{sue}',
    body: { region: 'us' },
    status: 200,
    fields: fields.SOCIAL_CONNECTION,
    like: { state_revision: 0 },
  },
  {
    title: 'Connections, PATCH: a password counts as changed (CONN-4)',
    send: 'PATCH /v1/connections/{sue}',
    body: { password: 'sandbox' },
    status: 200,
    like: { health: 'needs_login', state_revision: 1 },
  },
  {
    title: 'Connections, PATCH: a new region',
    send: 'PATCH /v1/connections/{sue}',
    body: { region: 'de' },
    status: 200,
    like: { region: 'DE', state_revision: 2 },
  },
  ...(
    [
      ['no keys', '{sue}', {}],
      ['no other keys', '{sue}', { username: 'other' }],
      ['null', '{sue}', { password: null }],
      ['a simulated connection', '{ada}', { region: 'de' }],
    ] as const
  ).map(
    ([what, id, body]): Row => ({
      title: `Connections, PATCH: 400 for ${what} (CONN-4)`,
      send: `PATCH /v1/connections/${id}`,
      body,
      status: 400,
      like: { code: 'validation_error', errors: [{}] },
    }),
  ),
  {
    title: 'Connections, disconnect: 200 {health:"needs_login"}',
    send: 'POST /v1/connections/{sue}/disconnect',
    status: 200,
    answer: { health: 'needs_login' },
  },
  {
    title: 'Connections, disconnect twice: 200 (CONN-6)',
    send: 'POST /v1/connections/{sue}/disconnect',
    body: {},
    status: 200,
    answer: { health: 'needs_login' },
  },
  {
    title: 'Connections, delete: 204 no body',
    send: 'DELETE /v1/connections/{installation}',
    status: 204,
    answer: null,
    carries: { 'content-type': undefined },
  },
  { title: 'Connections, delete: it is gone', send: 'GET /v1/connections/{installation}', status: 404 },
];

const operations: Row[] = [
  {
    title: 'Operations, submit: 202 Operation for a new submission (HTTP-19)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 202,
    fields: fields.OPERATION,
    like: { status: 'queued', attempts: [], timeline: [{ from: null, to: 'queued' }], cancel_requested: false },
    carries: { location: /^\/v1\/operations\//, 'retry-after': '1', 'idempotency-replayed': undefined },
    keep: { operation: 'id' },
  },
  {
    title: 'Operations, submit: 200 Operation with Idempotency-Replayed for the same key and request',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 200,
    fields: fields.OPERATION,
    like: { id: '{operation}' },
    carries: { 'idempotency-replayed': 'true' },
  },
  {
    title: 'Operations, submit: 409 idempotency_conflict for the same key with different input',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'grace-hopper' }),
    status: 409,
    answer: CONFLICT('idempotency_conflict'),
  },
  {
    title: 'Operations, submit: a key is unique across the workspace, so another connection conflicts',
    send: 'POST /v1/connections/{remote}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 409,
    answer: CONFLICT('idempotency_conflict'),
  },
  {
    title: 'Operations, read: 200 Operation; wait answers when it is terminal (HTTP-18)',
    send: 'GET /v1/operations/{operation}',
    headers: { Prefer: 'wait=30' },
    status: 200,
    fields: fields.OPERATION,
    like: { status: 'succeeded', error_code: null, error_details: null, challenge: null },
    carries: { 'preference-applied': 'wait=30' },
  },
  {
    title: 'Operations, list: newest first, with its cursor (OPS-15)',
    send: 'GET /v1/operations?connection_id={ada}&status=succeeded&limit=1',
    status: 200,
    fields: ['operations', 'next_cursor'],
    like: { operations: [{ id: '{operation}' }], next_cursor: null },
  },
  {
    title: 'Operations, submit: a dry run stores nothing (OPS-16)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { ...KEYED('dry'), Prefer: 'dry-run' },
    body: work('social.identity.get'),
    status: 200,
    answer: { valid: true },
  },
  {
    title: 'Operations, challenge: 409 unless the challenge is current',
    send: 'POST /v1/operations/{operation}/challenge',
    body: { challenge_id: 'none', code: '000000' },
    status: 409,
    answer: CONFLICT('challenge_not_accepting_code'),
  },
  {
    title: 'Operations, cancel: 200 Operation; terminal ones stay (OPS-5)',
    send: 'POST /v1/operations/{operation}/cancel',
    status: 200,
    fields: fields.OPERATION,
    like: { status: 'succeeded', cancel_requested: false },
  },
  {
    title: 'Operations, reconcile: 409 not_outcome_unknown',
    send: 'POST /v1/operations/{operation}/reconcile',
    status: 409,
    answer: CONFLICT('not_outcome_unknown'),
  },
  {
    title: 'Operations, submit: a login that waits for a code',
    send: 'POST /v1/connections',
    body: person('sim-challenge-email'),
    status: 201,
    keep: { asked: 'id' },
  },
  {
    title: 'Operations, submit: a login that waits for a code',
    send: 'POST /v1/connections/{asked}/operations',
    headers: KEYED('login'),
    body: work('social.login'),
    status: 202,
    keep: { login: 'id' },
  },
];

const waiting: Row[] = [
  {
    title: 'Connections, disconnect: 409 connection_busy while a lease is held (CONN-5)',
    send: 'POST /v1/connections/{asked}/disconnect',
    status: 409,
    answer: CONFLICT('connection_busy'),
  },
  {
    title: 'Connections, delete: 409 connection_busy',
    send: 'DELETE /v1/connections/{asked}',
    status: 409,
    answer: CONFLICT('connection_busy'),
  },
  {
    title: 'Operations, challenge: 409 for another challenge',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{nobody}', code: '000000' },
    status: 409,
    answer: CONFLICT('challenge_not_accepting_code'),
  },
  {
    title: 'Operations, challenge: 202 {status:"accepted"}',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{challenge}', code: '000000' },
    status: 202,
    answer: { status: 'accepted' },
  },
  {
    title: 'Operations, challenge: 409 once it is answered (OPS-10)',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{challenge}', code: '000000' },
    status: 409,
    answer: CONFLICT('challenge_not_accepting_code'),
  },
];

const compatibility: Row[] = [
  {
    title: 'Compatibility, 200 {data:{result:{code, message}}}; the headers come back',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: KEYED('invite'),
    body: { hash_id: 'someone', message: 'Hello' },
    status: 200,
    fields: ['data'],
    like: { data: { result: {} } },
    carries: { 'idempotency-key': 'invite', 'x-operation-id': /^[0-9a-f-]{36}$/ },
  },
  {
    title: 'Compatibility, return_original adds the raw answer',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: KEYED('invite with original'),
    body: { hash_id: 'someone-new', return_original: true },
    status: 200,
    like: { data: { result: {}, original: {} } },
  },
  {
    title: 'Compatibility, return_original is a part of the request: another is a conflict',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: KEYED('invite'),
    body: { hash_id: 'someone', message: 'Hello', return_original: true },
    status: 409,
    like: { error: { code: 'idempotency_conflict' } },
  },
  {
    title: 'Compatibility, without a key every call gets a new one; 202 for async',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: { Prefer: 'respond-async' },
    body: { hash_id: 'someone-else' },
    status: 202,
    like: { data: { status: 'queued' } },
    carries: { 'idempotency-key': /./, 'x-operation-id': /./ },
  },
  {
    title: 'Compatibility, skipped: 409 with the operation (COMPAT-1)',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    body: { hash_id: 'someone', message: 'again sim-skip-already_connected' },
    status: 409,
    like: { error: { code: 'already_connected', details: { reason: 'already_connected' } } },
    carries: { 'x-operation-id': /./ },
  },
  {
    title: 'Compatibility, unknown outcome: 409 with error.details.operation_id',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: KEYED('unknown'),
    body: { hash_id: 'sim-unknown' },
    status: 409,
    like: { error: { code: 'outcome_unknown', details: {} } },
    carries: { 'x-operation-id': /./ },
  },
  {
    title: 'Compatibility, provider failure: 424',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    body: { hash_id: 'sim-upstream-503' },
    status: 424,
    like: { error: { code: 'upstream_error', details: { upstream_status: 503 } } },
  },
  {
    title: 'Compatibility, account not ready: 423; the account by its username',
    send: 'POST /v1/accounts/SUE/linkedin/invite',
    body: { hash_id: 'someone' },
    status: 423,
    like: { error: { code: 'connection_not_ready' } },
  },
  {
    title: 'Compatibility, key conflict: 409 in the envelope; the namespace is shared (OPS-9)',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: KEYED('first'),
    body: { hash_id: 'someone' },
    status: 409,
    like: { error: { code: 'idempotency_conflict', details: {} } },
    carries: { 'x-operation-id': undefined },
  },
  {
    title: 'Compatibility, validation: 400 in the envelope',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    body: { hash_id: 'some one' },
    status: 400,
    like: { error: { code: 'validation_error', details: { errors: [{ path: 'body.hash_id' }] } } },
  },
  {
    title: 'Compatibility, 401 uses the envelope',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    scopes: 'none',
    body: { hash_id: 'someone' },
    status: 401,
    like: { error: { code: 'unauthorized', details: {} } },
  },
  {
    title: 'Compatibility, both scopes are checked before the account is looked up: 403',
    send: 'POST /v1/accounts/nobody-here/linkedin/invite',
    scopes: ['operations:write'],
    body: { hash_id: 'someone' },
    status: 403,
    like: { error: { code: 'forbidden' } },
  },
  {
    title: 'Compatibility, an unknown account: 404 in the envelope',
    send: 'POST /v1/accounts/nobody-here/linkedin/invite',
    body: { hash_id: 'someone' },
    status: 404,
    like: { error: { code: 'not_found' } },
  },
];

const subscriptions: Row[] = [
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
    answer: CONFLICT('connection_not_ready'),
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
    answer: CONFLICT('not_simulated'),
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

const deliveries: Row[] = [
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
    answer: CONFLICT('delivery_not_failed'),
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
    answer: CONFLICT('subscription_inactive'),
  },
];

/** No key 401; a key with every scope but one of the route's 403; an unknown id 404; another method 405; junk 400. */
function refusals([send, scopes]: (typeof ROUTES)[number]): Row[] {
  const [method, path] = send.split(' ') as [string, string];
  const rows: Row[] = [
    { title: 'Authentication 6, no credentials', send, scopes: 'none', status: 401 },
    ...scopes.map(
      (missing): Row => ({
        title: `Authentication 6, without ${missing}`,
        send,
        scopes: SCOPES.filter((scope) => scope !== missing),
        status: 403,
      }),
    ),
    { title: 'HTTP-9, wrong method', send: `PUT ${path}`, status: 405, carries: { allow: new RegExp(method) } },
    { title: 'HTTP-9, trailing slash', send: `${method} ${path}/`, status: 404 },
  ];
  const inPath = /\{\w+\}/;
  if (inPath.test(path)) {
    rows.push({ title: 'Errors 1, unknown id', send: send.replace(inPath, '{nobody}'), status: 404 });
    rows.push({ title: 'HTTP-8, malformed id', send: send.replace(inPath, 'not-an-id'), status: 404 });
  }
  if (!path.includes('?')) rows.push({ title: 'HTTP-6, unknown query', send: `${send}?x=1`, body: {}, status: 400 });
  rows.push({ title: 'HTTP-6 and HTTP-7, unknown keys', send, body: { surprise: 1 }, status: 400 });
  rows.push({ title: 'HTTP-4, invalid JSON', send, body: '{"a":', status: 400 });
  return rows.filter((row) => !row.send.startsWith('GET') || row.body === undefined);
}

async function challenged(on: TableFixture): Promise<void> {
  const login = await on.service.client.settled(on.names.login);
  on.names.challenge = login.challenge?.id ?? '';
}

t.test('every route answers what its row of the contract promises', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t, { ...callbacks.env, BROWSER_PATH: '/bin/false' });
  Object.assign(on.names, { callback: callbacks.url, secret: callbacks.secret });
  await t.test('Service', (t) => hold(t, on, service));
  await t.test('Connections', (t) => hold(t, on, connections));
  await t.test('Operations', (t) => hold(t, on, operations));
  await challenged(on);
  await t.test('Operations, while a challenge waits', (t) => hold(t, on, waiting));
  await t.test('Compatibility invitation route', (t) => hold(t, on, compatibility));
  await t.test('Subscriptions and events', (t) => hold(t, on, subscriptions));
  const stored = await insertDeliveries(on.db, on.names.subscription ?? '', ['delivered', 'failed', 'failed']);
  [on.names.delivered, on.names.failed] = [stored.deliveries[0] ?? '', stored.deliveries[1] ?? ''];
  await t.test('Deliveries', (t) => hold(t, on, deliveries));
  await t.test('What every route refuses', (t) => hold(t, on, ROUTES.flatMap(refusals)));

  const { body } = await on.call({ send: 'GET /v1/operations/{operation}' });
  const [attempt] = body.attempts as object[];
  const [entry] = body.timeline as { at: string }[];
  t.strictSame(Object.keys(attempt ?? {}), fields.ATTEMPT, 'an attempt has the fields of the contract');
  t.strictSame(Object.keys(entry ?? {}), fields.TIMELINE, 'so has an entry of the timeline');
  for (const at of [body.created_at, body.updated_at, entry?.at]) t.match(at, fields.TIMESTAMP);
  const { body: connection } = await on.call({ send: 'GET /v1/connections/{sue}' });
  t.strictSame(Object.keys(connection.recruiter as object), fields.RECRUITER);
  t.equal((connection.capabilities as string[]).length, 22);
});
