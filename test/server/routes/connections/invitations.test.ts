import t from 'tap';
import { type CallOptions, type Fields, insertKey, startTestEdge } from '../../edge-fixture.js';
import { putOperation } from '../../rows.js';

async function startWithAccount(t: Parameters<typeof startTestEdge>[0]) {
  const edge = await startTestEdge(t);
  const body = { provider: 'social', username: 'Ann@Example.com', password: 'sandbox', region: 'US' };
  const { id } = (await edge.call('POST', '/v1/connections', { body })).json;
  const invite = (account = id, options: CallOptions = {}) =>
    edge.call('POST', `/v1/accounts/${account}/linkedin/invite`, { body: { hash_id: 'bob' }, ...options });
  /** Invites, and lets the operation end this way while the route waits. */
  const inviteUntil = async (status: Parameters<typeof putOperation>[2], extra: object, options: CallOptions = {}) => {
    const reply = invite(id, options);
    await edge.system.asked();
    const [row] = await edge.db.query<{ id: string }>('newest', 'select id from operation order by id desc limit 1');
    await putOperation(edge.db, row!.id, status, extra);
    edge.system.settle(row!.id);
    return { reply: await reply, operation: row!.id };
  };
  return { ...edge, connectionId: id, invite, inviteUntil };
}

const async = { prefer: 'respond-async' };

t.test('an account is named by its connection id or its username', async (t) => {
  const { invite, connectionId } = await startWithAccount(t);
  for (const account of [connectionId, 'ann@example.com', encodeURIComponent('ANN@example.com')]) {
    const reply = await invite(account, { headers: async });
    t.equal(reply.status, 202, account);
    t.match(reply.json, { data: { operation_id: reply.headers['x-operation-id'], status: 'queued' } });
    t.ok(reply.headers['idempotency-key']);
  }
  const unknown = await invite('nobody', { headers: async });
  t.equal(unknown.status, 404);
  t.match(unknown.json, { error: { code: 'not_found', details: {} } });
});

t.test('every error is in the envelope, a missing key and a wrong method too', async (t) => {
  const { call, invite, connectionId, db, workspaceId } = await startWithAccount(t);
  const sender = await insertKey(db, workspaceId, ['operations:write']);
  const replies: [what: string, reply: { status: number; json: Fields }, status: number, code: string][] = [
    ['no key', await invite(connectionId, { key: '' }), 401, 'unauthorized'],
    ['no scope, before the account', await invite('nobody', { key: sender }), 403, 'forbidden'],
    ['no key for an account that cannot be read', await invite('%zz', { key: '' }), 401, 'unauthorized'],
    ['an account that cannot be read', await invite('%ff'), 404, 'not_found'],
    ['method', await call('GET', `/v1/accounts/${connectionId}/linkedin/invite`), 405, 'method_not_allowed'],
    ['JSON', await invite(connectionId, { body: '{' }), 400, 'invalid_json'],
    ['body', await invite(connectionId, { body: { hash_id: 'no spaces' } }), 400, 'validation_error'],
    ['key', await invite(connectionId, { headers: { 'idempotency-key': 'x'.repeat(129) } }), 400, 'validation_error'],
    ['empty key', await invite(connectionId, { headers: { 'idempotency-key': '' } }), 400, 'validation_error'],
    [
      'key of nothing printable',
      await invite(connectionId, { headers: { 'idempotency-key': 'é' } }),
      400,
      'validation_error',
    ],
  ];
  for (const [what, reply, status, code] of replies) {
    t.equal(reply.status, status, what);
    t.strictSame(Object.keys(reply.json), ['error'], what);
    t.equal(reply.json.error.code, code, what);
    t.type(reply.json.error.details, 'object', what);
  }
});

t.test('an accepted invitation shows what the provider said, its raw answer on request', async (t) => {
  const { inviteUntil } = await startWithAccount(t);
  const result = {
    recipient_actor_id: 'bob',
    code: 'SENT',
    message: 'ok',
    provider_acknowledged: true,
    original: { raw: 1 },
  };
  const { reply, operation } = await inviteUntil('succeeded', result);
  t.equal(reply.status, 200);
  t.strictSame(reply.json, { data: { result: { code: 'SENT', message: 'ok' } } });
  t.equal(reply.headers['x-operation-id'], operation);
  const { reply: full } = await inviteUntil('succeeded', result, { body: { hash_id: 'bob', return_original: true } });
  t.strictSame(full.json.data.original, { raw: 1 });
});

