import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { lockAwaited } from '../../fixture/locks.js';
import { timer } from '../../fixture/measures.js';
import { insertSimulated } from '../../fixture/rows.js';
import { longTest } from '../../fixture/size.js';
import { type EdgeUnderTest, startTestEdge } from '../edge-fixture.js';
import { insertConnections } from '../rows.js';

// Each has an edge of its own and waits for its drain.
t.jobs = 5;

const get = (edge: EdgeUnderTest, path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`;

/** Empty when the connection ends without one. */
async function answerTo(socket: Socket, request: string): Promise<string> {
  const cut = once(socket, 'close').then(() => ['']);
  socket.on('error', () => {});
  socket.write(request);
  const [answer] = await Promise.race([once(socket, 'data'), cut]);
  return String(answer);
}

/** A connection of its own that was answered once, and is kept. */
async function keptAlive(edge: EdgeUnderTest): Promise<Socket> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  await once(socket, 'connect');
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const answer = await answerTo(socket, get(edge, `/v1/connections/${id}`));
  if (!answer.startsWith('HTTP/1.1 200')) throw new Error(answer);
  return socket;
}

t.test('a request that is under way when the edge closes is answered before its connection ends', async (t) => {
  const edge = await startTestEdge(t);
  const socket = await keptAlive(edge);
  const { closing, answered } = await edge.db.transaction(async (sql) => {
    await sql.query('testLock', 'lock table connection in access exclusive mode');
    const answered = answerTo(socket, get(edge, '/v1/connections'));
    await lockAwaited(edge.db);
    return { closing: edge.edge.close(), answered };
  });
  const answer = await answered;
  t.match(answer, /^HTTP\/1.1 200 OK/);
  t.match(answer, /Connection: close/i);
  await closing;
});

t.test('a request on a kept connection that meets the closing edge is answered, and nobody else gets in', async (t) => {
  const edge = await startTestEdge(t);
  const socket = await keptAlive(edge);
  const closing = edge.edge.close();
  t.match(await answerTo(socket, get(edge, '/v1/connections')), /^HTTP\/1.1 200 OK[\s\S]*Connection: close/i);
  const late = connect(edge.edge.port, '127.0.0.1');
  const [refusal] = (await once(late, 'error')) as [NodeJS.ErrnoException];
  t.equal(refusal.code, 'ECONNREFUSED');
  await closing;
});

/** An edge with a list of some twenty megabytes, far more than sockets hold, and a client that asked for it and reads nothing. */
async function askedForMuch(t: Test) {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, 30_000);
  const socket = connect(edge.edge.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write(get(edge, '/v1/connections'));
  await once(socket, 'readable');
  return { edge, socket };
}

t.test('a large answer that is being read when the edge closes is sent to its end', async (t) => {
  const { edge, socket } = await askedForMuch(t);
  const closing = edge.edge.close();
  let received = 0;
  let tail = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    tail = (tail + chunk.toString('latin1')).slice(-20);
  });
  await once(socket, 'close');
  t.ok(received > 10_000_000, `${received} bytes`);
  t.match(tail, /\]\}\r\n0\r\n\r\n$/);
  await closing;
});

longTest(t, 'a client that reads slowly, but reads, has its answer whole from a closing edge', async (t) => {
  const { edge, socket } = await askedForMuch(t);
  const closing = edge.edge.close();
  const period = timer(LIMITS.parting_answers_ms);
  let received = 0;
  let tail = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    tail = (tail + chunk.toString('latin1')).slice(-20);
    // Two megabytes, and a rest.
    if (Math.floor(received / 2_000_000) === Math.floor((received - chunk.length) / 2_000_000)) return;
    socket.pause();
    setTimeout(() => socket.resume(), 800);
  });
  await once(socket, 'close');
  t.ok(period.isOver, 'it took longer than one period');
  t.match(tail, /\]\}\r\n0\r\n\r\n$/);
  await closing;
});

t.test('a client that reads nothing of its answer holds up neither the drain nor the close', async (t) => {
  const { edge, socket } = await askedForMuch(t);
  await edge.edge.drain();
  await edge.edge.close();
  t.pass('both have ended');
  socket.destroy();
});
