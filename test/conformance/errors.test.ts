import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { noteStored } from '../../storage/maintenance/stored.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../storage/model/error-codes.js';
import { OPERATOR } from '../../storage/model/records.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { setOwnLimit } from '../../storage/workspaces/limits.js';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { eventually } from '../fixture/eventually.js';
import { longTest } from '../fixture/size.js';
import { insertDeliveries } from '../server/rows.js';
import { hold, type Row, tableFixture, work } from './table.js';

/**
 * The section "Errors": every code of an HTTP answer with its status, and every `error_code` of a failed operation with
 * whether it may be retried (HTTP-2, OPS-8). The statuses are typed here again, so that the service's own list is held
 * against the contract and not against itself.
 */
const STATUSES: Record<string, number> = {
  invalid_json: 400,
  validation_error: 400,
  unauthorized: 401,
  gateway_unauthorized: 401,
  user_agent_required: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  connection_conflict: 409,
  connection_busy: 409,
  connection_not_ready: 409,
  idempotency_conflict: 409,
  challenge_not_accepting_code: 409,
  not_outcome_unknown: 409,
  delivery_not_failed: 409,
  subscription_inactive: 409,
  callback_not_verified: 409,
  too_many_connections: 409,
  too_many_subscriptions: 409,
  storage_full: 409,
  too_many_secrets: 409,
  too_many_tests: 409,
  no_connection: 409,
  erased: 410,
  network_not_allowed: 403,
  cross_site: 403,
  key_ending: 409,
  links_unavailable: 409,
  link_used: 409,
  not_simulated: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  encryption_key_unavailable: 503,
  overloaded: 503,
  unavailable: 503,
};

/** Every `error_code` (OPS-8), and whether asking again can be expected to help. */
const FAILURES: Record<string, boolean> = {
  validation_error: false,
  connection_not_ready: false,
  recruiter_not_ready: false,
  authentication_failed: false,
  identity_mismatch: false,
  challenge_expired: true,
  challenge_failed: true,
  challenge_unsupported: false,
  regional_proxy_unavailable: false,
  proxy_error: true,
  browser_unavailable: true,
  upstream_error: true,
  parsing_error: false,
  provider_not_found: false,
  provider_rate_limited: true,
  provider_restricted: false,
  storage_full: false,
  upstream_timeout: true,
  session_fenced: true,
  worker_lost: true,
  deadline_exceeded: true,
  internal_error: true,
};

/** How an answer with this code is brought about on a plain service. */
const plain = (code: string, row: Omit<Row, 'title' | 'status'>): Row => {
  const status = STATUSES[code] ?? 0;
  return {
    title: `${status} ${code}`,
    status,
    ...row,
    // "Service conflicts return HTTP 409 with body {code}", and nothing else.
    ...(status === 409 ? { answer: { code } } : { like: { code } }),
    carries: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': /./, ...row.carries },
  };
};

const SUE = { provider: 'social', username: 'sue', password: 'sandbox', region: 'US' };

/** Asked with a key that was not used before: it comes with the limits of its workspace. */
const overItsLimits: Row[] = [
  plain('too_many_connections', {
    send: 'POST /v1/connections',
    scopes: ['connections:read', 'connections:write'],
    body: { ...SUE, username: 'one too many' },
  }),
  plain('storage_full', {
    send: 'POST /v1/connections/{ada}/operations',
    scopes: ['operations:write'],
    headers: { 'Idempotency-Key': 'one too large' },
    body: work('social.health.check'),
  }),
];

const inAnEmptyWorkspace: Row[] = [plain('no_connection', { send: 'POST /v1/subscriptions/{of_all}/test' })];

