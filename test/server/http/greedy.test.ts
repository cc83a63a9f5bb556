import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { keepAsking, type Neighbourhood, person, startNeighbourhood } from '../neighbour.js';
import { insertOperations } from '../rows.js';

/*
 * One workspace at full force on one thing, and what its neighbour sees meanwhile: its requests go on, about as fast as before. The
 * bounds are generous, for a busy machine; the figures are printed.
 */

const P99_ms = 1_000;
/** How long the force lasts. */
const FORCE_ms = 4_000;
/** A client that was refused with 503 sends again so much later. */
const AGAIN_ms = 100;
const WAIT_s = 10;

/** What the greedy workspace does, over and over, by so many clients at once. Gives the status of the answer. */
interface Force {
  clients: number;
  send(n: number): Promise<number>;
  /** What its answers may be; 503 beside them. */
  expected: number;
}

/** Sends as the greedy workspace does, over connections of its own. */
function sender(t: Test, { service, fixture }: Neighbourhood) {
  const dispatcher = new Agent({ connections: 512, headersTimeout: 60_000 });
  t.teardown(() => dispatcher.destroy());
  return async (method: 'GET' | 'POST', path: string, body?: object, headers = {}) => {
    const answer = await request(service.url + path, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${fixture.key}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.body.dump({ limit: 10_000_000 });
    return answer.statusCode;
  };
}

async function underForce(t: Test, neighbourhood: Neighbourhood, { clients, send, expected }: Force) {
  const { neighbour, connection } = neighbourhood;
  const { body } = await neighbour.submit(connection, 'social.identity.get');
  const asked = () =>
    keepAsking([
      () => neighbour.submit(connection, 'social.identity.get'),
      () => neighbour.send('GET', `/v1/operations/${body.id}`),
      () => neighbour.send('GET', '/v1/operations?limit=5'),
      () => neighbour.send('GET', '/v1/connections'),
      () => neighbour.send('GET', '/v1/operations?status=failed&limit=5'),
    ]);
  const quiet = asked();
  await new Promise((resolve) => setTimeout(resolve, FORCE_ms / 2));
  const before = await quiet.stop();
  let forcing = true;
  const statuses = new Map<number, number>();
  const force = Array.from({ length: clients }, async (_, n) => {
    while (forcing) {
      const status = await send(n);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 503) await new Promise((resolve) => setTimeout(resolve, AGAIN_ms));
    }
  });
  const beside = asked();
  await new Promise((resolve) => setTimeout(resolve, FORCE_ms));
  const during = await beside.stop();
  forcing = false;
  t.comment(JSON.stringify({ clients, answers: Object.fromEntries(statuses), before, during }));
  t.strictSame(during.refused, [], 'nothing of the neighbour is refused');
  t.ok(during.p99_ms < P99_ms, `${during.p99_ms} ms`);
  for (const status of statuses.keys()) t.ok(status === expected || status === 503, `${status}`);
  return { done: () => Promise.all(force) };
}

t.test('a workspace that lists, by filters that hardly anything fits', async (t) => {
  const neighbourhood = await startNeighbourhood(t);
  const { service, fixture } = neighbourhood;
  const id = await service.client.connect(person('greedy'));
  await insertOperations(fixture.db, id, 60_000);
  await fixture.db.query('analyze', 'analyze operation');
  const send = sender(t, neighbourhood);
  const paths = ['status=failed', 'status=waiting_user', `status=failed&connection_id=${id}`, 'limit=100'];
  const force = { clients: 116, send: (n: number) => send('GET', `/v1/operations?${paths[n % 4]}`), expected: 200 };
  await (await underForce(t, neighbourhood, force)).done();
});

t.test('a workspace that submits', async (t) => {
  const neighbourhood = await startNeighbourhood(t);
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await neighbourhood.service.client.connect(person(`greedy-${n}`)));
  const send = sender(t, neighbourhood);
  const body = { capability: 'social.identity.get', input: {} };
  const force = {
    clients: 64,
    send: (n: number) => send('POST', `/v1/connections/${ids[n % 8]}/operations`, body),
    expected: 202,
  };
  await (await underForce(t, neighbourhood, force)).done();
});

t.test('a workspace that waits for its operations, and asks a user for a code in each', async (t) => {
  const neighbourhood = await startNeighbourhood(t);
  const { client } = neighbourhood.service;
  const waits: string[] = [];
  const challenges: { path: string; body: object }[] = [];
  for (let n = 0; n < 20; n++) {
    const slow = await client.connect(person(`slow-${n} sim-delay-60000`));
    waits.push(String((await client.submit(slow, 'social.identity.get')).body.id));
    const asking = await client.connect(person(`asking-${n} sim-challenge-sms`));
    const operation = await client.settled((await client.submit(asking, 'social.login')).body.id);
    const body = { challenge_id: 'another', code: '999999' };
    challenges.push({ path: `/v1/operations/${operation.id}/challenge`, body });
  }
  const send = sender(t, neighbourhood);
  // On a node that runs late a workspace beside others has no more than its part, and what has not begun within seconds is refused.
  let longestRefused_ms = 0;
  const answered = async (n: number): Promise<number> => {
    const sentAt = performance.now();
    const status = await send('GET', `/v1/operations/${waits[n % 20]}`, undefined, { prefer: `wait=${WAIT_s}` });
    if (status !== 503) return status;
    longestRefused_ms = Math.max(longestRefused_ms, performance.now() - sentAt);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_ms));
    return answered(n);
  };
  const waiting = Array.from({ length: 300 }, (_, n) => answered(n));
  const force = {
    clients: 64,
    send: (n: number) => send('POST', challenges[n % 20]!.path, challenges[n % 20]!.body),
    expected: 409,
  };
  await (await underForce(t, neighbourhood, force)).done();
  t.strictSame(new Set(await Promise.all(waiting)), new Set([200]), 'every wait is answered');
  t.ok(longestRefused_ms < WAIT_s * 1_000, `none that has begun is refused: ${Math.round(longestRefused_ms)} ms`);
});
