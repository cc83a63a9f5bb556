import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { eventually } from '../../../fixture/eventually.js';
import { AT_LENGTH, sized } from '../../../fixture/size.js';
import { keepAsking, type Neighbourhood, neighbourhoodService, person, startNeighbourhood } from '../../neighbour.js';
import { insertOperations } from '../../rows.js';

/*
 * One workspace at full force on one thing, and what its neighbour sees meanwhile: its requests go on, with a part of the
 * greedy one's answered ahead of each. Latencies are printed.
 */

/** Requests of the neighbour beside the force. */
const ASKED = sized(60, 600);
/** Clients of the greedy workspace at once, as a part of those at length. */
const PART = sized(0.5, 1);
const ROWS = sized(20_000, 60_000);
/** A client that was refused with 503 sends again so much later. */
const AGAIN_ms = 100;
const WAIT_s = sized(5, 10);

/** What the greedy workspace does, over and over, by so many clients at once. Gives the status of the answer. */
interface Force {
  clients: number;
  send(n: number): Promise<number>;
  /** What its answers may be; 503 beside them. */
  expected: number;
}

/** Sends as the greedy workspace does, over connections of its own. */
/** The last test leaves work in it that takes a minute. */
const node = neighbourhoodService(t);

function sender(t: Test, { service }: Neighbourhood) {
  const dispatcher = new Agent({ connections: 512, headersTimeout: 60_000 });
  t.teardown(() => dispatcher.destroy());
  return async (method: 'GET' | 'POST', path: string, body?: object, headers = {}) => {
    const answer = await request(service.url + path, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${service.key}`,
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
  const statuses = new Map<number, number>();
  let answered = 0;
  const asked = () =>
    keepAsking(
      [
        () => neighbour.submit(connection, 'social.identity.get'),
        () => neighbour.send('GET', `/v1/operations/${body.id}`),
        () => neighbour.send('GET', '/v1/operations?limit=5'),
        () => neighbour.send('GET', '/v1/connections'),
        () => neighbour.send('GET', '/v1/operations?status=failed&limit=5'),
      ],
      () => answered,
    );
  const quiet = asked();
  await quiet.done(ASKED / 4);
  const before = await quiet.stop();
  let forcing = true;
  const force = Array.from({ length: clients }, async (_, n) => {
    while (forcing) {
      const status = await send(n);
      answered++;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 503) await new Promise((resolve) => setTimeout(resolve, AGAIN_ms));
    }
  });
  const beside = asked();
  await beside.done(ASKED);
  await eventually(
    'the force is answered as well',
    () => answered,
    (count) => count >= 3 * clients,
  );
  const during = await beside.stop();
  forcing = false;
  t.comment(JSON.stringify({ clients, answers: Object.fromEntries(statuses), before, during }));
  t.strictSame(during.refused, [], 'nothing of the neighbour is refused');
  if (AT_LENGTH) t.ok(during.p99_ahead < 0.75 * clients, `${during.p99_ahead} requests ahead of one`);
  t.ok(during.median_ahead < 0.75 * clients, `${during.median_ahead} of ${clients} ahead of every other one`);
  for (const status of statuses.keys()) t.ok(status === expected || status === 503, `${status}`);
  return { done: () => Promise.all(force) };
}

t.test('a workspace that lists, by filters that hardly anything fits', async (t) => {
  const neighbourhood = await startNeighbourhood(t, node);
  const { service } = neighbourhood;
  const id = await service.client.connect(person('greedy'));
  await insertOperations(service.db, id, ROWS);
  await service.db.query('analyze', 'analyze operation');
  const send = sender(t, neighbourhood);
  const paths = ['status=failed', 'status=waiting_user', `status=failed&connection_id=${id}`, 'limit=100'];
  const force = {
    clients: 116 * PART,
    send: (n: number) => send('GET', `/v1/operations?${paths[n % 4]}`),
    expected: 200,
  };
  await (await underForce(t, neighbourhood, force)).done();
});

t.test('a workspace that submits', async (t) => {
  const neighbourhood = await startNeighbourhood(t, node);
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await neighbourhood.service.client.connect(person(`greedy-${n}`)));
  const send = sender(t, neighbourhood);
  const body = { capability: 'social.identity.get', input: {} };
  const force = {
    clients: 64 * PART,
    send: (n: number) => send('POST', `/v1/connections/${ids[n % 8]}/operations`, body),
    expected: 202,
  };
  await (await underForce(t, neighbourhood, force)).done();
});

t.test('a workspace that waits for its operations, and asks a user for a code in each', async (t) => {
  const neighbourhood = await startNeighbourhood(t, node);
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
  const answered = async (n: number): Promise<number> => {
    const status = await send('GET', `/v1/operations/${waits[n % 20]}`, undefined, { prefer: `wait=${WAIT_s}` });
    if (status !== 503) return status;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_ms));
    return answered(n);
  };
  const waiting = Array.from({ length: 300 * PART }, (_, n) => answered(n));
  const force = {
    clients: 64 * PART,
    send: (n: number) => send('POST', challenges[n % 20]!.path, challenges[n % 20]!.body),
    expected: 409,
  };
  await (await underForce(t, neighbourhood, force)).done();
  t.strictSame(new Set(await Promise.all(waiting)), new Set([200]), 'every wait is answered');
});
