import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { connect as dial } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { CallbackVerifier } from '../../../../actors/deliveries/callback/callback-verifier.js';
import type { SubscriptionRules } from '../../../../server/http/subscription-rules.js';
import { Removals } from '../../../../storage/maintenance/removals.js';
import { settling } from '../../../../storage/maintenance/subscription-propagation.js';
import { openDatabase } from '../../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../../storage/postgres/time-limits.js';
import { allOf } from '../../../fixture/all-of.js';
import { authority } from '../../../fixture/certificates.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { type Received, receiver } from '../../../fixture/https-receiver.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { type EdgeUnderTest, insertKey, startTestEdge, subscriptionRules } from '../../edge-fixture.js';
import { insertConnections, insertDeliveries } from '../../rows.js';

const HOOK = 'https://127.0.0.1/hook';
const body = { event_types: ['message_received'], callback_url: HOOK };
const bounded = (bounds: Partial<SubscriptionRules['bounds']>): SubscriptionRules => {
  const rules = subscriptionRules();
  return { ...rules, bounds: { ...rules.bounds, ...bounds } };
};
const connect = async ({ db, workspaceId }: EdgeUnderTest) => (await insertSimulated(db, workspaceId, randomUUID())).id;

/** Sends the head of a PUT and, once the edge has read what it changes, gives the function that sends its body and reads the answer. */
async function begunPut({ db, url, key }: EdgeUnderTest, path: string, body: object): Promise<() => Promise<string>> {
  const { query } = db;
  const read = new Promise<void>((resolve) => {
    db.query = async (name, ...rest) => {
      const rows = await query(name, ...rest);
      if (name === 'findSubscriptions') resolve();
      return rows as never;
    };
  });
  const bytes = JSON.stringify(body);
  const { hostname, port } = new URL(url);
  const socket = dial(Number(port), hostname);
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nUser-Agent: test\r\n`);
  socket.write(`Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`);
  await read;
  db.query = query;
  return () => {
    socket.write(bytes);
    return text(socket);
  };
}

function removing(t: Test, { db }: EdgeUnderTest): void {
  const log = { info() {}, warn: (fields: object) => t.fail(JSON.stringify(fields)) };
  for (const part of [new Removals({ db, log: log as never, settle_ms: 10 }), settling({ db, log: log as never })]) {
    part.start();
    t.teardown(() => part.stop());
  }
}

t.test('a subscription of all connections is made, listed, changed, stopped, started and deleted', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  await insertConnections(db, workspaceId, 30);
  const own = await call('POST', `/v1/connections/${await connect(edge)}/subscriptions`, { body });
  const made = await call('POST', '/v1/subscriptions', { body });
  t.match(made, { status: 201, json: { connection_id: null, active: true, settling: false, ...body } });
  const path = `/v1/subscriptions/${made.json.id}`;
  t.equal(made.headers.location, path);
  const ids = async (query: string) =>
    (await call('GET', `/v1/subscriptions?limit=100${query}`)).json.subscriptions.map(({ id }) => id);
  t.strictSame(await ids(''), [own.json.id, made.json.id], 'once among all');
  t.strictSame(await ids('&active=true'), [own.json.id, made.json.id]);
  const first = own.json.connection_id;
  t.strictSame(await ids(`&connection_id=${first}`), [own.json.id]);
  t.match((await call('GET', `/v1/connections/${first}/subscriptions`)).json, { subscriptions: { length: 1 } });
  t.match((await call('GET', '/v1/limits')).json, { subscriptions: { used: 2 } });

  const members = () =>
    db.query<{ active: boolean; event_types: string[] }>(
      'testMembers',
      'select active, event_types from subscription where parent_id = $1',
      [made.json.id],
    );
  t.equal((await members()).length, 31);
  const changed = { event_types: ['message_sent', 'connection.ready'], callback_url: 'https://127.0.0.2/moved' };
  t.match(await call('PUT', path, { body: changed }), { status: 200, json: { ...changed, settling: false } });
  for (const { event_types } of await members()) t.strictSame(event_types, changed.event_types);
  t.match(await call('PATCH', path, { body: { active: false } }), { status: 200, json: { active: false } });
  t.ok(allOf(await members(), ({ active }) => !active));
  t.strictSame(await ids('&active=false'), [made.json.id]);
  t.match(await call('POST', `${path}/test`), { status: 409, text: '{"code":"subscription_inactive"}' });
  t.match(await call('PATCH', path, { body: { active: true } }), { status: 200, json: { active: true } });
  t.ok(allOf(await members(), ({ active }) => active));
  t.match(await call('POST', `${path}/hold`), { status: 200, json: { on_hold: true } });
  t.match(await call('POST', `${path}/release`), { status: 200, json: { on_hold: false } });
  t.match(await call('POST', `${path}/rotate-secret`), { status: 200 });

  const test = await call('POST', `${path}/test`);
  t.match(test, { status: 202, json: { subscription_id: made.json.id, status: 'pending' } });
  await db.query('testFail', `update delivery set status = 'failed', next_attempt_at = null, last_error = 'timeout'`);
  t.match((await call('GET', `${path}/deliveries`)).json, { deliveries: [{ id: test.json.id }], next_offset: null });
  t.match((await call('GET', path)).json, { delivery_counts: { failed: 1 } });
  const attention = await call('GET', '/v1/attention');
  t.match(
    JSON.stringify(attention.json),
    new RegExp(`"id":"${made.json.id}","name":"All connections"`),
    'told once, as the subscription that is shown',
  );
  const since = new Date(0).toISOString();
  t.match(await call('POST', `${path}/replay-failed`, { body: { since } }), { status: 202, json: { replayed: 1 } });
  await db.query('testFail', `update delivery set status = 'failed', next_attempt_at = null, last_error = 'timeout'`);
  t.match(await call('POST', `/v1/deliveries/${test.json.id}/replay`), { status: 202 });

  const others = { key: await insertKey(db, await insertWorkspace(db)) };
  for (const [method, given] of [
    ['PUT', { body: changed }],
    ['DELETE', {}],
  ] as const)
    t.equal((await call(method, path, { ...others, ...given })).status, 404, `${method} from another workspace`);

  t.match(await call('DELETE', path), { status: 204, text: '' });
  for (const method of ['GET', 'DELETE']) t.equal((await call(method, path)).status, 404);
  t.equal((await call('GET', `/v1/deliveries/${test.json.id}`)).status, 404);
  t.strictSame(await ids(''), [own.json.id]);
  t.match((await call('GET', '/v1/limits')).json, { subscriptions: { used: 1 } }, 'its place is free at once');
  removing(t, edge);
  await eventually('its members are gone', members, (all) => all.length === 0);
});

t.test('what is long is settled and removed in the background, after a change that another node left', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  await insertConnections(db, workspaceId, 1_500);
  const { json } = await call('POST', '/v1/subscriptions', { body });
  const path = `/v1/subscriptions/${json.id}`;
  await db.query(
    'testUnsettled',
    `update subscription set settled_at = '-infinity', settled_id = '00000000-0000-0000-0000-000000000000', active = false
     where id = $1`,
    [json.id],
  );
  const [member] = await db.query<{ id: string }>(
    'testMember',
    'select id from subscription where parent_id = $1 limit 1',
    [json.id],
  );
  await insertDeliveries(
    db,
    member!.id,
    Array.from({ length: 1_200 }, () => 'failed'),
  );
  await db.query('testParents', 'update delivery set parent_id = $1', [json.id]);
  t.match((await call('GET', path)).json, { active: false, settling: true });
  t.match(await call('PATCH', path, { body: { active: true } }), { status: 503, json: { code: 'unavailable' } });
  removing(t, edge);
  await eventually(
    'it is settled',
    async () => (await call('GET', path)).json,
    ({ settling }) => settling === false,
  );
  t.equal((await call('DELETE', path)).status, 204);
  await eventually(
    'its rows are gone',
    () => db.query('testRows', 'select from subscription union all select from delivery'),
    (rows) => rows.length === 0,
  );
});

t.test('a change is answered though a connection that is to follow is held by others', async (t) => {
  const { url } = await freshDatabase(t);
  const limits = { ...TIME_LIMITS.edge, lock_ms: 200 };
  const db = openDatabase({ url, limits, maxConnections: 8, applicationName: 'test', onError: () => {} });
  t.teardown(() => db.close());
  const edge = await startTestEdge(t, {}, db);
  const connection = await connect(edge);
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await tx.query('testHold', 'select from connection where id = $1 for update', [connection]);
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const made = await edge.call('POST', '/v1/subscriptions', { body });
  t.match(made, { status: 201, json: { active: true, settling: true, secret: String } });
  const path = `/v1/subscriptions/${made.json.id}`;
  t.match(await edge.call('PATCH', path, { body: { active: false } }), { status: 200, json: { settling: true } });
  released.resolve();
  await holding;
  removing(t, edge);
  await eventually(
    'it is settled',
    async () => (await edge.call('GET', path)).json,
    ({ settling }) => settling === false,
  );
});

t.test('subscriptions of all connections are bounded, and a change of address is', async (t) => {
  const edge = await startTestEdge(t, { subscriptions: bounded({ ofConnection: 4, ofDestination: 3 }) });
  const { call } = edge;
  const at = (n: number) => ({ ...body, callback_url: `https://127.0.0.${n}/hook` });
  const made = await Promise.all([1, 1, 1, 1, 1, 1].map((n) => call('POST', '/v1/subscriptions', { body: at(n) })));
  t.equal(made.filter(({ status }) => status === 201).length, 3);
  const more = await Promise.all([2, 3, 4].map((n) => call('POST', '/v1/subscriptions', { body: at(n) })));
  t.equal(more.filter(({ status }) => status === 201).length, 1);
  const last = more.find(({ status }) => status === 201)!.json.id;
  const full = await call('PUT', `/v1/subscriptions/${last}`, { body: at(1) });
  t.strictSame([full.status, full.text], [409, '{"code":"too_many_subscriptions"}']);
  t.match((await call('GET', `/v1/subscriptions/${last}`)).json, { callback_url: /127\.0\.0\.[234]/ }, 'unchanged');
  const connection = await connect(edge);
  const own = [];
  for (const n of [1, 1, 1, 2]) {
    own.push(await call('POST', `/v1/connections/${connection}/subscriptions`, { body: at(n) }));
  }
  t.ok(own.every(({ status }) => status === 201));
  const moved = await call('PUT', `/v1/subscriptions/${own[3]!.json.id}`, { body: at(1) });
  t.equal(moved.status, 409, 'and of a connection to one address');
  t.equal((await call('PUT', `/v1/subscriptions/${own[3]!.json.id}`, { body: at(9) })).status, 200);
});

