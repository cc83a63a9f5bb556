import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { expose } from './exposition.js';
import type { MetricsSource } from './metric.js';
import type { AnsweredRequest } from './request-metric.js';

/** Prometheus text, readiness and liveness, away from the public port. */
export interface MetricsServer {
  /** Serves `/metrics`, `/readyz` and `/livez`. */
  url: string;
  observe(request: AnsweredRequest): void;
  stop(): Promise<void>;
}

interface Page {
  status: number;
  contentType: string;
  text: string;
}

const json = (status: number, value: object): Page => ({
  status,
  contentType: 'application/json; charset=utf-8',
  text: JSON.stringify(value),
});

/** Rejects with one Error that names METRICS_HOST or METRICS_PORT: a second node on a machine wants another port. */
export async function startMetrics(
  { host, port }: { host: string; port: number },
  source: MetricsSource,
): Promise<MetricsServer> {
  const { contentType, observe, text } = expose(source);
  const pages: Record<string, () => Promise<Page>> = {
    '/metrics': async () => ({ status: 200, contentType, text: await text() }),
    '/readyz': async () => readiness(await source.unreadyReasons()),
    '/livez': async () => json(200, { status: 'ok' }),
  };
  const http = process.getBuiltinModule('node:http'); // an import would load its `fetch` and WebSockets as well
  const server = http.createServer((request, response) => void answer(request, response, pages));
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRNOTAVAIL') throw new Error(`METRICS_HOST: ${host} is no address of this machine`);
    const why = error.code === 'EADDRINUSE' ? 'the port is in use, 0 takes a free one' : error.message;
    throw new Error(`METRICS_PORT: cannot listen on ${host}:${port}: ${why}`);
  });
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    observe,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The same answer as on the port of the API. */
function readiness(reasons: readonly string[]): Page {
  return reasons.length === 0 ? json(200, { status: 'ok' }) : json(503, { status: 'unavailable', reasons });
}

async function answer(
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
  pages: Record<string, () => Promise<Page>>,
): Promise<void> {
  const [path = ''] = url.split('?', 1);
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (!page) return void response.writeHead(404).end();
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
  await page().then(
    // Node leaves the body of an answer to HEAD out.
    ({ status, contentType, text }) =>
      response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) }).end(text),
    (error: Error) => response.writeHead(500).end(error.message),
  );
}
