import t from 'tap';
import { capabilities } from '../../../../actors/capabilities/catalogue.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { type EdgeUnderTest, insertKey, startTestEdge } from '../../edge-fixture.js';
import { insertDeliveries, makeReady, putOperation } from '../../rows.js';

const SOCIAL = { provider: 'social', username: 'Ann@Example.com', password: 'sandbox', region: 'us' };
const simulated = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

async function submit(edge: EdgeUnderTest, connectionId: string, key: string): Promise<string> {
  const reply = await edge.call('POST', `/v1/connections/${connectionId}/operations`, {
    body: { capability: 'social.identity.get', input: {} },
    headers: { 'idempotency-key': key },
  });
  return reply.json.id;
}

t.test('a social connection starts without a session and never shows its password', async (t) => {
  const { call, db } = await startTestEdge(t);
  await db.query(
    'proxy',
    `insert into regional_proxy (id, region, url) values (gen_random_uuid(), 'US', 'http://127.0.0.1:1')`,
  );
  const created = await call('POST', '/v1/connections', { body: SOCIAL });
  t.equal(created.status, 201);
  t.match(created.json, {
    provider: 'social',
    external_actor: { kind: 'person', id: null },
    health: 'needs_login',
    state_revision: 0,
    region: 'US',
    regional_proxy_configured: true,
    session_proxy: null,
    recruiter: {
      health: 'not_verified',
      reason: null,
      contract: null,
      verified_at: null,
      verified_session_revision: null,
      operation_id: null,
    },
  });
  t.strictSame(
    created.json.capabilities,
    capabilities.map(({ name }) => name),
  );
  t.notMatch(created.text, /sandbox|password/);
  const read = await call('GET', `/v1/connections/${created.json.id}`);
  t.strictSame(read.json, created.json);
});

t.test('a simulated connection is ready at once and has no fields of a real one', async (t) => {
  const { call } = await startTestEdge(t);
  const { json } = await call('POST', '/v1/connections', { body: simulated('ann') });
  t.strictSame(Object.keys(json).sort(), [
    'capabilities',
    'created_at',
    'external_actor',
    'health',
    'health_reason',
    'health_since',
    'id',
    'labels',
    'provider',
    'reference',
    'state_revision',
  ]);
  t.equal(json.health, 'ready');
  t.strictSame(json.external_actor, { kind: 'person', id: 'ann' });
});

t.test('connections are listed in order of creation', async (t) => {
  const edge = await startTestEdge(t);
  const { call } = edge;
  const ids = [];
  for (const name of ['c', 'a', 'b'])
    ids.push((await call('POST', '/v1/connections', { body: simulated(name) })).json.id);
  const { json } = await call('GET', '/v1/connections');
  t.strictSame(
    json.connections.map((connection) => connection.id),
    ids,
  );
  const { db } = edge;
  const strange = await insertSimulated(db, await insertWorkspace(db), 'ann');
  const named = await call('GET', `/v1/connections?ids=${[ids[2], strange.id, ids[0]].join()}`);
  t.strictSame(
    named.json.connections.map((connection) => connection.id),
    [ids[0], ids[2]],
    'by their ids, of the own workspace alone',
  );
  t.match(await call('GET', `/v1/connections?ids=${ids[0]}&limit=1`), {
    ...{ status: 400, json: { errors: [{ path: 'query.limit' }] } },
  });
  t.equal((await call('GET', '/v1/connections?ids=ann')).status, 400);
});

t.test(
  'one account has one connection in a workspace, however its name is written; another workspace has its own',
  async (t) => {
    const { call, db } = await startTestEdge(t);
    t.equal((await call('POST', '/v1/connections', { body: SOCIAL })).status, 201);
    const again = await call('POST', '/v1/connections', { body: { ...SOCIAL, username: '  ann@example.COM ' } });
    t.equal(again.status, 409);
    t.strictSame(again.json, { code: 'connection_conflict' });
    for (const [status, username] of [
      [201, 'straße'],
      [409, 'STRASSE'],
      [409, 'STRAẞE'],
      [409, 'Stra\u1e9ee '],
    ])
      t.equal((await call('POST', '/v1/connections', { body: { ...SOCIAL, username } })).status, status, `${username}`);
    await call('POST', '/v1/connections', { body: simulated('ann') });
    t.equal((await call('POST', '/v1/connections', { body: simulated('ann') })).status, 409);
    const key = await insertKey(db, await insertWorkspace(db));
    t.equal((await call('POST', '/v1/connections', { body: SOCIAL, key })).status, 201);
  },
);

