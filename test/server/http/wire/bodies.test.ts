import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { LIMITS } from '../../../../server/http/limits.js';
import { BodyMemory } from '../../../../server/http/wire/body-memory.js';
import { IncomingBody } from '../../../../server/http/wire/incoming-body.js';
import { newKeyText } from '../../../../storage/workspaces/key-format.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { serviceFixture, startService } from '../../../fixture/service.js';
import { longTest } from '../../../fixture/size.js';
import { closed } from '../../../fixture/sockets.js';
import { startTestEdge } from '../../edge-fixture.js';

const MIB = 2 ** 20;
const DECLARED_bytes = LIMITS.operation_body_bytes;
const SENT_bytes = Math.floor(1.9 * MIB);
const CONNECTION = '0198a5f0-1111-7111-8111-111111111111';

const head = (key: string | undefined, connection = CONNECTION) =>
  [
    `POST /v1/connections/${connection}/operations HTTP/1.1`,
    'Host: x',
    `Content-Length: ${DECLARED_bytes}`,
    ...(key ? [`Authorization: Bearer ${key}`] : []),
    '',
    '',
  ].join('\r\n');

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const chunkOf = (bytes: number) => new ArrayBuffer(bytes);

t.test('what is held of bodies is counted, and strangers and large bodies leave room for small ones', async (t) => {
  const memory = new BodyMemory(10 * MIB);
  const stranger = new IncomingBody(DECLARED_bytes, String(DECLARED_bytes), memory);
  stranger.take(chunkOf(MIB));
  t.ok(stranger.full, 'no more of it is to be read');
  t.equal(memory.held_bytes, MIB);
  const another = new IncomingBody(DECLARED_bytes, String(DECLARED_bytes), memory);
  another.take(chunkOf(MIB));
  t.equal(memory.held_bytes, MIB, 'its beginning is dropped');
  another.want(false);
  t.equal(another.bytes(), 'overloaded');

  const large = Array.from({ length: 4 }, () => {
    const body = new IncomingBody(DECLARED_bytes, String(DECLARED_bytes), memory);
    body.want(false);
    return body;
  });
  t.strictSame(
    large.map((body) => body.bytes() === 'overloaded'),
    [false, false, false, true],
  );
  for (const body of large) body.release();
  const of = (workspace: string) => {
    const body = new IncomingBody(DECLARED_bytes, String(DECLARED_bytes), memory);
    body.want(false, workspace);
    return body;
  };
  const ofTwo = ['one', 'one', 'two', 'two'].map(of);
  t.strictSame(
    ofTwo.map((body) => body.bytes() === 'overloaded'),
    [false, true, false, true],
    'of large bodies a workspace holds half at most',
  );
  ofTwo[0]?.release();
  const again = of('one');
  t.not(again.bytes(), 'overloaded');
  for (const body of [again, ...ofTwo]) body.release();
  const small = new IncomingBody(LIMITS.body_bytes, '', memory);
  small.take(chunkOf(1000));
  small.want(true);
  t.equal((small.bytes() as Buffer).length, 1000);
  for (const body of [stranger, small, ...large]) body.release();
  t.equal(memory.held_bytes, 0);
  stranger.release();
  t.equal(memory.held_bytes, 0, 'given back once');
});

t.test('a body is refused by its declared size at once, and a chunked one as it grows', async (t) => {
  const memory = new BodyMemory(10 * MIB);
  const declared = new IncomingBody(1000, '1001', memory);
  declared.take(chunkOf(500));
  t.equal(memory.held_bytes, 0);
  t.equal(declared.bytes(), 'body_too_large');
  const chunked = new IncomingBody(20 * MIB, '', memory);
  chunked.want(false);
  const piece = chunkOf(MIB / 4);
  for (let n = 0; n < 40; n++) {
    chunked.take(piece);
    t.ok(memory.held_bytes <= 6 * MIB);
  }
  t.equal(chunked.bytes(), 'overloaded');
  t.equal(memory.held_bytes, 0);
});

