import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { eventually } from '../../fixture/eventually.js';
import { stall } from '../../fixture/measures.js';
import { insertSimulated } from '../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../edge-fixture.js';
import { putOperation } from '../rows.js';

/** So many requests without a key that never end, each read by the edge. */
async function strangers(t: Test, edge: EdgeUnderTest, count: number): Promise<void> {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(edge.edge.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
  t.teardown(() => sockets.forEach((socket: Socket) => void socket.destroy()));
  for (const socket of sockets)
    socket.write('POST /v1/connections HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
}

/** Keeps the thread from its work for longer than it may be late. */
const beLate = () => stall(LIMITS.late_ms * 3);

/** What five requests are answered, each read by a thread that has just been late. */
async function answersWhenLate(edge: EdgeUnderTest): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < 5; n++) {
    const reply = edge.call('GET', '/v1/connections');
    setImmediate(beLate);
    statuses.push((await reply).status);
  }
  return statuses;
}

t.test('strangers who stall keep nobody out of a thread that runs late', async (t) => {
  const edge = await startTestEdge(t);
  t.equal((await edge.call('GET', '/v1/connections')).status, 200);
  await strangers(t, edge, LIMITS.busy_requests + 50);
  await eventually(
    'requests are read',
    () => edge.call('GET', '/v1/connections'),
    ({ status }) => status === 200,
  );
  t.strictSame(await answersWhenLate(edge), [200, 200, 200, 200, 200]);
});

t.test('requests that wait for their operations keep nobody out of one either', async (t) => {
  const edge = await startTestEdge(t);
  const { id: connection } = await insertSimulated(edge.db, edge.workspaceId, 'ada');
  const body = { capability: 'social.profile.get', input: { profile_id: 'bob' } };
  const path = `/v1/connections/${connection}/operations`;
  const { json } = await edge.call('POST', path, { body, headers: { 'idempotency-key': 'one' } });
  const count = LIMITS.busy_requests + 50;
  const all = Promise.withResolvers<void>();
  let asked = 0;
  edge.system.awaitable = () => {
    if (++asked === count) all.resolve();
    return ended.promise;
  };
  const ended = Promise.withResolvers<void>();
  const wait = () => edge.call('GET', `/v1/operations/${json.id}`, { headers: { prefer: 'wait=30' } });
  // So many at once make a slow machine late: what is refused then is sent again.
  const waiting = Array.from({ length: count }, () =>
    eventually('there is room to wait', wait, ({ status }) => status !== 503),
  );
  await all.promise;
  t.strictSame(await answersWhenLate(edge), [200, 200, 200, 200, 200]);
  await putOperation(edge.db, String(json.id), 'succeeded', { found: true });
  ended.resolve();
  t.ok((await Promise.all(waiting)).every(({ status }) => status === 200));
});
