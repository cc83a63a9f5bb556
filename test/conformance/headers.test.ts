import t from 'tap';
import { hold, type Row, tableFixture, work } from './table.js';

/**
 * Headers that the contract and the decisions name: what each does when it is there, is not, or is wrong; and what
 * comes back.
 */

const GATEWAY = {
  'gateway-access-client-id': 'gw',
  'gateway-access-client-secret': 'shh',
  'user-agent': 'conformance/1',
};
const UNAUTHORIZED = { like: { code: 'unauthorized' }, carries: { 'www-authenticate': 'Bearer' } };
const READ = work('social.identity.get');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const request: Row[] = [
  ...['', 'Bearer', 'Bearer ', 'Basic Y3M6eA==', 'Bearer cs_short', `Bearer cs_${'a'.repeat(43)}`, '{key}'].map(
    (authorization): Row => ({
      title: `Authorization "${authorization}": 401`,
      send: 'GET /v1/connections',
      scopes: 'none',
      headers: { authorization },
      status: 401,
      ...UNAUTHORIZED,
    }),
  ),
  ...['Bearer {key}', 'bearer {key}', 'Bearer   {key}'].map(
    (authorization): Row => ({
      title: `Authorization "${authorization}": accepted`,
      send: 'GET /v1/connections',
      scopes: 'none',
      headers: { authorization },
      status: 200,
    }),
  ),
  {
    title: 'a key in the query is no key',
    send: 'GET /v1/connections?key={key}',
    scopes: 'none',
    status: 401,
    ...UNAUTHORIZED,
  },
  {
    title: 'X-Request-Id, the caller’s (HTTP-3)',
    send: 'GET /v1/connections',
    headers: { 'x-request-id': 'abc 123' },
    status: 200,
    carries: { 'x-request-id': 'abc 123', 'cache-control': 'no-store', 'content-type': /^application\/json/ },
  },
  ...['x'.repeat(129), 'ä', ' '].map(
    (id): Row => ({
      title: 'X-Request-Id that is no 1–128 printable characters: a new one',
      send: 'GET /v1/connections',
      headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
      status: 200,
      carries: { 'x-request-id': UUID },
    }),
  ),
  {
    title: 'X-Request-Id comes with errors too',
    send: 'GET /nothing',
    scopes: 'none',
    headers: { 'x-request-id': 'mine' },
    status: 404,
    carries: { 'x-request-id': 'mine', 'cache-control': undefined },
  },
  ...(
    [
      ['application/json', 400],
      ['APPLICATION/JSON; charset=utf-8', 400],
      ['', 400],
      ['text/json', 415],
      ['application/x-www-form-urlencoded', 415],
      ['multipart/form-data; boundary=a', 415],
    ] as const
  ).map(
    ([type, status]): Row => ({
      title: `Content-Type "${type}" (HTTP-5): ${status === 400 ? 'the body is looked at' : '415'}`,
      send: 'POST /v1/connections',
      headers: { 'content-type': type },
      body: '{}',
      status,
    }),
  ),
  {
    title: 'Content-Encoding: bodies are plain',
    send: 'POST /v1/connections',
    headers: { 'content-encoding': 'gzip' },
    body: '{}',
    status: 415,
  },
  {
    title: 'Idempotency-Key is required on submissions',
    send: 'POST /v1/connections/{ada}/operations',
    body: READ,
    status: 400,
    like: { errors: [{ path: 'headers.Idempotency-Key' }] },
  },
  {
    title: 'Location and Retry-After of a submission (HTTP-19)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { 'idempotency-key': 'one' },
    body: READ,
    status: 202,
    carries: { location: /^\/v1\/operations\/[0-9a-f-]{36}$/, 'retry-after': '1', 'idempotency-replayed': undefined },
    keep: { operation: 'id' },
  },
  {
    title: 'Idempotency-Replayed',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { 'idempotency-key': 'one' },
    body: READ,
    status: 200,
    carries: { 'idempotency-replayed': 'true' },
  },
  ...(
    [
      ['wait=5', 'wait=5'],
      ['wait=0', 'wait=0'],
      ['wait=31', 'wait=30'],
      ['wait=99999', 'wait=30'],
      ['respond-async, wait=2', 'wait=2'],
      ['wait=-1', undefined],
      ['wait=soon', undefined],
      ['unknown', undefined],
    ] as const
  ).map(
    ([prefer, applied]): Row => ({
      title: `Prefer: ${prefer} on a read (HTTP-18); what is not understood is not refused`,
      send: 'GET /v1/operations/{operation}',
      headers: { prefer },
      status: 200,
      carries: { 'preference-applied': applied },
    }),
  ),
  {
    title: 'Prefer: dry-run (OPS-16)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { 'idempotency-key': 'two', prefer: 'dry-run' },
    body: READ,
    status: 200,
    answer: { valid: true },
    carries: { 'preference-applied': 'dry-run' },
  },
  {
    title: 'Prefer: respond-async on the compatibility route; the key and the operation come back',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: { prefer: 'respond-async', 'idempotency-key': 'three' },
    body: { hash_id: 'sim-delay-300' },
    status: 202,
    carries: { 'idempotency-key': 'three', 'x-operation-id': UUID },
  },
  {
    title: 'Idempotency-Key of the compatibility route is generated when it is not given',
    send: 'POST /v1/accounts/{ada}/linkedin/invite',
    headers: { prefer: 'respond-async' },
    body: { hash_id: 'someone' },
    status: 202,
    carries: { 'idempotency-key': UUID, 'x-operation-id': UUID },
  },
  {
    title: 'without a gateway no gateway headers and no User-Agent are asked for (HTTP-11)',
    send: 'GET /v1/connections',
    headers: { 'user-agent': '' },
    status: 200,
  },
];