t.test('what a connection is created from is checked field by field', async (t) => {
  const { call } = await startTestEdge(t);
  const refused: [body: object, path: string][] = [
    [{ ...SOCIAL, provider: 'other' }, 'body.provider'],
    [{ ...SOCIAL, username: '   ' }, 'body.username'],
    [{ ...SOCIAL, username: 'x'.repeat(256) }, 'body.username'],
    [{ ...SOCIAL, password: ' \t' }, 'body.password'],
    [{ ...SOCIAL, password: 'line\nbreak' }, 'body.password'],
    [{ ...SOCIAL, password: 'x'.repeat(1025) }, 'body.password'],
    [{ ...SOCIAL, region: 'USA' }, 'body.region'],
    [{ ...SOCIAL, region: null }, 'body.region'],
    [{ provider: 'social', username: 'a', password: 'b' }, 'body.region'],
    [{ provider: 'simulated', external_actor: { kind: 'robot', id: 'a' } }, 'body.external_actor.kind'],
    [{ provider: 'simulated', external_actor: { kind: 'person', id: '' } }, 'body.external_actor.id'],
    [{ provider: 'simulated', external_actor: { kind: 'person', id: 'ä' } }, 'body.external_actor.id'],
    [{ ...simulated('ann'), username: 'x' }, 'body.username'],
  ];
  for (const [body, path] of refused) {
    const reply = await call('POST', '/v1/connections', { body });
    t.equal(reply.status, 400, path);
    t.equal(reply.json.code, 'validation_error', path);
    t.ok(
      reply.json.errors.some((error) => error.path === path),
      `${path}: ${reply.text}`,
    );
  }
  const named = 'a-name\tthat-nobody-may-see';
  for (const body of [
    { ...SOCIAL, username: named },
    { ...SOCIAL, username: [named] },
    { ...SOCIAL, username: { name: named } },
    { ...SOCIAL, password: [named], code: named },
    { ...simulated('ann'), username: named, usrname: named },
    { credentials: { username: named } },
  ])
    t.notMatch((await call('POST', '/v1/connections', { body })).text, /nobody-may-see/);
  const search = await call('GET', `/v1/connections?search=${encodeURIComponent(named.repeat(20))}`);
  t.match(search, { status: 400 });
  t.notMatch(search.text, /nobody-may-see/);
  const longest = { ...SOCIAL, username: '😀'.repeat(255), password: '😀'.repeat(1024) };
  t.equal((await call('POST', '/v1/connections', { body: longest })).status, 201, 'lengths count characters');
  const tabbed = { ...SOCIAL, username: 'tab', password: 'a\tb' };
  t.equal((await call('POST', '/v1/connections', { body: tabbed })).status, 201, 'a password may hold a tab');
});

t.test('without an encryption key a password cannot be taken; a simulated connection can', async (t) => {
  const { call } = await startTestEdge(t, { ring: keyRing([]) });
  const refused = await call('POST', '/v1/connections', { body: SOCIAL });
  t.equal(refused.status, 503);
  t.equal(refused.json.code, 'encryption_key_unavailable');
  t.equal((await call('POST', '/v1/connections', { body: simulated('ann') })).status, 201);
});

t.test('new credentials fence the session; an unchanged region changes nothing', async (t) => {
  const { call, db, system } = await startTestEdge(t);
  const { id } = (await call('POST', '/v1/connections', { body: SOCIAL })).json;
  await makeReady(db, id);
  const ready = (await call('GET', `/v1/connections/${id}`)).json;
  t.match(ready, { health: 'ready', state_revision: 1, recruiter: { health: 'ready' } });

  const same = await call('PATCH', `/v1/connections/${id}`, { body: { region: 'us' } });
  t.equal(same.status, 200);
  t.strictSame(same.json, ready);
  t.strictSame(system.hints, []);

  const moved = await call('PATCH', `/v1/connections/${id}`, { body: { region: 'de' } });
  t.match(moved.json, {
    health: 'needs_login',
    region: 'DE',
    state_revision: 2,
    recruiter: { health: 'not_verified' },
  });
  t.strictSame(system.hints, [{ type: 'connection', connectionId: id }]);
  const renewed = await call('PATCH', `/v1/connections/${id}`, { body: { password: 'sandbox' } });
  t.match(renewed.json, { health: 'needs_login', region: 'DE', state_revision: 3 });

  for (const body of [{}, { password: null }, { region: null }, { username: 'x' }, { health: 'ready' }]) {
    t.equal(
      (await call('PATCH', `/v1/connections/${id}`, { body })).json.code,
      'validation_error',
      JSON.stringify(body),
    );
  }
  const other = (await call('POST', '/v1/connections', { body: simulated('ann') })).json;
  t.equal((await call('PATCH', `/v1/connections/${other.id}`, { body: { region: 'US' } })).status, 400);
});