t.test('a large body comes whole, with a length and in chunks, though its key has to be looked up first', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const [before, after] = ['{"capability":"social.identity.get","input":{"far":"', '"},"end":1}'];
  const body = Buffer.from(before + 'x'.repeat(1_500_000) + after);
  for (const framing of [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked']) {
    const socket = await open(edge.edge.port);
    const first = head(edge.key, id).replace(/Content-Length: \d+/, framing);
    const chunked = framing.startsWith('Transfer');
    socket.write(chunked ? `${first}${body.length.toString(16)}\r\n` : first);
    socket.write(body);
    if (chunked) socket.write('\r\n0\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // Both ends were read: the unknown field at the end is named.
    t.match(answer.toString(), /^HTTP\/1.1 400[\s\S]*body\.end/, framing);
    socket.destroy();
  }
});

/** Writes what it is given on one connection, and says so once the system has taken all of it. */
const WRITER = `
  const { parentPort, workerData: { port, written } } = require('node:worker_threads');
  const socket = require('node:net').connect(port, '127.0.0.1');
  socket.on('connect', () => parentPort.postMessage('connected'));
  socket.on('data', (chunk) => parentPort.postMessage(chunk.toString('latin1')));
  parentPort.on('message', (bytes) => socket.write(bytes, () => {
    Atomics.store(written, 0, 1);
    Atomics.notify(written, 0);
  }));
`;

t.test('a connection goes on after a body that had come whole before anything of it was wanted', async (t) => {
  const edge = await startTestEdge(t);
  const written = new Int32Array(new SharedArrayBuffer(4));
  const writer = new Worker(WRITER, { eval: true, workerData: { port: edge.edge.port, written } });
  t.teardown(() => writer.terminate());
  let received = '';
  writer.on('message', (text: string) => {
    received += text;
  });
  await once(writer, 'message');
  const answered = (what: string, status: number) =>
    eventually(
      what,
      () => received,
      (text) => text.includes(`HTTP/1.1 ${status} `),
    );
  // More than is read in one piece. Nothing of it is wanted before its key was looked up: 401.
  const body = Buffer.alloc(700_000, 97);
  for (let n = 0; n < 20; n++) {
    const unknown = head(newKeyText('key'));
    received = '';
    Atomics.store(written, 0, 0);
    writer.postMessage(
      Buffer.concat([Buffer.from(unknown.replace(String(DECLARED_bytes), String(body.length))), body]),
    );
    Atomics.wait(written, 0, 0, 100); // the edge reads nothing meanwhile; the system takes more of it from time to time
    await answered(`body ${n} is refused`, 401);
    received = '';
    writer.postMessage('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await answered(`the request after body ${n} is answered`, 200);
  }
});

t.test('large bodies beyond the memory are answered 503 while small requests go on', async (t) => {
  const edge = await startTestEdge(t, { bodyMemoryMib: 8 });
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const sockets = await Promise.all(Array.from({ length: 64 }, () => open(edge.edge.port)));
  const answers: string[] = [];
  for (const socket of sockets) socket.on('data', (chunk) => answers.push(String(chunk)));
  const part = Buffer.alloc(SENT_bytes, 97);
  for (const socket of sockets) socket.write(head(edge.key, id));
  for (const socket of sockets) socket.write(part);
  const small = await edge.call('POST', `/v1/connections/${id}/operations`, {
    body: { capability: 'social.identity.get', input: {} },
    headers: { 'idempotency-key': 'small' },
  });
  t.equal(small.status, 202);
  for (const socket of sockets) socket.write(Buffer.alloc(DECLARED_bytes - SENT_bytes, 97));
  await eventually(
    'all are answered',
    () => answers.length,
    (count) => count >= sockets.length,
  );
  const refused = answers.filter((answer) => /^HTTP\/1.1 503[\s\S]*Retry-After: 1[\s\S]*"overloaded"/.test(answer));
  const read = answers.filter((answer) => /^HTTP\/1.1 400[\s\S]*"invalid_json"/.test(answer));
  t.ok(refused.length >= 32, `${refused.length} refused`);
  t.ok(read.length >= 1, `${read.length} read`);
  t.equal(refused.length + read.length, sockets.length);
  for (const socket of sockets) socket.destroy();
  const again = await edge.call('POST', `/v1/connections/${id}/operations`, { body: 'x'.repeat(2_000_000) });
  t.equal(again.json.code, 'invalid_json', 'the memory was given back');
});

t.test('a body that stalls or drips is cut', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const sockets = await Promise.all(Array.from({ length: 3 }, () => open(edge.edge.port)));
  const [stalls, drips, stranger] = sockets as [Socket, Socket, Socket];
  const cut = sockets.map(closed);
  stalls.write(`${head(edge.key, id)}abc`);
  drips.write(`${head(edge.key, id)}abc`);
  stranger.write(`${head(undefined)}${'x'.repeat(100_000)}`);
  const dripping = setInterval(() => drips.write('x'), 500);
  for (const socket of sockets) socket.resume();
  await Promise.all(cut);
  clearInterval(dripping);
  t.equal((await edge.call('GET', '/healthz')).status, 200);
});

longTest(t, 'a thousand strangers who send most of a large body and stall take no memory to speak of', async (t) => {
  const service = await startService(t, await serviceFixture(t, { BROWSER_PATH: '/bin/false' }));
  const rss_mib = async () => {
    const status = await readFile(`/proc/${service.process.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  };
  const port = Number(new URL(service.url).port);
  t.equal((await service.client.send('GET', '/v1/connections')).status, 200);
  const before = await rss_mib();
  const part = Buffer.alloc(SENT_bytes, 97);
  let peak = 0;
  for (let n = 0; n < 10; n++) {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port)));
    const written = sockets.map((socket, i) => {
      // Half of them with a key that has to be looked up.
      socket.write(head(i % 2 === 0 ? newKeyText('key') : undefined));
      return new Promise((resolve) => socket.once('close', resolve) && socket.write(part, resolve));
    });
    t.teardown(() => sockets.forEach((socket) => void socket.destroy()));
    await Promise.all(written);
    peak = Math.max(peak, await rss_mib());
  }
  t.comment(`${(peak - before).toFixed(0)} MiB for 1,000 connections`);
  t.ok(peak - before < 100, `from ${before.toFixed(0)} to ${peak.toFixed(0)} MiB`);
  await eventually(
    'a small request is answered',
    () => service.client.send('GET', '/v1/connections'),
    ({ status }) => status === 200,
  );
});