const onAPlainService: Row[] = [
  plain('invalid_json', { send: 'POST /v1/connections', body: '[' }),
  plain('invalid_json', { send: 'POST /v1/connections', body: '[]' }),
  plain('invalid_json', { send: 'POST /v1/connections', body: Buffer.from([0x7b, 0xff, 0x7d]) }),
  plain('validation_error', { send: 'POST /v1/connections', body: { provider: 'other' } }),
  plain('validation_error', {
    send: 'POST /v1/connections/{ada}/operations',
    body: work('social.identity.get'),
  }),
  plain('unauthorized', {
    send: 'GET /v1/connections',
    scopes: 'none',
    carries: { 'www-authenticate': 'Bearer' },
  }),
  plain('forbidden', { send: 'GET /v1/connections', scopes: ['events:read'] }),
  plain('cross_site', { send: 'GET /v1/connections', scopes: 'none', headers: { cookie: 'cs_console=x' } }),
  plain('not_found', { send: 'GET /v1/connections/{nobody}' }),
  plain('method_not_allowed', { send: 'PUT /v1/connections', carries: { allow: 'GET, HEAD, POST' } }),
  plain('connection_conflict', { send: 'POST /v1/connections', body: SUE }),
  plain('connection_busy', { send: 'POST /v1/connections/{busy}/disconnect' }),
  plain('connection_not_ready', { send: 'PATCH /v1/subscriptions/{inactive}', body: { active: true } }),
  plain('idempotency_conflict', {
    send: 'POST /v1/connections/{ada}/operations',
    headers: { 'Idempotency-Key': 'used' },
    body: work('social.health.check'),
  }),
  plain('challenge_not_accepting_code', {
    send: 'POST /v1/operations/{operation}/challenge',
    body: { challenge_id: 'x', code: '1' },
  }),
  plain('erased', { send: 'GET /v1/operations/{erased}/input' }),
  plain('not_outcome_unknown', { send: 'POST /v1/operations/{operation}/reconcile' }),
  plain('delivery_not_failed', { send: 'POST /v1/deliveries/{delivered}/replay' }),
  plain('subscription_inactive', { send: 'POST /v1/deliveries/{failed}/replay' }),
  plain('too_many_subscriptions', {
    send: 'POST /v1/connections/{sue}/subscriptions',
    body: { event_types: ['message_sent'], callback_url: '{callback}' },
  }),
  plain('too_many_secrets', { send: 'POST /v1/subscriptions/{inactive}/rotate-secret' }),
  plain('too_many_tests', { send: 'POST /v1/subscriptions/{tested}/test' }),
  plain('key_ending', { send: 'POST /v1/operator/keys/{rotated}/rotate', scopes: OPERATOR, body: {} }),
  plain('links_unavailable', { send: 'POST /v1/connections/{sue}/reconnect-link' }),
  plain('not_simulated', {
    send: 'POST /v1/connections/{sue}/simulated-events',
    body: { type: 'message_sent', data: {} },
  }),
  plain('body_too_large', { send: 'POST /v1/connections', body: 'x'.repeat(65_537) }),
  plain('unsupported_media_type', {
    send: 'POST /v1/connections',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  }),
];

const GATEWAY = { 'Gateway-Access-Client-Id': 'gw', 'Gateway-Access-Client-Secret': 'shh', 'User-Agent': 'test/1' };

/** Hosted behind a gateway, with a rate limit, without an encryption key. */
const onAHostedService: Row[] = [
  plain('gateway_unauthorized', { send: 'GET /healthz', scopes: 'none' }),
  plain('user_agent_required', {
    send: 'GET /openapi.json',
    scopes: 'none',
    headers: { ...GATEWAY, 'User-Agent': ' ' },
  }),
  {
    title: 'healthz needs only the gateway headers',
    send: 'GET /healthz',
    scopes: 'none',
    headers: { ...GATEWAY, 'User-Agent': '' },
    status: 200,
  },
  plain('encryption_key_unavailable', { send: 'POST /v1/connections', headers: GATEWAY, body: SUE }),
  {
    title: 'a simulated connection keeps no secret',
    send: 'POST /v1/connections',
    headers: GATEWAY,
    body: { provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } },
    status: 201,
    keep: { ada: 'id' },
  },
  plain('encryption_key_unavailable', {
    send: 'POST /v1/connections/{ada}/operations',
    headers: { ...GATEWAY, 'Idempotency-Key': 'sealed' },
    body: work('social.message.send', { recipient_actor_id: 'bob', body: 'Hello' }),
  }),
  plain('encryption_key_unavailable', {
    send: 'POST /v1/connections/{ada}/subscriptions',
    headers: GATEWAY,
    body: { event_types: ['message_sent'], callback_url: 'https://93.184.216.34/callback' },
  }),
  {
    title: 'an input that is not sealed needs no key',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { ...GATEWAY, 'Idempotency-Key': 'open' },
    body: work('social.identity.get'),
    status: 202,
  },
];

