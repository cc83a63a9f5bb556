import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { insertSimulated } from '../../../fixture/rows.js';
import { closed } from '../../../fixture/sockets.js';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { insertConnections } from '../../rows.js';

/** Bytes straight onto a connection, as no client library would send them. */
async function open(edge: EdgeUnderTest, bytes: string | Buffer): Promise<Socket> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** What comes back until the server closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await closed(socket);
  return text;
}

const head = (edge: EdgeUnderTest, method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${edge.key}`, ...lines, '', ''].join('\r\n');

t.test('a broken chunk, a broken length and oversized headers end their connection and nothing else', async (t) => {
  const edge = await startTestEdge(t);
  const broken: [what: string, bytes: string, status: RegExp][] = [
    [
      'chunk',
      `${head(edge, 'POST', '/v1/connections', 'Transfer-Encoding: chunked')}5\r\nabcde\r\nZZ\r\n`,
      /^HTTP\/1.1 400/,
    ],
    ['length', head(edge, 'POST', '/v1/connections', 'Content-Length: nine'), /^HTTP\/1.1 400/],
    [
      'both',
      head(edge, 'POST', '/v1/connections', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
      /^HTTP\/1.1 400/,
    ],
    ['headers', head(edge, 'GET', '/healthz', `X-Much: ${'x'.repeat(20_000)}`), /^HTTP\/1.1 431/],
  ];
  for (const [what, bytes, status] of broken) {
    t.match(await untilClosed(await open(edge, bytes)), status, what);
    t.equal((await edge.call('GET', '/healthz')).status, 200, what);
  }
});

t.test('clients that go away in any phase of a request leave the service as it was', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const body = JSON.stringify({ capability: 'social.identity.get', input: {} });
  const submission = head(
    edge,
    'POST',
    `/v1/connections/${id}/operations`,
    `Content-Length: ${body.length}`,
    'Idempotency-Key: k',
  );
  const cut = [
    'GET /healthz HT',
    head(edge, 'GET', '/v1/connections'),
    submission,
    submission + body.slice(0, 10),
    submission + body,
    head(edge, 'POST', '/v1/connections', 'Content-Length: 100000000') + 'x'.repeat(100_000),
    `${head(edge, 'POST', '/v1/connections', 'Transfer-Encoding: chunked')}5\r\nabc`,
  ];
  for (const bytes of cut) {
    const socket = await open(edge, bytes);
    socket.resetAndDestroy();
    t.equal((await edge.call('GET', '/healthz')).status, 200);
  }
});

t.test('a client that goes away while it waits for an operation is not answered', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const submitted = await edge.call('POST', `/v1/connections/${id}/operations`, {
    body: { capability: 'social.identity.get', input: {} },
    headers: { 'idempotency-key': 'k' },
  });
  const socket = await open(edge, head(edge, 'GET', `/v1/operations/${submitted.json.id}`, 'Prefer: wait=30'));
  await edge.system.asked();
  socket.resetAndDestroy();
  // Resolves only because the wait ended with its client.
  await edge.edge.drain();
  t.equal((await edge.call('GET', `/v1/operations/${submitted.json.id}`)).status, 200);
});

t.test('a body in chunks of any size is put together', async (t) => {
  const edge = await startTestEdge(t);
  const body = JSON.stringify({ provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } });
  const socket = await open(edge, head(edge, 'POST', '/v1/connections', 'Transfer-Encoding: chunked'));
  for (const character of body) socket.write(`1\r\n${character}\r\n`);
  socket.write('0\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  t.match(answer.toString(), /^HTTP\/1.1 201 Created/);
  socket.destroy();
});

t.test('a sender of too much reads why, and the connection serves on', async (t) => {
  const edge = await startTestEdge(t);
  const much = 'x'.repeat(3_000_000);
  const socket = await open(edge, head(edge, 'POST', '/v1/connections', `Content-Length: ${much.length}`) + much);
  const [refusal] = (await once(socket, 'data')) as [Buffer];
  t.match(refusal.toString(), /^HTTP\/1.1 413 Content Too Large/);
  socket.write(head(edge, 'GET', '/healthz'));
  const [next] = (await once(socket, 'data')) as [Buffer];
  t.match(next.toString(), /^HTTP\/1.1 200 OK/);
  socket.destroy();
});

t.test('HEAD and 204 carry no body, so the next answer on the connection is the next', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const socket = await open(edge, head(edge, 'HEAD', '/healthz'));
  const [first] = (await once(socket, 'data')) as [Buffer];
  t.match(first.toString(), /^HTTP\/1.1 200[\s\S]*\r\n\r\n$/);
  socket.write(head(edge, 'DELETE', `/v1/connections/${id}`));
  const [second] = (await once(socket, 'data')) as [Buffer];
  t.match(second.toString(), /^HTTP\/1.1 204 No Content[\s\S]*\r\n\r\n$/);
  t.notMatch(second.toString(), /content-length/i);
  socket.write(head(edge, 'GET', '/healthz'));
  const [third] = (await once(socket, 'data')) as [Buffer];
  t.match(third.toString(), /^HTTP\/1.1 200 OK[\s\S]*"ok"/);
  socket.destroy();
});

t.test('an answer of several megabytes arrives whole, however slowly it is read', async (t) => {
  const edge = await startTestEdge(t);
  await insertConnections(edge.db, edge.workspaceId, 3_000);
  const socket = await open(edge, head(edge, 'GET', '/v1/connections'));
  socket.pause();
  let received = Buffer.alloc(0);
  while (!received.subarray(-7).equals(Buffer.from('\r\n0\r\n\r\n'))) {
    await once(socket, 'readable');
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      received = Buffer.concat([received, chunk]);
    }
  }
  const text = received.subarray(received.indexOf('\r\n\r\n') + 2).toString();
  const { connections } = JSON.parse(text.replaceAll(/\r\n[0-9a-fA-F]+\r\n/g, ''));
  t.equal(connections.length, 3000);
  t.ok(received.length > 2_000_000);
  socket.destroy();
});

t.test('a port in use is said in one error', async (t) => {
  const { edge } = await startTestEdge(t);
  await t.rejects(startTestEdge(t, { port: edge.port }), /cannot listen on 127\.0\.0\.1:\d+/);
});

t.test(
  'draining answers 503 to health and submissions, ends waits, and closes connections as they are answered',
  async (t) => {
    const edge = await startTestEdge(t);
    const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
    const submit = (key: string) =>
      edge.call('POST', `/v1/connections/${id}/operations`, {
        body: { capability: 'social.identity.get', input: {} },
        headers: { 'idempotency-key': key },
      });
    const operation = (await submit('one')).json.id;
    const waiting = edge.call('GET', `/v1/operations/${operation}`, { headers: { prefer: 'wait=30' } });
    await edge.system.asked();
    await edge.edge.drain();
    const waited = await waiting;
    t.equal(waited.status, 200);
    t.equal(waited.json.status, 'queued');
    t.equal(waited.headers.connection, 'close');

    const health = await edge.call('GET', '/healthz', { key: '' });
    t.equal(health.status, 503);
    t.strictSame(health.json, { status: 'unavailable' });
    const refused = await submit('two');
    t.equal(refused.status, 503);
    t.equal(refused.json.code, 'unavailable');
    t.equal((await edge.call('GET', `/v1/operations/${operation}`)).status, 200);
    t.equal((await edge.call('GET', `/v1/operations/${uuidv7()}`)).status, 404);
  },
);
