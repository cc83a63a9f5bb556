import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { CallbackPolicy } from '../../../../actors/deliveries/callback/callback-guard.js';
import { Sender, type SenderOptions } from '../../../../actors/deliveries/callback/sender.js';
import { authority } from '../../../fixture/certificates.js';
import { type Answer, receiver } from '../../../fixture/https-receiver.js';
import { closed } from '../../../fixture/sockets.js';

const loopback: CallbackPolicy = { allowedNetworks: ['127.0.0.0/8'] };
const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const body = Buffer.from('{"id":"event"}');
const headers = { 'Content-Type': 'application/json' };

function sender(t: Test, options: Partial<SenderOptions> = {}): Sender {
  const made = new Sender({ policy: loopback, ca: certificates.ca, ...options });
  t.teardown(() => made.destroy());
  return made;
}

/** A raw TCP server on loopback; returns its callback address. */
async function tcp(t: Test, onConnection: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

t.test('a 2xx answer is a delivery, and the connection is kept for the next', async (t) => {
  const hook = await receiver(t, onLoopback);
  const send = sender(t);
  t.match(await send.send(hook.url, headers, body), { outcome: 'delivered', status_code: 204, error: null });
  await nextTurn();
  t.match(await send.send(hook.url, headers, body), { outcome: 'delivered' });
  t.equal(hook.connections, 1);
  t.strictSame(hook.received[0]?.body, body);
  t.equal(hook.received[0]?.method, 'POST');
  t.equal(hook.received[0]?.path, '/hook');
  t.equal(hook.received[0]?.headers.host, `127.0.0.1:${hook.port}`);
});

t.test('anything but 2xx is a failure, and a redirect is not followed', async (t) => {
  for (const status of [301, 302, 307, 400, 404, 410, 429, 500, 503]) {
    const elsewhere = await receiver(t, onLoopback);
    const hook = await receiver(t, onLoopback, (_request, response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    const result = await sender(t).send(hook.url, headers, body);
    t.match(result, { outcome: 'failed', status_code: status, error: 'status' });
    t.equal(hook.received.length, 1, 'nothing is retried');
    t.equal(elsewhere.received.length, 0);
  }
});

t.test('the connection leads to the address that was checked, and TLS proves the name', async (t) => {
  const named = await certificates.issue({ host: 'hooks.example' });
  const hook = await receiver(t, named);
  let asked = 0;
  const policy: CallbackPolicy = {
    ...loopback,
    resolve: async () => {
      asked++;
      return [{ address: '127.0.0.1', family: 4 }];
    },
  };
  const send = sender(t, { policy });
  t.match(await send.send(`https://hooks.example:${hook.port}/`, headers, body), { outcome: 'delivered' });
  t.match(await send.send(`https://hooks.example:${hook.port}/`, headers, body), { outcome: 'delivered' });
  t.equal(asked, 2, 'the name is resolved once at every attempt');
  const other = await send.send(`https://other.example:${hook.port}/`, headers, body);
  t.match(other, { outcome: 'failed', status_code: null, error: 'tls' });
});

t.test('a name that resolves to another address is refused at the next attempt, kept connection or not', async (t) => {
  const hook = await receiver(t, await certificates.issue({ host: 'hooks.example' }));
  let address = '127.0.0.1';
  const policy: CallbackPolicy = { ...loopback, resolve: async () => [{ address, family: 4 }] };
  const send = sender(t, { policy });
  const url = `https://hooks.example:${hook.port}/`;
  t.match(await send.send(url, headers, body), { outcome: 'delivered' });
  address = '10.0.0.1';
  t.match(await send.send(url, headers, body), { outcome: 'failed', error: 'dns' });
  address = '127.0.0.2';
  await send.send(url, headers, body);
  t.equal(hook.received.length, 1, 'a connection to the former address is not used again');
});

t.test('an address that is not public is blocked before any connection', async (t) => {
  const hook = await receiver(t, onLoopback);
  const result = await sender(t, { policy: { allowedNetworks: [] } }).send(hook.url, headers, body);
  t.match(result, { outcome: 'failed', status_code: null, error: 'blocked' });
  t.equal(hook.connections, 0);
});

t.test('the second address is tried when the first one refuses', async (t) => {
  const hook = await receiver(t, await certificates.issue({ host: 'hooks.example' }));
  const policy: CallbackPolicy = {
    allowedNetworks: ['127.0.0.0/8', '::1/128'],
    resolve: async () => [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ],
  };
  const result = await sender(t, { policy }).send(`https://hooks.example:${hook.port}/`, headers, body);
  t.match(result, { outcome: 'delivered' });
});

t.test('a host without an address fails as dns', async (t) => {
  const policy: CallbackPolicy = { ...loopback, resolve: () => Promise.reject(new Error('no such host')) };
  t.match(await sender(t, { policy }).send('https://hooks.example/', headers, body), { error: 'dns' });
});

t.test('a name server that never answers holds the slot until the deadline only', async (t) => {
  const policy: CallbackPolicy = { ...loopback, resolve: () => new Promise(() => {}) };
  t.match(await sender(t, { policy, deadline_ms: 100 }).send('https://hooks.example/', headers, body), {
    error: 'timeout',
  });
});

t.test('a closed port is refused', async (t) => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  t.match(await sender(t).send(`https://127.0.0.1:${port}/`, headers, body), { status_code: null, error: 'refused' });
});

t.test('a certificate of an unknown authority fails as tls', async (t) => {
  const stranger = await (await authority()).issue({ ip: '127.0.0.1' });
  const hook = await receiver(t, stranger);
  t.match(await sender(t).send(hook.url, headers, body), { status_code: null, error: 'tls' });
  t.equal(hook.received.length, 0);
});

t.test('a server that speaks no TLS fails as tls', async (t) => {
  const url = await tcp(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  t.match(await sender(t).send(url, headers, body), { error: 'tls' });
});

t.test('a connection that is cut before or in the answer fails as reset', async (t) => {
  const cutEarly = await tcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  t.match(await sender(t).send(cutEarly, headers, body), { error: 'reset' });
  const cutLater = await receiver(t, onLoopback, (_request, _response, socket) => socket.destroy());
  t.match(await sender(t).send(cutLater.url, headers, body), { error: 'reset', status_code: null });
  const cutInBody = await receiver(t, onLoopback, (_request, response, socket) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => socket.destroy());
  });
  t.match(await sender(t).send(cutInBody.url, headers, body), { outcome: 'failed', error: 'reset' });
});

t.test('an answer that is not HTTP fails as protocol', async (t) => {
  const hook = await receiver(t, onLoopback, (_request, _response, socket) => socket.write('220 mail ready\r\n'));
  t.match(await sender(t).send(hook.url, headers, body), { error: 'protocol' });
});

const STALLS: Record<string, Answer> = {
  'never answers': () => {},
  'drips its head': (_request, response, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
    response.on('close', () => clearInterval(drip));
  },
  'drips its body': (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  },
  'only ever sends 102': (_request, response, socket) => {
    const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
    response.on('close', () => clearInterval(drip));
  },
};

for (const [what, answer] of Object.entries(STALLS)) {
  t.test(`a receiver that ${what} times out at the deadline and loses its connection`, async (t) => {
    let ended: Promise<unknown> = Promise.resolve();
    const hook = await receiver(t, onLoopback, (request, response, socket) => {
      ended = closed(socket);
      answer(request, response, socket);
    });
    const result = await sender(t, { deadline_ms: 400 }).send(hook.url, headers, body);
    t.match(result, { outcome: 'failed', error: 'timeout' });
    await ended;
  });
}

t.test('a server that accepts and sends nothing times out in the handshake', async (t) => {
  const silent = await tcp(t, () => {});
  const result = await sender(t, { deadline_ms: 200 }).send(silent, headers, body);
  t.match(result, { outcome: 'failed', status_code: null, error: 'timeout' });
});

t.test('of an endless body at most 64 KiB are read; the status decides', async (t) => {
  for (const [status, outcome] of [
    [200, 'delivered'],
    [500, 'failed'],
  ] as const) {
    let ended: Promise<unknown> = Promise.resolve();
    let sent_bytes = 0;
    const hook = await receiver(t, onLoopback, (_request, response, socket) => {
      ended = closed(socket);
      response.writeHead(status);
      const more = (): void => {
        sent_bytes += 16_384;
        if (!socket.destroyed) response.write(Buffer.alloc(16_384), () => setImmediate(more));
      };
      more();
    });
    t.match(await sender(t).send(hook.url, headers, body), { outcome, status_code: status });
    await ended;
    t.ok(sent_bytes < 16 * 1024 * 1024);
  }
});

t.test('a gzip bomb is counted by its raw bytes and never expanded', async (t) => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  t.ok(bomb.length < 64 * 1024);
  const hook = await receiver(t, onLoopback, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  );
  const before_bytes = process.memoryUsage().arrayBuffers;
  t.match(await sender(t).send(hook.url, headers, body), { outcome: 'delivered' });
  t.ok(process.memoryUsage().arrayBuffers - before_bytes < 10_000_000);
});

t.test('a head without end is refused by its size', async (t) => {
  const hook = await receiver(t, onLoopback, (_request, _response, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    for (let i = 0; i < 40; i++) socket.write(`x-${i}: ${'a'.repeat(1000)}\r\n`);
  });
  t.match(await sender(t).send(hook.url, headers, body), { outcome: 'failed', error: 'protocol' });
});

t.test('one stalled receiver holds up no other request to its origin', async (t) => {
  let stall = true;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (!stall) response.writeHead(200).end();
    stall = false;
  });
  const send = sender(t, { deadline_ms: 2_000 });
  const stalled = send.send(hook.url, headers, body);
  await hook.arrived(1);
  t.match(await send.send(hook.url, headers, body), { outcome: 'delivered' });
  await send.destroy();
  t.match(await stalled, { outcome: 'failed' });
});