/** Codes that no row of these tables brings about, each with the test that does. */
const ELSEWHERE: Record<string, string> = {
  callback_not_verified: 'server/routes/subscriptions/subscription-verification.test.ts',
  internal_error: 'server/http/identity/keys.test.ts',
  link_used: 'story/reconnect-link.long.ts',
  network_not_allowed: 'server/console/sessions.test.ts',
  overloaded: 'server/http/checks.test.ts',
  rate_limited: 'conformance/errors.test.ts',
  unavailable: 'conformance/errors.test.ts',
};

t.test('each code is brought about by a row, or by the test that is named for it', async (t) => {
  const rows = [...overItsLimits, ...inAnEmptyWorkspace, ...onAPlainService, ...onAHostedService];
  const brought = new Set(rows.map(({ title }) => title.split(' ')[1]));
  t.strictSame(
    Object.keys(STATUSES).filter((code) => !brought.has(code)),
    Object.keys(ELSEWHERE).sort((a, b) => Object.keys(STATUSES).indexOf(a) - Object.keys(STATUSES).indexOf(b)),
  );
  for (const [code, file] of Object.entries(ELSEWHERE))
    t.match(readFileSync(join(import.meta.dirname, '../../../test', file), 'utf8'), code, file);
});

t.test('every HTTP error code has its status and its body', async (t) => {
  t.strictSame(
    Object.fromEntries(Object.entries(HTTP_ERRORS).map(([code, { status }]) => [code, status])),
    STATUSES,
    "the service's list is the contract's",
  );
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t, { ...callbacks.env, BROWSER_PATH: '/bin/false', CONNECTION_SUBSCRIPTIONS: '1' });
  on.names.callback = callbacks.url;
  const { client } = on.service;
  const ofAll = await client.send('POST', '/v1/subscriptions', {
    event_types: ['message_sent'],
    callback_url: callbacks.url,
  });
  on.names.of_all = String(ofAll.body.id);
  await hold(t, on, inAnEmptyWorkspace);
  await client.send('DELETE', `/v1/subscriptions/${on.names.of_all}`);
  on.names.ada = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  on.names.sue = await client.connect(SUE);
  const busy = { provider: 'simulated', external_actor: { kind: 'person', id: 'sim-challenge-captcha' } };
  on.names.busy = await client.connect(busy);
  await client.settled((await client.submit(on.names.busy, 'social.login')).body.id);
  on.names.operation = (await client.run(on.names.ada, 'social.identity.get')).id;
  await client.submit(on.names.ada, 'social.identity.get', {}, 'used');
  on.names.erased = (await client.run(on.names.ada, 'social.identity.get')).id;
  await on.db.query(
    'testErased',
    'update operation set input = null, input_sealed = null, input_erased_at = now() where id = $1',
    [on.names.erased],
  );
  const subscription = await client.send('POST', `/v1/connections/${on.names.sue}/subscriptions`, {
    event_types: ['message_sent'],
    callback_url: callbacks.url,
  });
  on.names.inactive = String(subscription.body.id);
  for (let i = 0; i < 5; i++) await on.call({ send: 'POST /v1/subscriptions/{inactive}/rotate-secret' });
  const key = {
    workspaceId: on.service.workspaceId,
    name: 'rotated',
    scopes: ['events:read'] as const,
    expiresAt: null,
  };
  on.names.rotated = (await createKey(on.db, key))?.row.id ?? '';
  await on.call({ send: 'POST /v1/operator/keys/{rotated}/rotate', scopes: OPERATOR, body: { overlap_s: 3600 } });
  callbacks.refuse(true);
  const refused = await client.send('POST', `/v1/connections/${on.names.ada}/subscriptions`, {
    event_types: ['message_sent'],
    callback_url: callbacks.url,
  });
  on.names.tested = String(refused.body.id);
  for (let i = 0; i < 5; i++) await on.call({ send: 'POST /v1/subscriptions/{tested}/test' });
  const stored = await insertDeliveries(on.db, on.names.inactive, ['delivered', 'failed']);
  [on.names.delivered, on.names.failed] = [stored.deliveries[0] ?? '', stored.deliveries[1] ?? ''];
  await hold(t, on, onAPlainService);
  await setOwnLimit(on.db, { workspace_id: on.service.workspaceId, name: 'connections', value: 1 });
  await setOwnLimit(on.db, { workspace_id: on.service.workspaceId, name: 'stored_mib', value: 1 });
  await noteStored(on.db, new Map([[on.service.workspaceId, 2 * 2 ** 20]]));
  await eventually(
    'the node knows the limits and what is stored',
    async () => (await on.call({ send: 'GET /v1/limits', scopes: ['events:read'] })).body,
    ({ stored_mib }) => {
      const known = stored_mib as { limit: number; used: number } | null;
      return known?.limit === 1 && known.used >= 2;
    },
  );
  await hold(t, on, overItsLimits);

  const details = await on.call({
    send: 'POST /v1/connections',
    body: { ...SUE, password: 'secret\n', region: 'XXX' },
  });
  t.match(details.body, {
    message: String,
    errors: [{ path: 'body.password' }, { path: 'body.region', value: 'XXX' }],
  });
  t.notMatch(details.text, 'secret', 'a secret is never repeated (HTTP-2)');
});

