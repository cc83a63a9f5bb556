import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { parseJson } from '../../../server/http/body.js';
import { drainSwitch } from '../../../server/http/drain.js';
import { newKeyText } from '../../../storage/workspaces/key-format.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { insertKey, startTestEdge } from '../edge-fixture.js';
import { putOperation } from '../rows.js';

t.test('health answers without a key, and reports when the service or its database does not work', async (t) => {
  const { call, system } = await startTestEdge(t);
  const ok = await call('GET', '/healthz?anything=1', { key: '' });
  t.equal(ok.status, 200);
  t.strictSame(ok.json, { status: 'ok' });
  t.notOk(ok.headers['cache-control']);
  system.state = 'failed';
  const failed = await call('GET', '/healthz', { key: '' });
  t.equal(failed.status, 503);
  t.strictSame(failed.json, { status: 'unavailable' });
});

t.test('probes are answered beside the gateway: ready as long as nothing is lacking, alive whatever is', async (t) => {
  const drain = drainSwitch();
  const { call, system } = await startTestEdge(t, { gateway: { id: 'gw', secret: 'shh' }, drain });
  const probe = (path: string) => call('GET', path, { key: '' });
  t.match(await probe('/readyz?anything=1'), { status: 200, json: { status: 'ok' } });
  t.equal((await probe('/healthz')).status, 401);
  t.equal((await call('POST', '/readyz', { key: '' })).status, 401);
  system.lacks = ['leases', 'actor_threads'];
  t.match(await probe('/readyz'), { status: 503, json: { status: 'unavailable', reasons: system.lacks } });
  system.state = 'failed';
  t.strictSame((await probe('/readyz')).json.reasons, ['failed']);
  drain.begin();
  t.match(await probe('/readyz'), { status: 503, json: { reasons: ['draining'] } });
  for (const method of ['GET', 'HEAD']) {
    t.equal((await call(method, '/livez', { key: '' })).status, 200);
    t.equal((await call(method, '/readyz', { key: '' })).status, 503);
  }
});

t.test('a request is refused by the first check it fails, in the order that was decided', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t, { gateway: { id: 'gw', secret: 'shh' } });
  const reader = await insertKey(db, workspaceId, ['operations:read']);
  const writer = await insertKey(db, workspaceId, ['operations:write']);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const gateway = { 'gateway-access-client-id': 'gw', 'gateway-access-client-secret': 'shh' };
  const named = { ...gateway, 'user-agent': 'test/1' };
  const path = `/v1/connections/${id}/operations`;
  const send = { capability: 'social.message.send', input: {} };

  const steps: [what: string, method: string, path: string, options: object, status: number, code: string][] = [
    ['no gateway headers', 'PUT', '/v1/nothing', { key: '' }, 401, 'gateway_unauthorized'],
    [
      'wrong gateway secret',
      'GET',
      '/healthz',
      { key: '', headers: { ...named, 'gateway-access-client-secret': 'x' } },
      401,
      'gateway_unauthorized',
    ],
    ['no user agent', 'PUT', '/v1/nothing', { key: '', headers: gateway }, 403, 'user_agent_required'],
    ['no key', 'PUT', '/v1/nothing', { key: '', headers: named }, 401, 'unauthorized'],
    ['a key of another form', 'PUT', '/v1/nothing', { key: 'cs_short', headers: named }, 401, 'unauthorized'],
    ['an unknown key', 'PUT', '/v1/nothing', { key: newKeyText('key'), headers: named }, 401, 'unauthorized'],
    ['no route', 'PUT', '/v1/nothing', { key: reader, headers: named }, 404, 'not_found'],
    ['wrong method', 'PUT', path, { key: reader, headers: named }, 405, 'method_not_allowed'],
    [
      'no scope',
      'POST',
      `/v1/connections/${uuidv7()}/operations`,
      { key: reader, headers: named, body: '{' },
      403,
      'forbidden',
    ],
    [
      'no resource',
      'POST',
      `/v1/connections/${uuidv7()}/operations`,
      { key: writer, headers: named, body: 'x'.repeat(3_000_000) },
      404,
      'not_found',
    ],
    [
      'too large',
      'POST',
      path,
      { key: writer, headers: { ...named, 'content-type': 'text/plain' }, body: 'x'.repeat(3_000_000) },
      413,
      'body_too_large',
    ],
    [
      'wrong media type',
      'POST',
      path,
      { key: writer, headers: { ...named, 'content-type': 'text/plain' }, body: '{' },
      415,
      'unsupported_media_type',
    ],
    ['no JSON', 'POST', path, { key: writer, headers: named, body: '{' }, 400, 'invalid_json'],
    ['no social:send', 'POST', path, { key: writer, headers: named, body: send }, 403, 'forbidden'],
    [
      'invalid body',
      'POST',
      path,
      { key: writer, headers: named, body: { capability: 'nope', input: {} } },
      400,
      'validation_error',
    ],
  ];
  for (const [what, method, target, options, status, code] of steps) {
    const reply = await call(method, target, options);
    t.equal(reply.status, status, what);
    t.equal(reply.json.code, code, what);
    t.ok(reply.headers['x-request-id'], what);
  }
});

