import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Where a receiver listens, and as whom. */
export interface ReceiverIdentity {
  host: string;
  /** Absent or 0: a free one. */
  port?: number;
  /** PEM. */
  key: string;
  /** PEM. */
  cert: string;
}

/** The same, with the secret of the subscriptions that call it. */
export interface SigningIdentity extends ReceiverIdentity {
  secret: string;
}

export interface ServerOptions {
  /** A longer body ends its connection; absent: any is taken. */
  most_bytes?: number;
  /** How long a connection may be idle. The usual one outlasts the pauses of a measurement. */
  keepAlive_ms?: number;
}

/** A request with its whole body. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface CallbackServer {
  /** Without a path. */
  url: string;
  stop(): Promise<void>;
}

/** Answers each with 204, and hands it on afterwards. */
export const answering =
  (onReceived: (received: Received) => void) => (received: Received, response: ServerResponse) => {
    response.writeHead(204).end();
    onReceived(received);
  };

/** Listens for callbacks by HTTPS, and hands each over with its whole body. */
export async function serveCallbacks(
  { host, port = 0, key, cert }: ReceiverIdentity,
  onRequest: (received: Received, response: ServerResponse) => void,
  { most_bytes = Number.POSITIVE_INFINITY, keepAlive_ms = 60_000 }: ServerOptions = {},
): Promise<CallbackServer> {
  const server = createServer({ key, cert, keepAliveTimeout: keepAlive_ms }, (request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('error', () => response.destroy());
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > most_bytes) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      onRequest({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }, response);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
