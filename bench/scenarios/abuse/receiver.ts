import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Identity } from './messages.js';

export interface AbuseReceiver {
  /** Without a path. */
  url: string;
  stop(): void;
}

/** A receiver of callbacks: answers 204 at once, or, where `silent`, takes everything and never answers. */
export async function openReceiver(
  { host, key, cert }: Identity,
  { silent = false, onBody = () => {} }: { silent?: boolean; onBody?: (body: Buffer) => void },
): Promise<AbuseReceiver> {
  const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (request, response) => {
    void bodyOf(request).then(
      (body) => {
        if (!silent) response.writeHead(204).end();
        onBody(body);
      },
      () => response.destroy(),
    );
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