t.test('without a gateway no gateway headers and no user agent are asked for', async (t) => {
  const { call } = await startTestEdge(t);
  t.equal((await call('GET', '/v1/connections')).status, 200);
});

t.test('routes are found exactly, and the answer to a wrong method lists the right ones', async (t) => {
  const { call } = await startTestEdge(t);
  for (const path of ['/', '/nothing', '/healthz/', '/v1x'])
    t.equal((await call('GET', path, { key: '' })).status, 404, path);
  for (const path of ['/v1', '/v1/', '/v1/nothing']) t.equal((await call('GET', path, { key: '' })).status, 401, path);
  for (const path of ['/v1/connections/', '/v1//connections', '/v1/connections/%zz', '/v1/connections/not-an-id']) {
    t.equal((await call('GET', path)).status, 404, path);
  }
  const wrong = await call('DELETE', '/v1/connections');
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.allow, 'GET, HEAD, POST');
  t.equal((await call('OPTIONS', '/healthz', { key: '' })).headers.allow, 'GET, HEAD');
});

t.test('HEAD is answered as GET is, with the same headers and without the body', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  for (const path of ['/healthz', '/v1/connections', `/v1/connections/${id}`, `/v1/connections/${uuidv7()}`]) {
    const headers = { 'x-request-id': 'one' };
    const [got, head] = [await call('GET', path, { headers }), await call('HEAD', path, { headers })];
    t.equal(head.status, got.status, path);
    t.equal(head.text, '');
    const [{ date: _, ...wanted }, { date: __, ...found }] = [got.headers, head.headers];
    t.strictSame(found, wanted);
  }
  const none = await call('HEAD', `/v1/connections/${id}/operations/x/y`);
  t.equal(none.status, 404);
});

t.test('no answer is to be taken for another type than it says, nor names what answers it', async (t) => {
  const { call } = await startTestEdge(t);
  const answers = [
    await call('GET', '/healthz', { key: '' }),
    await call('GET', '/v1/connections'),
    await call('GET', '/v1/connections', { key: '' }),
    await call('GET', '/nothing'),
    await call('DELETE', '/v1/connections'),
  ];
  for (const { headers, status } of answers) {
    t.equal(headers['x-content-type-options'], 'nosniff', String(status));
    t.notMatch(Object.keys(headers).join(), /uwebsockets|server|powered/i);
  }
});

t.test('every answer carries a request id: the printable one that was sent, or a new one', async (t) => {
  const { call } = await startTestEdge(t);
  const given = await call('GET', '/v1/connections', { headers: { 'x-request-id': 'abc 123' } });
  t.equal(given.headers['x-request-id'], 'abc 123');
  t.equal(given.headers['cache-control'], 'no-store');
  const long = await call('GET', '/v1/nothing', { headers: { 'x-request-id': 'x'.repeat(129) } });
  t.match(long.headers['x-request-id'], /^[0-9a-f-]{36}$/);
});