const without = (name: keyof typeof GATEWAY, value?: string) => {
  const { [name]: _, ...rest } = GATEWAY;
  return value === undefined ? rest : { ...rest, [name]: value };
};

/** "Authentication" 1–3, once the service is hosted. */
const hosted: Row[] = [
  { title: 'healthz needs the gateway headers', send: 'GET /healthz', scopes: 'none', status: 401 },
  { title: 'healthz needs only them', send: 'GET /healthz', scopes: 'none', headers: GATEWAY, status: 200 },
  { title: 'every route needs both', send: 'GET /v1/connections', headers: GATEWAY, status: 200 },
  {
    title: 'they stand before the route',
    send: 'GET /nothing',
    scopes: 'none',
    status: 401,
    like: { code: 'gateway_unauthorized' },
  },
  {
    title: 'and the key after them',
    send: 'GET /v1/connections',
    scopes: 'none',
    headers: GATEWAY,
    status: 401,
    ...UNAUTHORIZED,
  },
  ...(
    [
      ['gateway-access-client-id', undefined, 401],
      ['gateway-access-client-id', 'other', 401],
      ['gateway-access-client-secret', undefined, 401],
      ['gateway-access-client-secret', 'shhh', 401],
      ['gateway-access-client-secret', '', 401],
      ['user-agent', undefined, 403],
      ['user-agent', ' ', 403],
    ] as const
  ).map(
    ([name, value, status]): Row => ({
      title: `${name} ${value === undefined ? 'absent' : `"${value}"`}: ${status}`,
      send: 'GET /v1/connections',
      headers: without(name, value),
      status,
      like: { code: status === 401 ? 'gateway_unauthorized' : 'user_agent_required' },
      carries: { 'x-request-id': /./ },
    }),
  ),
  {
    title: 'the compatibility route says it in its envelope',
    send: 'POST /v1/accounts/{nobody}/linkedin/invite',
    body: {},
    status: 401,
    like: { error: { code: 'gateway_unauthorized', details: {} } },
  },
];

t.test('each header does what its row promises', async (t) => {
  const on = await tableFixture(t);
  on.names.key = on.service.key;
  on.names.ada = await on.service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'ada' },
  });
  await hold(t, on, request);
});

t.test('a hosted service asks every request for its gateway headers and a named User-Agent', async (t) => {
  const on = await tableFixture(t, {
    BROWSER_PATH: '/bin/false',
    GATEWAY_CLIENT_ID: 'gw',
    GATEWAY_CLIENT_SECRET: 'shh',
  });
  await hold(t, on, hosted);
});
