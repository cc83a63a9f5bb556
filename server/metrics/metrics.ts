import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { HostStats } from '../../actors/messages.js';
import type { SystemStatus } from '../../actors/system.js';
import type { BrowserStats } from '../../browser-pool/messages.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { threadCounter } from './thread-counts.js';

/**
 * Prometheus text and readiness on loopback, away from the public port. Labels come from
 * fixed vocabularies only (statuses, outcomes, route patterns), so the number of series is bounded whatever clients do.
 */
export interface MetricsSource {
  status(): SystemStatus;
  stats(): { hosts: HostStats[]; browsers: BrowserStats[] };
}

/** One answered request. `route` is the pattern, never the path; null when none matched. */
export interface AnsweredRequest {
  method: string;
  route: string | null;
  status: number | 'aborted';
  seconds: number;
}

export interface MetricsServer {
  /** `http://127.0.0.1:<port>`; serves `/metrics` and `/readyz`. */
  url: string;
  observe(request: AnsweredRequest): void;
  stop(): Promise<void>;
}

/** Rejects with one Error that names METRICS_PORT when the port is in use: a second node on a machine wants another. */
export async function startMetrics(port: number, source: MetricsSource): Promise<MetricsServer> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route pattern and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [registry],
  });
  systemMetrics(registry, source);
  const histograms = deliveryMetrics(registry, () => source.stats().hosts.map((host) => host.deliveries));
  const text = async () => [await registry.metrics(), ...histograms.map((one) => one.text())].join('\n');
  const server = createServer((request, response) => {
    if (request.url === '/metrics') {
      void text().then(
        (lines) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(lines),
        (error: Error) => response.writeHead(500).end(error.message),
      );
    } else if (request.url === '/readyz') {
      const status = source.status();
      response.writeHead(status.state === 'running' ? 200 : 503, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(status));
    } else response.writeHead(404).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'the port is in use, 0 takes a free one' : error.message;
    throw new Error(`METRICS_PORT: cannot listen on 127.0.0.1:${port}: ${why}`);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    observe: ({ method, route, status, seconds }) =>
      requests.observe({ method: route === null ? 'other' : method, route: route ?? 'none', status }, seconds),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What the threads last told, read when somebody scrapes. */
function systemMetrics(registry: Registry, source: MetricsSource): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const ofHosts = (read: (host: HostStats) => number) => () => sum(source.stats().hosts, read);
  const ofBrowsers = (read: (browser: BrowserStats) => number) => () => sum(source.stats().browsers, read);
  /** By the number of the thread, of which there are as many as BROWSER_THREADS says. */
  const ofEachBrowser = (name: string, help: string, read: (browser: BrowserStats) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['thread'],
      registers,
      collect() {
        for (const [thread, browser] of source.stats().browsers.entries()) this.set({ thread }, read(browser));
      },
    });

  gauge('node_ready', '1 while this node takes and executes work', () => Number(source.status().state === 'running'));
  gauge('node_partitions', 'Partitions this node owns, of 64', () => source.status().partitions);
  gauge('actor_threads', 'Actor threads that live', () => source.status().actorThreads);
  gauge('browser_threads', 'Browser threads that live', () => source.status().browserThreads);
  gauge(
    'connection_actors',
    'Connections held in memory',
    ofHosts((host) => host.connections),
  );
  gauge(
    'mailbox_operations',
    'Operations waiting in memory',
    ofHosts((host) => host.queued),
  );
  gauge(
    'operations_running',
    'Operations under way',
    ofHosts((host) => host.running),
  );
  gauge(
    'listeners',
    'Event streams held open',
    ofHosts((host) => host.listeners),
  );
  gauge(
    'browser_contexts',
    'Warm browser contexts',
    ofBrowsers((browser) => browser.contexts),
  );
  gauge(
    'browser_pages',
    'Open pages',
    ofBrowsers((browser) => browser.pages),
  );
  gauge(
    'browser_runs',
    'Page programs under way',
    ofBrowsers((browser) => browser.running),
  );
  gauge(
    'browser_runs_waiting',
    'Page programs waiting for a turn',
    ofBrowsers((browser) => browser.queued),
  );
  ofEachBrowser(
    'browser_memory_mib',
    'Memory of the Chromium of a browser thread with all its processes, in MiB (proportional set size)',
    (browser) => browser.memory_mib,
  );
  ofEachBrowser(
    'browser_warm_pages',
    'Pages a browser thread keeps open for the next run of their session',
    (browser) => browser.warm_pages,
  );

  const unlabelled = { labelNames: [], labels: () => ({}) };
  threadCounter(registry, { name: 'operations_submitted_total', help: 'Operations stored', ...unlabelled }, () =>
    source.stats().hosts.map((host) => ({ '': host.submitted })),
  );
  threadCounter(
    registry,
    {
      name: 'operations_finished_total',
      help: 'Operations that ended, by status',
      labelNames: ['status'],
      labels: (status) => ({ status }),
    },
    () => source.stats().hosts.map((host) => host.finished),
  );
  threadCounter(registry, { name: 'browser_restarts_total', help: 'Browsers replaced', ...unlabelled }, () =>
    source.stats().browsers.map((browser) => ({ '': browser.restarts })),
  );
}

function sum<T>(threads: T[], read: (thread: T) => number): number {
  return threads.reduce((total, thread) => total + read(thread), 0);
}