/** An edge where addresses have to prove themselves, and a receiver that does so while `proves`. */
async function strictEdge(t: Test) {
  const certificates = await authority();
  const { ca } = certificates;
  const verifier = new CallbackVerifier({ policy: { allowedNetworks: ['127.0.0.0/8'] }, ca, deadline_ms: 1_000 });
  const edge = await startTestEdge(t, { subscriptions: { ...subscriptionRules(), verifier } });
  const proof = { proves: true };
  const hook = await receiver(
    t,
    await certificates.issue({ ip: '127.0.0.1' }),
    (request: Received, response: ServerResponse) =>
      response.end(proof.proves ? (JSON.parse(request.body.toString()) as { challenge: string }).challenge : 'no'),
  );
  return { edge, proof, hook };
}

t.test('of changes at once none takes the proof of another, nor is one left out', async (t) => {
  const { edge, proof, hook } = await strictEdge(t);
  const { call } = edge;
  proof.proves = false;
  const theirs = { ...body, callback_url: hook.url };
  const made = await call('POST', '/v1/subscriptions', { body: theirs });
  t.match(made, { status: 201, json: { active: false, verified: false } });
  const path = `/v1/subscriptions/${made.json.id}`;
  const end = await begunPut(edge, path, { ...theirs, event_types: ['message_sent'] });
  proof.proves = true;
  const mine = { ...body, callback_url: hook.url.replace('/hook', '/mine') };
  t.match(await call('PUT', path, { body: mine }), { status: 200, json: { ...mine, verified: true } });
  t.match(await end(), /^HTTP\/1.1 503 /);
  t.match((await call('GET', path)).json, { ...mine, verified: true }, 'the address that has proven itself stays');

  const both = { ...mine, event_types: ['message_sent'] };
  const last = await begunPut(edge, path, mine);
  t.match(await call('PUT', path, { body: both }), { status: 200 });
  t.match(await last(), /^HTTP\/1.1 200 /);
  t.match((await call('GET', path)).json, mine, 'the last one counts, though it was so when it began');
});