t.test(
  'a key serves its own workspace, its own scopes, and only while it is neither revoked nor expired',
  async (t) => {
    const { call, db, workspaceId } = await startTestEdge(t);
    const { id } = await insertSimulated(db, workspaceId, 'ann');
    const stranger = await insertKey(db, await insertWorkspace(db));
    t.equal((await call('GET', `/v1/connections/${id}`)).status, 200);
    t.equal((await call('GET', `/v1/connections/${id}`, { key: stranger })).status, 404);
    t.strictSame((await call('GET', '/v1/connections', { key: stranger })).json, { connections: [] });

    const eventsOnly = await insertKey(db, workspaceId, ['events:read']);
    t.equal((await call('GET', '/v1/connections', { key: eventsOnly })).status, 403);

    const expired = await insertKey(db, workspaceId);
    await db.query(
      'expire',
      `update api_key set expires_at = now() - interval '1 second' where key_hash = sha256($1)`,
      [Buffer.from(expired)],
    );
    t.equal((await call('GET', '/v1/connections', { key: expired })).status, 401);
  },
);

t.test(
  'a body is refused for what it is: invalid JSON, no object, no UTF-8, unknown keys, text that cannot be stored',
  async (t) => {
    const { call } = await startTestEdge(t);
    for (const body of ['', '{', '[]', '"x"', 'null', Buffer.from([0x7b, 0xff, 0x7d])]) {
      const reply = await call('POST', '/v1/connections', { body });
      t.equal(reply.status, 400, String(body));
      t.equal(reply.json.code, 'invalid_json', String(body));
    }
    const actor = { kind: 'person', id: 'ann' };
    const unknown = await call('POST', '/v1/connections', {
      body: { provider: 'simulated', external_actor: actor, extra: 1 },
    });
    t.equal(unknown.status, 400);
    t.strictSame(unknown.json.errors, [{ path: 'body.extra', expected: 'no such field' }]);
    for (const escaped of ['\\u0000', '\\ud800']) {
      const text = `{"provider":"social","username":"a","password":"p${escaped}","region":"US"}`;
      t.equal((await call('POST', '/v1/connections', { body: text })).status, 400, escaped);
    }
    const typed = await call('POST', '/v1/connections', {
      body: { provider: 'simulated', external_actor: actor },
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    t.equal(typed.status, 201);
  },
);

t.test('a number that would be rounded is refused with its path, and any other is taken', async (t) => {
  const parse = (number: string) => parseJson(Buffer.from(`{"a":[{"n":${number}}],"text":"9007199254740993 1e400"}`));
  for (const number of [
    '9007199254740993',
    '-12345678901234567891',
    '1e400',
    '0.12345678901234567891',
    '9.00719925474099301e15',
  ])
    t.throws(() => parse(number), { code: 'validation_error', errors: [{ path: 'body.a[0].n' }] }, number);
  for (const number of [
    '9007199254740992',
    '-0.0000000000000000',
    '1.5e300',
    '1e22',
    '1000000000000000000000',
    '0.1000000000000000000',
  ])
    t.equal((parse(number).a as { n: number }[])[0]?.n, Number(number), number);
});

t.test('an error has the path of the fault, and what was expected there', async (t) => {
  const { call } = await startTestEdge(t);
  const create = await call('POST', '/v1/connections', { body: { provider: 'simulated', external_actor: null } });
  t.strictSame(create.json.errors, [{ path: 'body.external_actor', expected: 'an object', value: null }]);
  const mine = await call('GET', '/v1/operations?connection_id=mine');
  t.match(mine.json.errors, [{ path: 'query.connection_id', expected: /UuidText/ }], 'a type of ours by its name');
  const list = await call('GET', '/v1/operations?limit=x&status=done');
  const errors = new Map(list.json.errors.map((error) => [error.path, error]));
  t.strictSame([errors.size, errors.get('query.status')?.value], [2, 'done']);
  t.equal(errors.get('query.limit')?.value, 'x');
  t.equal(errors.get('query.limit')?.expected, 'number & Type<"uint32"> & Minimum<1> & Maximum<100>');
});

t.test('secrets are never repeated in an error', async (t) => {
  const { call } = await startTestEdge(t);
  const reply = await call('POST', '/v1/connections', {
    body: { provider: 'social', username: 'ann', password: 'hunter2\n', region: 'USA' },
  });
  t.equal(reply.status, 400);
  t.notMatch(reply.text, /hunter2/);
  t.match(reply.json.errors, [{ path: 'body.password' }, { path: 'body.region', value: 'USA' }]);
});

t.test('a route without input takes an empty body or {} and no query', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  t.equal((await call('POST', `/v1/connections/${id}/disconnect`)).status, 200);
  t.equal((await call('POST', `/v1/connections/${id}/disconnect`, { body: {} })).status, 200);
  t.strictSame((await call('POST', `/v1/connections/${id}/disconnect`, { body: { a: 1 } })).json.errors, [
    { path: 'body.a', expected: 'no such field' },
  ]);
  t.equal((await call('GET', '/v1/connections?a=1')).json.code, 'validation_error');
});

t.test('a key with too many requests gets the time to wait', async (t) => {
  const { call } = await startTestEdge(t, { rateLimitPerSecond: 2 });
  const replies = await Promise.all([1, 2, 3, 4].map(() => call('GET', '/v1/connections')));
  const refused = replies.filter((reply) => reply.status === 429);
  t.ok(refused.length >= 1);
  t.equal(refused[0]?.json.code, 'rate_limited');
  t.equal(refused[0]?.headers['retry-after'], '1');
  t.equal((await call('GET', '/healthz', { key: '' })).status, 200);
});

t.test(
  'a workspace with too many requests under way is refused, its waits among them, and others are not',
  async (t) => {
    const { call, db, workspaceId, system } = await startTestEdge(t, { workspaceRequests: 3 });
    const { id } = await insertSimulated(db, workspaceId, 'ann');
    const submit = (key: string) =>
      call('POST', `/v1/connections/${id}/operations`, {
        body: { capability: 'social.identity.get', input: {} },
        headers: { 'idempotency-key': key },
      });
    const operations: string[] = [
      (await submit('1')).json.id,
      (await submit('2')).json.id,
      (await submit('3')).json.id,
    ];
    const waits = [];
    for (const operation of operations) {
      const asked = system.asked();
      waits.push(call('GET', `/v1/operations/${operation}`, { headers: { prefer: 'wait=20' } }));
      await asked;
    }
    const refused = await submit('4');
    t.match(refused, { status: 503, json: { code: 'overloaded' }, headers: { 'retry-after': '1' } });
    const other = await insertKey(db, await insertWorkspace(db));
    t.equal((await call('GET', '/v1/connections', { key: other })).status, 200);
    t.equal((await call('GET', '/healthz', { key: '' })).status, 200);
    await putOperation(db, operations[0]!, 'succeeded', { actor_id: 'ann' });
    system.settle(operations[0]!);
    t.equal((await waits[0]!).status, 200);
    t.equal((await submit('4')).status, 202, 'nothing of the refused one was stored');
    for (const operation of operations.slice(1)) {
      await putOperation(db, operation, 'succeeded', { actor_id: 'ann' });
      system.settle(operation);
    }
    await Promise.all(waits);
  },
);

t.test(
  'submissions of a crowded thread are refused before anything else is looked at, and nothing else is',
  async (t) => {
    const { call, db, workspaceId, system } = await startTestEdge(t);
    const { id } = await insertSimulated(db, workspaceId, 'ann');
    system.full = true;
    for (const body of [undefined, '{', 'x'.repeat(3_000_000), { capability: 'social.identity.get', input: {} }]) {
      const reply = await call('POST', `/v1/connections/${id}/operations`, { key: '', ...(body && { body }) });
      t.match(reply, { status: 503, json: { code: 'overloaded' }, headers: { 'retry-after': '1' } });
      t.match(reply.headers['x-request-id'], /^[0-9a-f-]{36}$/);
    }
    t.equal((await call('GET', '/v1/operations')).status, 200);
    system.full = false;
    t.equal((await call('POST', `/v1/connections/${id}/operations`, { key: '' })).status, 401);
  },
);
