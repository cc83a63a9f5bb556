import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { type Answer, authority, selfSigned } from '../fixture/https-receiver.js';

/** Receivers as they should not be, as data, and what the attempt log says of each. */
const DAY_ms = 86_400_000;
export const certificates = await authority();
export const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

/** What the attempt log says of the first attempt. */
export type Expected = { outcome: 'delivered' | 'failed'; status_code: number | null; error: string | null };

const failed = (error: string, status_code: number | null = null): Expected => ({
  outcome: 'failed',
  status_code,
  error,
});
const delivered: Expected = { outcome: 'delivered', status_code: 200, error: null };

/** Writes to the socket again and again until it is gone. */
function drip(socket: Socket, write: () => void, every_ms = 1_000): void {
  const timer = setInterval(write, every_ms);
  socket.once('close', () => clearInterval(timer));
}

/** Receivers that speak HTTPS under a good certificate, by path. */
export const ANSWERS: Record<string, { expected: Expected; answer: Answer }> = {
  'drips its body': {
    expected: failed('timeout', 200),
    answer: (_request, response, socket) => {
      response.writeHead(200);
      drip(socket, () => response.write('.'));
    },
  },
  'drips its head': {
    expected: failed('timeout'),
    answer: (_request, _response, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, () => socket.write('x: 1\r\n'));
    },
  },
  'only ever says continue': {
    expected: failed('timeout'),
    answer: (_request, _response, socket) => drip(socket, () => socket.write('HTTP/1.1 102 Processing\r\n\r\n')),
  },
  'hints before it answers': {
    expected: delivered,
    answer: (_request, response, socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n');
      response.writeHead(200).end();
    },
  },
  'hints and hangs up': {
    expected: failed('reset'),
    answer: (_request, _response, socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  'switches to another protocol': {
    expected: failed('reset'),
    answer: (_request, _response, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
  },
  'never answers': { expected: failed('timeout'), answer: () => {} },
  'answers with a head and no body': {
    expected: failed('timeout', 200),
    answer: (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.flushHeaders();
    },
  },
  'answers 10 MiB': {
    expected: delivered,
    answer: (_request, response) => response.writeHead(200).end(Buffer.alloc(10 * 1024 * 1024)),
  },
  'answers 10 MiB of failure': {
    expected: failed('status', 500),
    answer: (_request, response) => response.writeHead(500).end(Buffer.alloc(10 * 1024 * 1024)),
  },
  'answers a gzip bomb': {
    expected: delivered,
    answer: (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000))),
  },
  'answers as HTTP/1.0 does': {
    expected: delivered,
    answer: (_request, _response, socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nfine'),
  },
  redirects: {
    expected: failed('status', 308),
    answer: (request, response) => response.writeHead(308, { location: request.path }).end(),
  },
  'resets the connection': {
    expected: failed('reset'),
    answer: (_request, _response, socket) => socket.destroy(),
  },
  'closes in the middle of its body': {
    expected: failed('reset', 200),
    answer: (_request, response, socket) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => socket.destroy());
    },
  },
  'has a head without end': {
    expected: failed('protocol'),
    answer: (_request, _response, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      for (let i = 0; i < 40; i++) socket.write(`x-${i}: ${'a'.repeat(1000)}\r\n`);
    },
  },
  'says something else than HTTP': {
    expected: failed('protocol'),
    answer: (_request, _response, socket) => socket.write('220 mail ready\r\n'),
  },
};

/** A server below HTTP; gives its port. */
async function listening(t: Test, server: net.Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const tcp = (t: Test, onConnection: (socket: Socket) => void) => listening(t, net.createServer(onConnection));

const tls = (t: Test, options: https.ServerOptions) =>
  listening(
    t,
    https.createServer(options, (_request, response) => response.writeHead(204).end()).on('tlsClientError', () => {}),
  );

/** A process that listens with the shortest queue and is stopped before it accepts anybody; its queue is filled. */
async function deaf(t: Test): Promise<number> {
  const listen = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 },
    function () { console.log(this.address().port); process.kill(process.pid, 'SIGSTOP'); })`;
  const child: ChildProcess = spawn('env', ['-i', process.execPath, '-e', listen], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  const port = Number(line);
  // Two are let into a queue of one; the third and all after it find it full.
  const queued = Array.from({ length: 3 }, () => net.connect(port, '127.0.0.1').on('error', () => {}));
  t.teardown(() => queued.forEach((socket) => void socket.destroy()));
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, 'connect')));
  return port;
}

async function unused(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Receivers whose trouble comes before HTTP. */
export const BELOW: Record<string, { expected: Expected; port: (t: Test) => Promise<number> }> = {
  'does not listen': { expected: failed('refused'), port: unused },
  'listens and accepts nobody': { expected: failed('timeout'), port: deaf },
  'accepts and says nothing': { expected: failed('timeout'), port: (t) => tcp(t, () => {}) },
  'resets every connection': { expected: failed('reset'), port: (t) => tcp(t, (socket) => socket.resetAndDestroy()) },
  'hangs up in the handshake': {
    expected: failed('reset'),
    port: (t) => tcp(t, (socket) => socket.once('data', () => socket.end())),
  },
  'speaks no TLS': {
    expected: failed('tls'),
    port: (t) => tcp(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')),
  },
  'has a certificate of another name': {
    expected: failed('tls'),
    port: async (t) => tls(t, await certificates.issue({ host: 'hooks.example' })),
  },
  'has a certificate of another address': {
    expected: failed('tls'),
    port: async (t) => tls(t, await certificates.issue({ ip: '127.0.0.2' })),
  },
  'has an expired certificate': {
    expected: failed('tls'),
    port: async (t) => {
      const [from, until] = [new Date(Date.now() - 2 * DAY_ms), new Date(Date.now() - DAY_ms)];
      return tls(t, await certificates.issue({ ip: '127.0.0.1', from, until }));
    },
  },
  'has a certificate of tomorrow': {
    expected: failed('tls'),
    port: async (t) => {
      const [from, until] = [new Date(Date.now() + DAY_ms), new Date(Date.now() + 2 * DAY_ms)];
      return tls(t, await certificates.issue({ ip: '127.0.0.1', from, until }));
    },
  },
  'has a certificate of its own making': {
    expected: failed('tls'),
    port: async (t) => tls(t, await selfSigned({ ip: '127.0.0.1' })),
  },
  'has a certificate of a stranger': {
    expected: failed('tls'),
    port: async (t) => tls(t, await (await authority()).issue({ ip: '127.0.0.1' })),
  },
  'speaks only TLS 1.1': {
    expected: failed('tls'),
    port: (t) => tls(t, { ...onLoopback, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
  },
};
