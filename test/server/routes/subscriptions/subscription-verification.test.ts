import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { CallbackVerifier } from '../../../../actors/deliveries/callback/callback-verifier.js';
import { authority } from '../../../fixture/certificates.js';
import { eventually } from '../../../fixture/eventually.js';
import { type Answer, type Received, receiver } from '../../../fixture/https-receiver.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge, subscriptionRules } from '../../edge-fixture.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const SECRET = 's'.repeat(40);

/** An edge where addresses have to prove themselves, and a connection. */
async function strictEdge(t: Test): Promise<EdgeUnderTest & { connection: string }> {
  const verifier = new CallbackVerifier({ policy: { allowedNetworks: ['127.0.0.0/8'] }, ca, deadline_ms: 1_000 });
  const edge = await startTestEdge(t, { subscriptions: { ...subscriptionRules(), verifier } });
  return { ...edge, connection: (await insertSimulated(edge.db, edge.workspaceId, randomUUID())).id };
}

const create = ({ call }: EdgeUnderTest, connection: string, callback_url: string) =>
  call('POST', `/v1/connections/${connection}/subscriptions`, {
    body: { event_types: ['message_received'], callback_url, secret: SECRET },
  });

const challengeOf = ({ body }: Received): string => (JSON.parse(body.toString()) as { challenge: string }).challenge;
const PLAIN: Answer = (request, response) => response.writeHead(200).end(challengeOf(request));
const IN_JSON: Answer = (request, response) =>
  response.writeHead(201).end(JSON.stringify({ challenge: challengeOf(request), more: 1 }));

const NO_PROOF: Record<string, Answer> = {
  'says nothing': () => {},
  'answers 2xx without the challenge': (_request, response) => response.writeHead(200).end('ok'),
  'answers with no body': (_request, response) => response.writeHead(204).end(),
  'answers with another challenge': (request, response) => response.end([...challengeOf(request)].reverse().join('')),
  'echoes what it got': (request, response) => response.end(`[${request.body.toString()}]`),
  'gives back what it was sent': (request, response) => response.end(request.body),
  'fails with the challenge': (request, response) => response.writeHead(500).end(challengeOf(request)),
  redirects: (request, response) => response.writeHead(307, { location: '/' }).end(challengeOf(request)),
  'answers at length': (request, response) => response.end(`${' '.repeat(8_192)}${challengeOf(request)}`),
  'hangs up': (_request, _response, socket) => socket.destroy(),
};

for (const [how, answer] of Object.entries({ 'plain text': PLAIN, JSON: IN_JSON })) {
  t.test(`an address proves itself by the challenge, as ${how}`, async (t) => {
    const edge = await strictEdge(t);
    const hook = await receiver(t, onLoopback, answer);
    const created = await create(edge, edge.connection, hook.url);
    t.match(created, { status: 201, json: { active: true, verified: true } });
    const [request, ...others] = hook.received as [Received, ...Received[]];
    t.strictSame(others, [], 'it was asked once');
    t.strictSame(Object.keys(JSON.parse(request.body.toString())), ['type', 'challenge']);
    t.match(JSON.parse(request.body.toString()), { type: 'subscription.verification', challenge: /^[\w-]{43}$/ });
    const signed = createHmac('sha256', SECRET).update(`${request.headers['x-cs-timestamp']}.`).update(request.body);
    t.equal(request.headers['x-cs-signature'], `v1=${signed.digest('hex')}`);
    const off = await edge.call('PATCH', `/v1/subscriptions/${created.json.id}`, { body: { active: false } });
    t.match(off.json, { active: false, verified: true });
    const on = await edge.call('PATCH', `/v1/subscriptions/${created.json.id}`, { body: { active: true } });
    t.match(on.json, { active: true, verified: true });
    t.equal(hook.received.length, 1, 'it has proven itself for good');
  });
}

t.test('an address that does not prove itself gets nothing, until it does', async (t) => {
  const edge = await strictEdge(t);
  let answer: Answer = () => {};
  const hook = await receiver(t, onLoopback, (...exchange) => answer(...exchange));
  for (const [what, refuse] of Object.entries(NO_PROOF)) {
    answer = refuse;
    const { status, json } = await create(edge, edge.connection, hook.url);
    t.match({ status, json }, { status: 201, json: { active: false, verified: false } }, `one that ${what}`);
    const activate = () => edge.call('PATCH', `/v1/subscriptions/${json.id}`, { body: { active: true } });
    const refused = await activate();
    t.strictSame([refused.status, refused.text], [409, '{"code":"callback_not_verified"}']);
    answer = PLAIN;
    t.match(await activate(), { status: 200, json: { active: true, verified: true } });
  }
});

t.test('on a connection that is not ready an address proves itself, and its subscription waits', async (t) => {
  const edge = await strictEdge(t);
  const social = await edge.call('POST', '/v1/connections', {
    body: { provider: 'social', username: 'ada@example.com', password: 'sandbox', region: 'DE' },
  });
  const hook = await receiver(t, onLoopback, PLAIN);
  const { json } = await create(edge, social.json.id, hook.url);
  t.match(json, { active: false, verified: true });
});

t.test('receivers that are slow to prove themselves hold few requests of their workspace', async (t) => {
  const edge = await strictEdge(t);
  const held: [Received, ServerResponse][] = [];
  const hook = await receiver(t, onLoopback, (request, response) => void held.push([request, response]));
  const creations = Array.from({ length: 8 }, () => create(edge, edge.connection, hook.url));
  await eventually(
    'eight are asked',
    () => held.length,
    (count) => count === 8,
  );
  t.match(await create(edge, edge.connection, hook.url), { status: 503, json: { code: 'overloaded' } });
  await eventually(
    'everything else goes on, as soon as the node has room',
    () => edge.call('GET', '/v1/connections'),
    ({ status }) => status === 200,
  );
  for (const [request, response] of held) response.end(challengeOf(request));
  // A slow machine may have been too late for some of them.
  for (const answer of await Promise.all(creations)) t.match(answer, { status: 201, json: { verified: Boolean } });
  const rows = await edge.db.query('testRows', 'select id from subscription');
  t.equal(rows.length, 8, 'what was refused is not stored');
});

t.test('a subscription that is deleted while its address proves itself stays so', async (t) => {
  const edge = await strictEdge(t);
  const held: [Received, ServerResponse][] = [];
  const hook = await receiver(t, onLoopback, (request, response) => void held.push([request, response]));
  const creations = [
    create(edge, edge.connection, hook.url),
    edge.call('POST', '/v1/subscriptions', { body: { event_types: ['message_received'], callback_url: hook.url } }),
  ];
  await eventually(
    'both are asked',
    () => held.length,
    (count) => count === 2,
  );
  for (const { id } of (await edge.call('GET', '/v1/subscriptions')).json.subscriptions) {
    t.equal((await edge.call('DELETE', `/v1/subscriptions/${id}`)).status, 204);
  }
  for (const [request, response] of held) response.end(challengeOf(request));
  for (const { status } of await Promise.all(creations)) t.equal(status, 404);
  const rows = await edge.db.query('testRows', 'select active, deleted_at from subscription where parent_id is null');
  for (const row of rows) t.match(row, { active: false, deleted_at: Date });
});

t.test('where nothing is said no challenge is sent', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, randomUUID());
  const hook = await receiver(t, onLoopback);
  const { json } = await create(edge, id, hook.url);
  t.match(json, { active: true, verified: false });
  t.equal(hook.received.length, 0);
});
