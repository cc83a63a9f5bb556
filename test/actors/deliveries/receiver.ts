import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { generate } from 'selfsigned';
import type { Test } from 'tap';

export interface Certificate {
  key: string;
  cert: string;
}

export interface CertificateNames {
  host?: string;
  ip?: string;
  /** From now on, for a year, unless told. */
  from?: Date;
  until?: Date;
}

/** A certificate authority, and certificates it signed. */
export interface Authority {
  ca: string;
  issue(names: CertificateNames): Promise<Certificate>;
}

export async function authority(): Promise<Authority> {
  const root = await generate([{ name: 'commonName', value: 'Receivers of this test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    ca: root.cert,
    issue: (names) => leaf(names, { key: root.private, cert: root.cert }),
  };
}

/** A certificate that nobody but itself vouches for. */
export function selfSigned(names: CertificateNames): Promise<Certificate> {
  return leaf(names);
}

async function leaf({ host, ip, from, until }: CertificateNames, ca?: Certificate): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: host ?? ip ?? '' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(ca && { ca }),
    ...(from && { notBeforeDate: from }),
    ...(until && { notAfterDate: until }),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [ip ? { type: 7, ip } : { type: 2, value: host ?? '' }] },
    ],
  });
  return { key: made.private, cert: made.cert };
}

export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Receiver {
  port: number;
  url: string;
  /** Every request that arrived whole, in order. */
  received: Received[];
  /** Connections made so far. */
  connections: number;
  /** Resolves once `count` requests have arrived. */
  arrived(count: number): Promise<void>;
}

export type Answer = (request: Received, response: ServerResponse, socket: Socket) => void;

const noContent: Answer = (_request, response) => response.writeHead(204).end();

/** A real HTTPS receiver on loopback that answers as it is told. */
export async function receiver(
  t: Test,
  certificate: Certificate,
  answer: Answer = noContent,
  host = '127.0.0.1',
): Promise<Receiver> {
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = https.createServer(certificate, async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const got: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    };
    self.received.push(got);
    for (const { count, resolve } of waiting) if (self.received.length >= count) resolve();
    answer(got, response, request.socket);
  });
  server.on('tlsClientError', () => {});
  // Answers go on after the sender has hung up: that is what they are for.
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  server.on('connection', () => self.connections++);
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const self: Receiver = {
    port,
    url: `https://${host}:${port}/hook`,
    received: [],
    connections: 0,
    arrived: (count) =>
      self.received.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
  };
  return self;
}