t.test('an operation that does not succeed has its status, its details and its headers', async (t) => {
  const { inviteUntil } = await startWithAccount(t);
  const ends = [
    ['outcome_unknown', {}, 409, 'outcome_unknown'],
    ['canceled', {}, 409, 'canceled'],
    ['skipped', { reason: 'already_connected' }, 409, 'already_connected'],
    ['failed', { error_code: 'upstream_error' }, 424, 'upstream_error'],
    ['failed', { error_code: 'connection_not_ready' }, 423, 'connection_not_ready'],
    ['failed', { error_code: 'validation_error' }, 400, 'validation_error'],
  ] as const;
  for (const [status, extra, httpStatus, code] of ends) {
    const { reply, operation } = await inviteUntil(status, extra);
    t.equal(reply.status, httpStatus, code);
    t.match(reply.json, { error: { code, details: { operation_id: operation } } }, code);
    t.equal(reply.headers['x-operation-id'], operation, code);
    t.ok(reply.headers['idempotency-key'], code);
  }
});

t.test('a refusal after the key is known has the key, so that the same invitation can be sent again', async (t) => {
  const { invite, system } = await startWithAccount(t);
  for (const [refusal, code] of [
    [{ kind: 'failed' }, 'unavailable'],
    [{ kind: 'draining' }, 'unavailable'],
    [{ kind: 'overloaded', what: 'workspace' }, 'overloaded'],
  ] as const) {
    system.refusal = refusal;
    const { kind } = refusal;
    const made = await invite();
    t.equal(made.status, 503, kind);
    t.equal(made.headers['retry-after'], '1', kind);
    const key = made.headers['idempotency-key'];
    t.match(made.json, { error: { code, details: { idempotency_key: key } } }, kind);
    const given = await invite(undefined, { headers: { 'idempotency-key': `mine-${kind}` } });
    t.equal(given.headers['idempotency-key'], `mine-${kind}`);
    system.refusal = undefined;
    const again = await invite(undefined, { headers: { ...async, 'idempotency-key': String(key) } });
    t.strictSame([again.status, again.headers['idempotency-key']], [202, key], kind);
  }
});

t.test('an unexpected failure has the key as well', async (t) => {
  const { invite, system } = await startWithAccount(t);
  system.submit = () => Promise.reject(new Error('broken'));
  const reply = await invite();
  t.equal(reply.status, 500);
  t.ok(reply.headers['idempotency-key']);
  const details = { idempotency_key: reply.headers['idempotency-key'] };
  t.match(reply.json, { error: { code: 'internal_error', details } });
});

t.test('an account that is deleted while the invitation waits is answered 404', async (t) => {
  const { call, invite, system, connectionId, db } = await startWithAccount(t);
  const waiting = invite();
  await system.asked();
  const [row] = await db.query<{ id: string }>('newest', 'select id from operation order by id desc limit 1');
  t.equal((await call('DELETE', `/v1/connections/${connectionId}`)).status, 204);
  system.settle(row!.id);
  const reply = await waiting;
  t.strictSame([reply.status, reply.json.error.code], [404, 'not_found']);
  t.ok(reply.headers['idempotency-key']);
});

t.test('a key is shared with the other submissions of the workspace', async (t) => {
  const { call, invite, connectionId } = await startWithAccount(t);
  const headers = { ...async, 'idempotency-key': 'one' };
  const first = await invite(connectionId, { headers });
  t.equal(first.headers['idempotency-key'], 'one');
  const again = await invite(connectionId, { headers });
  t.equal(again.headers['x-operation-id'], first.headers['x-operation-id']);
  const other = await invite(connectionId, { headers, body: { hash_id: 'eve' } });
  t.strictSame([other.status, other.json.error.code], [409, 'idempotency_conflict']);
  const plain = await call('POST', `/v1/connections/${connectionId}/operations`, {
    body: { capability: 'social.invitation.send', input: { recipient_actor_id: 'bob' } },
    headers: { 'idempotency-key': 'one' },
  });
  t.equal(plain.json.id, first.headers['x-operation-id']);
});