t.test('a connection with an operation running or waiting is busy; queued work does not hold it', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = (await call('POST', '/v1/connections', { body: SOCIAL })).json;
  const operation = await submit(edge, id, 'one');
  for (const status of ['running', 'waiting_user'] as const) {
    await putOperation(db, operation, status);
    for (const [method, path, body] of [
      ['PATCH', `/v1/connections/${id}`, { password: 'p' }],
      ['POST', `/v1/connections/${id}/disconnect`, {}],
      ['DELETE', `/v1/connections/${id}`, undefined],
    ] as const) {
      const reply = await call(method, path, { body });
      t.equal(reply.status, 409, `${method} while ${status}`);
      t.strictSame(reply.json, { code: 'connection_busy' });
    }
    t.equal((await call('PATCH', `/v1/connections/${id}`, { body: { region: 'US' } })).status, 200);
  }
  await putOperation(db, operation, 'queued');
  t.equal((await call('PATCH', `/v1/connections/${id}`, { body: { password: 'p' } })).status, 200);
});

t.test('a change waits for an operation that is just starting, and is then refused', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = (await call('POST', '/v1/connections', { body: SOCIAL })).json;
  const operation = await submit(edge, id, 'one');
  const refused = await db.transaction(async (tx) => {
    await tx.query('holdConnection', 'select 1 as held from connection where id = $1 for key share', [id]);
    await putOperation(tx, operation, 'running');
    const change = call('POST', `/v1/connections/${id}/disconnect`);
    // Committed only once the change waits for this transaction's lock.
    for (let waiting = 0; waiting === 0; ) {
      const rows = await db.query<{ waiting: number }>(
        'lockWaits',
        `select count(*) as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      waiting = rows[0]!.waiting;
    }
    return { change };
  });
  t.strictSame((await refused.change).json, { code: 'connection_busy' });
});

t.test('disconnect clears the session, cancels what waits and keeps the history', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, system } = edge;
  const { id } = (await call('POST', '/v1/connections', { body: SOCIAL })).json;
  await makeReady(db, id);
  const done = await submit(edge, id, 'done');
  await putOperation(db, done, 'succeeded', { reason: 'x' });
  const queued = await submit(edge, id, 'queued');
  const subscription = (
    await call('POST', `/v1/connections/${id}/subscriptions`, {
      body: { event_types: ['message_received'], callback_url: 'https://127.0.0.1/hook' },
    })
  ).json;
  t.equal(subscription.active, true);
  const { deliveries } = await insertDeliveries(db, subscription.id, ['delivered', 'sending', 'failed']);
  system.hints.length = 0;

  const reply = await call('POST', `/v1/connections/${id}/disconnect`);
  t.equal(reply.status, 200);
  t.strictSame(reply.json, { health: 'needs_login' });
  t.match((await call('GET', `/v1/connections/${id}`)).json, { health: 'needs_login', state_revision: 2 });
  const session = 'select session_sealed, session_revision from connection where id = $1';
  t.strictSame(await db.query('testSession', session, [id]), [{ session_sealed: null, session_revision: null }]);
  const canceled = (await call('GET', `/v1/operations/${queued}`)).json;
  t.equal(canceled.status, 'canceled');
  t.match(canceled.timeline, [
    { from: null, to: 'queued' },
    { from: 'queued', to: 'canceled', reason: 'connection_disconnected' },
  ]);
  t.equal((await call('GET', `/v1/operations/${done}`)).json.status, 'succeeded');
  const statuses = [];
  for (const delivery of deliveries) statuses.push((await call('GET', `/v1/deliveries/${delivery}`)).json.status);
  t.strictSame(statuses, ['delivered', 'canceled', 'failed']);
  t.equal((await call('GET', `/v1/subscriptions/${subscription.id}`)).json.active, false);
  t.strictSame(system.hints, [{ type: 'connection', connectionId: id }]);

  t.equal((await call('POST', `/v1/connections/${id}/disconnect`)).status, 200, 'twice');
});

t.test('deleting takes the history along, but a used key conflicts for ever', async (t) => {
  const edge = await startTestEdge(t);
  const { call } = edge;
  const { id } = (await call('POST', '/v1/connections', { body: simulated('ann') })).json;
  const operation = await submit(edge, id, 'used');
  const reply = await call('DELETE', `/v1/connections/${id}`);
  t.equal(reply.status, 204);
  t.equal(reply.text, '');
  t.equal((await call('GET', `/v1/connections/${id}`)).status, 404);
  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 404);
  t.equal((await call('GET', `/v1/operations/${operation}`)).status, 404);

  const next = (await call('POST', '/v1/connections', { body: simulated('ann') })).json;
  const reused = await call('POST', `/v1/connections/${next.id}/operations`, {
    body: { capability: 'social.identity.get', input: {} },
    headers: { 'idempotency-key': 'used' },
  });
  t.strictSame([reused.status, reused.json], [409, { code: 'idempotency_conflict' }]);
});
