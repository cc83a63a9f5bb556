import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Exposition, expose } from './exposition.js';
import type { MetricsSource } from './metric.js';
import type { AnsweredRequest } from './request-metric.js';

/** Prometheus text and readiness on loopback, away from the public port. */
export interface MetricsServer {
  /** `http://127.0.0.1:<port>`; serves `/metrics` and `/readyz`. */
  url: string;
  observe(request: AnsweredRequest): void;
  stop(): Promise<void>;
}

/** Rejects with one Error that names METRICS_PORT when the port is in use: a second node on a machine wants another. */
export async function startMetrics(port: number, source: MetricsSource): Promise<MetricsServer> {
  const exposition = expose(source);
  const server = createServer((request, response) => {
    if (request.url === '/metrics') void answerMetrics(response, exposition);
    else if (request.url === '/readyz') answerReadiness(response, source);
    else response.writeHead(404).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'the port is in use, 0 takes a free one' : error.message;
    throw new Error(`METRICS_PORT: cannot listen on 127.0.0.1:${port}: ${why}`);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    observe: exposition.observe,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerMetrics(response: ServerResponse, { contentType, text }: Exposition): Promise<void> {
  await text().then(
    (lines) => response.writeHead(200, { 'Content-Type': contentType }).end(lines),
    (error: Error) => response.writeHead(500).end(error.message),
  );
}

function answerReadiness(response: ServerResponse, source: MetricsSource): void {
  const status = source.status();
  response.writeHead(status.state === 'running' ? 200 : 503, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(status));
}
