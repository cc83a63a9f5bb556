import t from 'tap';
import type { HostStats } from '../../actors/messages.js';
import type { SystemStatus } from '../../actors/system.js';
import type { BrowserStats } from '../../browser-pool/messages.js';
import { type MetricsSource, startMetrics } from '../../server/metrics.js';

const attempts = {} as HostStats['deliveries']['attempts'];
const host = (finished: Record<string, number>): HostStats => ({
  submitted: 5,
  started: 0,
  finished,
  connections: 3,
  queued: 0,
  running: 1,
  listeners: 0,
  deliveries: {
    attempts: { ...attempts, delivered: 2 },
    duration_ms_sum: 0,
    duration_count: 0,
    put_back: 0,
    in_flight: 4,
    waiting: 0,
    subscriptions: 0,
  },
});

t.test('a scrape adds the threads up, and a thread that was replaced counts from zero', async (t) => {
  const status: SystemStatus = { state: 'running', partitions: 64, actorThreads: 2, browserThreads: 1 };
  let hosts = [host({ succeeded: 10 }), host({ succeeded: 1, failed: 2 })];
  const source: MetricsSource = { status: () => status, stats: () => ({ hosts, browsers: [] }) };
  const metrics = await startMetrics(0, source);
  t.teardown(() => metrics.stop());
  const scrape = async () => (await fetch(`${metrics.url}/metrics`)).text();

  metrics.observe({ method: 'GET', route: '/v1/operations/{operation_id}', status: 200, seconds: 0.01 });
  metrics.observe({ method: 'BREW', route: null, status: 404, seconds: 0.01 });
  const first = await scrape();
  t.match(first, /^operations_finished_total\{status="succeeded"\} 11$/m);
  t.match(first, /^connection_actors 6$/m);
  t.match(first, /^deliveries_in_flight 8$/m);
  t.match(first, /^node_partitions 64$/m);
  t.match(first, /_count\{method="GET",route="\/v1\/operations\/\{operation_id\}",status="200"\} 1$/m);
  t.match(first, /_count\{method="other",route="none",status="404"\} 1$/m, 'what clients make up is no label');

  hosts = [host({ succeeded: 4 }), host({ succeeded: 2, failed: 2 })];
  const second = await scrape();
  t.match(second, /^operations_finished_total\{status="succeeded"\} 16$/m);
  t.match(second, /^operations_finished_total\{status="failed"\} 2$/m);
});

t.test('each browser thread tells what its browser weighs and how many pages it keeps', async (t) => {
  const status: SystemStatus = { state: 'running', partitions: 64, actorThreads: 1, browserThreads: 2 };
  const counts = { contexts: 3, pages: 1, running: 1, queued: 0, restarts: 0 };
  const browsers: BrowserStats[] = [
    { browser: 'running', ...counts, warm_pages: 4, memory_mib: 312 },
    { browser: 'none', ...counts, warm_pages: 0, memory_mib: 0 },
  ];
  const metrics = await startMetrics(0, { status: () => status, stats: () => ({ hosts: [], browsers }) });
  t.teardown(() => metrics.stop());
  const text = await (await fetch(`${metrics.url}/metrics`)).text();
  t.match(text, /^browser_memory_mib\{thread="0"\} 312$/m);
  t.match(text, /^browser_memory_mib\{thread="1"\} 0$/m);
  t.match(text, /^browser_warm_pages\{thread="0"\} 4$/m);
  t.match(text, /^browser_contexts 6$/m, 'the rest is added up');
});

t.test('readiness follows the state of the node', async (t) => {
  const status: SystemStatus = { state: 'running', partitions: 64, actorThreads: 2, browserThreads: 1 };
  const metrics = await startMetrics(0, { status: () => status, stats: () => ({ hosts: [], browsers: [] }) });
  t.teardown(() => metrics.stop());
  const ready = await fetch(`${metrics.url}/readyz`);
  t.equal(ready.status, 200);
  t.match(await ready.json(), { state: 'running', partitions: 64 });
  status.state = 'draining';
  t.equal((await fetch(`${metrics.url}/readyz`)).status, 503);
  t.equal((await fetch(`${metrics.url}/other`)).status, 404);
});
