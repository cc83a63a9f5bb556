import * as fields from '../fields.js';
import { codeOnly, person, type Row } from '../table.js';

/** Rows of the service and of connections. They run in order. */

const SOCIAL = { provider: 'social', username: 'sue', password: 'sandbox', region: 'us' };

export const service: Row[] = [
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

export const connections: Row[] = [
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
    answer: codeOnly('connection_conflict'),
  },
  {
    title: 'Connections, create: 409 connection_conflict, same simulated actor',
    send: 'POST /v1/connections',
    body: person('ada'),
    status: 409,
    answer: codeOnly('connection_conflict'),
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
    title: 'Connections, reference: null and no labels before one is given (CONN-19)',
    send: 'GET /v1/connections/{sue}',
    status: 200,
    like: { reference: null, labels: [], account_hint: 's•••' },
  },
  {
    title: 'Connections, reference: 200 Connection with both (CONN-19)',
    send: 'PUT /v1/connections/{sue}/reference',
    body: { reference: 'customer-4711', labels: ['sales', 'trial'] },
    status: 200,
    fields: fields.SOCIAL_CONNECTION,
    like: { id: '{sue}', reference: 'customer-4711', labels: ['sales', 'trial'] },
  },
  {
    title: 'Connections, reference: what is left out stays',
    send: 'PUT /v1/connections/{sue}/reference',
    body: { labels: [] },
    status: 200,
    like: { reference: 'customer-4711', labels: [] },
  },
  {
    title: 'Connections, list: by reference',
    send: 'GET /v1/connections?reference=customer-4711&provider=social',
    status: 200,
    like: { connections: [{ id: '{sue}' }] },
  },
  {
    title: 'Connections, list: of another reference nothing',
    send: 'GET /v1/connections?reference=customer-47',
    status: 200,
    answer: { connections: [] },
  },
  ...[
    { body: {}, path: 'body' },
    { body: { reference: '' }, path: 'body.reference' },
    { body: { reference: 'x'.repeat(256) }, path: 'body.reference' },
    { body: { reference: 'zwölf' }, path: 'body.reference' },
    { body: { labels: ['a', 'a'] }, path: 'body.labels' },
    { body: { labels: Array.from({ length: 11 }, (_, i) => `label-${i}`) }, path: 'body.labels' },
    { body: { labels: ['x'.repeat(65)] }, path: 'body.labels[0]' },
  ].map(
    ({ body, path }): Row => ({
      title: `Connections, reference: 400 at ${path} for ${JSON.stringify(body).slice(0, 40)}`,
      send: 'PUT /v1/connections/{sue}/reference',
      body,
      status: 400,
      like: { code: 'validation_error', errors: [{ path }] },
    }),
  ),
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