t.test('another address proves itself before anything else is sent there', async (t) => {
  const { edge, proof, hook } = await strictEdge(t);
  const { call } = edge;
  const connection = await connect(edge);
  for (const way of ['/v1/subscriptions', `/v1/connections/${connection}/subscriptions`]) {
    proof.proves = true;
    const made = await call('POST', way, { body: { ...body, callback_url: hook.url } });
    t.match(made, { status: 201, json: { active: true, verified: true } });
    const path = `/v1/subscriptions/${made.json.id}`;
    const moved = { ...body, callback_url: hook.url.replace('/hook', '/moved') };
    proof.proves = false;
    t.match(await call('PUT', path, { body: moved }), { status: 409, text: '{"code":"callback_not_verified"}' });
    t.match((await call('GET', path)).json, { callback_url: hook.url, active: true, verified: true });
    const asked = hook.received.length;
    const types = { event_types: ['message_sent'], callback_url: hook.url };
    t.match(await call('PUT', path, { body: types }), { status: 200, json: { ...types, verified: true } });
    t.equal(hook.received.length, asked, 'the same address is not asked again');
    proof.proves = true;
    t.match(await call('PUT', path, { body: moved }), { status: 200, json: { ...moved, verified: true } });
  }
  proof.proves = false;
  const unproven = await call('POST', '/v1/subscriptions', { body: { ...body, callback_url: hook.url } });
  t.match(unproven, { status: 201, json: { active: false, verified: false } });
  const path = `/v1/subscriptions/${unproven.json.id}`;
  t.equal((await call('PATCH', path, { body: { active: true } })).status, 409);
  proof.proves = true;
  t.match(await call('PATCH', path, { body: { active: true } }), {
    status: 200,
    json: { active: true, verified: true },
  });
});