longTest(
  t,
  'a hosted service asks for its gateway, limits rates, and reports that it has no encryption key',
  async (t) => {
    const on = await tableFixture(t, {
      BROWSER_PATH: '/bin/false',
      ENCRYPTION_KEYS: '',
      PROVIDER: 'sandbox',
      GATEWAY_CLIENT_ID: 'gw',
      GATEWAY_CLIENT_SECRET: 'shh',
      RATE_LIMIT_PER_SECOND: '20',
    });
    await hold(t, on, onAHostedService);
    const many = await Promise.all(
      Array.from({ length: 80 }, () => on.call({ send: 'GET /v1/connections', headers: GATEWAY })),
    );
    const refused = many.find((one) => one.status === STATUSES.rate_limited);
    t.match(refused, { body: { code: 'rate_limited' }, headers: { 'retry-after': /^[1-9]\d*$/ } });
  },
);

t.test('without its database the service is unavailable, and reports it', async (t) => {
  const on = await tableFixture(t, { BROWSER_PATH: '/bin/false' });
  on.names.ada = await on.service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'ada' },
  });
  const { pathname } = new URL(on.service.databaseUrl);
  const name = pathname.slice(1);
  const server = new pg.Client({ connectionString: on.service.databaseUrl.replace(pathname, '/postgres') });
  await server.connect();
  t.teardown(() => server.end());
  await server.query(`alter database ${name} allow_connections false`);
  await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  const health = await on.call({ send: 'GET /healthz', scopes: 'none' });
  t.strictSame([health.status, health.body], [503, { status: 'unavailable' }], 'healthz');
  const read = await on.call({ send: 'GET /v1/connections/{ada}' });
  t.match(read, { status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } });
  await server.query(`alter database ${name} allow_connections true`);
  const answers = new Set<number>();
  await eventually(
    'the service answers again',
    async () => (await on.call({ send: 'GET /v1/connections/{ada}' })).status,
    (status) => answers.add(status).has(200),
  );
  t.strictSame(
    [...answers].filter((status) => status !== 503),
    [200],
    '503 until the database is back',
  );
});

t.test('every error_code of a failed operation carries whether it may be retried', async (t) => {
  t.strictSame(
    Object.fromEntries(Object.entries(OPERATION_ERRORS).map(([code, { retryable }]) => [code, retryable])),
    FAILURES,
    "the service's list is the contract's",
  );
  const { service } = await tableFixture(t);
  const ada = await service.client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  const submitted = [];
  for (const code of Object.keys(FAILURES)) {
    submitted.push([
      code,
      await service.client.submit(ada, 'social.profile.get', { profile_id: `sim-fail-${code}` }),
    ] as const);
  }
  for (const [code, { body }] of submitted) {
    const failed = await service.client.settled(body.id);
    t.match(failed, { status: 'failed', error_code: code, error_details: { retryable: FAILURES[code] } }, code);
    t.equal(failed.result, null, `${code} has no result`);
  }
  const upstream = await service.client.run(ada, 'social.profile.get', { profile_id: 'sim-upstream-503' });
  t.match(upstream, { error_code: 'upstream_error', error_details: { upstream_status: 503 } });
});
