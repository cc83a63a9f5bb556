import fc from 'fast-check';
import t from 'tap';
import { AttemptCounters, HISTOGRAM_BOUNDS } from '../../../actors/deliveries/callback/counters.js';
import type { HostStats } from '../../../actors/messages.js';
import { OperationCounters } from '../../../actors/operations/operation-counters.js';
import type { BrowserStats } from '../../../browser-pool/messages.js';
import { METRICS } from '../../../server/metrics/catalogue.js';
import type { MetricsSource } from '../../../server/metrics/metric.js';
import { startMetrics } from '../../../server/metrics/metrics.js';
import type { PoolStats } from '../../../storage/postgres/database.js';

const host = (
  finished: HostStats['finished'],
  deliveries = new AttemptCounters(),
  oldest_pending_s = 0,
): HostStats => ({
  ...new OperationCounters().counted(),
  submitted: 5,
  finished,
  connections: 3,
  queued: 0,
  ...{ running: 1, waiting_user: 0, full_mailboxes: 0, oldest_queued_s: 0 },
  backlogs: [],
  ...{ listeners: 0, gaps: {}, measured: undefined, loop_lag_s: 0 },
  database: { actors: pool(1), actors_relaxed: pool(0) },
  deliveries: {
    ...deliveries.counted(),
    in_flight: 4,
    waiting: 0,
    subscriptions: 0,
    paused_destinations: 1,
    oldest_pending_s,
    repairs: { job: 1, attempt: 2 },
  },
});

const pool = (waiting: number): PoolStats => ({
  ...{ in_use: 2, idle: 1, waiting },
  failures: { no_connection: waiting, answer_lost: 0, refused_for_now: 0, refused: 0 },
});

const ANY_PORT = { host: '127.0.0.1', port: 0 };

/** A node of these parts, ready and without threads otherwise. */
const nodeWith = (parts: Partial<MetricsSource>): MetricsSource => ({
  status: () => ({ state: 'running', partitions: 64, actorThreads: 2, browserThreads: 1, lacks: [] }),
  stats: () => ({ hosts: [], browsers: [], threadRestarts: 0 }),
  unreadyReasons: async () => [],
  outages: { away: false, total: 0 },
  pools: () => ({ edge: pool(0), control: pool(0) }),
  mainLag_s: () => 0,
  untold_s: () => 0,
  retained: () => ({ erased: {}, behind_s: {} }),
  ...parts,
});

t.test('a scrape adds the threads up, and a thread that was replaced counts from zero', async (t) => {
  let hosts = [host({ succeeded: 10 }), host({ succeeded: 1, failed: 2 })];
  const source = nodeWith({ stats: () => ({ hosts, browsers: [], threadRestarts: 0 }) });
  const metrics = await startMetrics(ANY_PORT, source);
  t.teardown(() => metrics.stop());
  const scrape = async () => (await fetch(`${metrics.url}/metrics`)).text();

  metrics.observe({
    method: 'GET',
    route: '/v1/operations/{operation_id}',
    status: 200,
    seconds: 0.01,
    longPoll: false,
  });
  metrics.observe({ method: 'BREW', route: null, status: 404, seconds: 0.01, longPoll: false });
  const first = await scrape();
  t.match(first, /^connection_service_operations_finished_total\{status="succeeded"\} 11$/m);
  t.match(first, /^connection_service_connection_actors 6$/m);
  t.match(first, /^connection_service_deliveries_in_flight 8$/m);
  t.match(first, /^connection_service_callback_destinations_paused 2$/m);
  t.match(first, /^connection_service_node_partitions 64$/m);
  t.match(first, /_count\{method="GET",route="\/v1\/operations\/\{operation_id\}",status="200"\} 1$/m);
  t.match(first, /_count\{method="other",route="none",status="404"\} 1$/m, 'what clients make up is no label');

  hosts = [host({ succeeded: 4 }), host({ succeeded: 2, failed: 2 })];
  const second = await scrape();
  t.match(second, /^connection_service_operations_finished_total\{status="succeeded"\} 16$/m);
  t.match(second, /^connection_service_operations_finished_total\{status="failed"\} 2$/m);
});

t.test('whatever clients and threads make up, labels come from closed sets', async (t) => {
  const metrics = await startMetrics(
    ANY_PORT,
    nodeWith({ stats: () => ({ hosts: [host({})], browsers: [], threadRestarts: 0 }) }),
  );
  t.teardown(() => metrics.stop());
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('get', '__proto__')), (method) => {
      metrics.observe({ method, route: '/healthz', status: 405, seconds: 0, longPoll: false });
      metrics.observe({ method, route: null, status: 404, seconds: 0, longPoll: false });
      return true;
    }),
    { numRuns: 3_000 },
  );
  const answer = await fetch(`${metrics.url}/metrics`);
  t.equal(answer.status, 200);
  const series = (await answer.text()).match(/^connection_service_http_request_duration_seconds_count.*$/gm) ?? [];
  t.strictSame(series.map((line) => line.replace(/ \d+$/, '')).sort(), [
    'connection_service_http_request_duration_seconds_count{method="other",route="/healthz",status="405"}',
    'connection_service_http_request_duration_seconds_count{method="other",route="none",status="404"}',
  ]);
});

t.test('what a thread reports during a scrape shows in the next one, in all metrics alike', async (t) => {
  const counters = new AttemptCounters();
  let hosts = [host({}, counters)];
  const metrics = await startMetrics(
    ANY_PORT,
    nodeWith({
      stats: () => ({ hosts, browsers: [], threadRestarts: 0 }),
      async unreadyReasons() {
        await null;
        counters.count({ outcome: 'delivered', status_code: 204, error: null, duration_ms: 5 }, 10);
        hosts = [host({}, counters)];
        return [];
      },
    }),
  );
  t.teardown(() => metrics.stop());
  for (const delivered of [0, 1]) {
    const text = await (await fetch(`${metrics.url}/metrics`)).text();
    const line = (name: string) => new RegExp(`^connection_service_${name} ${delivered}$`, 'm');
    t.match(text, line('delivery_attempts_total\\{outcome="delivered",error="none"\\}'));
    t.match(text, line('delivery_attempt_duration_seconds_count\\{outcome="delivered"\\}'));
    t.match(text, line('delivery_latency_seconds_count'));
  }
});

t.test('each browser thread reports the memory of its browser and the pages it keeps', async (t) => {
  const counts = { contexts: 3, pages: 1, running: 1, queued: 0, restarts: 0, loop_lag_s: 0 };
  const browsers: BrowserStats[] = [
    { browser: 'running', ...counts, warm_pages: 4, memory_mib: 312 },
    { browser: 'none', ...counts, warm_pages: 0, memory_mib: 0 },
  ];
  const metrics = await startMetrics(ANY_PORT, nodeWith({ stats: () => ({ hosts: [], browsers, threadRestarts: 0 }) }));
  t.teardown(() => metrics.stop());
  const text = await (await fetch(`${metrics.url}/metrics`)).text();
  t.match(text, /^connection_service_browser_memory_bytes\{thread="0"\} 327155712$/m);
  t.match(text, /^connection_service_browser_memory_bytes\{thread="1"\} 0$/m);
  t.match(text, /^connection_service_browser_warm_pages\{thread="0"\} 4$/m);
  t.match(text, /^connection_service_browser_contexts 6$/m, 'the rest is added up');
});

t.test('deliveries are counted by outcome, class of error, duration and latency, within bounded labels', async (t) => {
  const [one, other] = [new AttemptCounters(), new AttemptCounters()];
  const delivered = { outcome: 'delivered', status_code: 204, error: null } as const;
  const failed = { outcome: 'failed', status_code: null } as const;
  one.count({ ...delivered, duration_ms: 5 }, 9_000);
  one.count({ ...failed, error: 'dns', duration_ms: 2 }, 10);
  one.count({ ...failed, error: 'timeout', duration_ms: 15_004 }, 20_000);
  other.count({ ...delivered, duration_ms: 30 }, -3);
  let hosts = [host({}, one, 2.5), host({}, other, 31)];
  const source = nodeWith({ stats: () => ({ hosts, browsers: [], threadRestarts: 0 }), untold_s: () => 7 });
  const metrics = await startMetrics(ANY_PORT, source);
  t.teardown(() => metrics.stop());
  const scrape = async () => (await fetch(`${metrics.url}/metrics`)).text();

  const first = await scrape();
  t.match(first, /^connection_service_delivery_attempts_total\{outcome="delivered",error="none"\} 2$/m);
  t.match(first, /^connection_service_delivery_attempts_total\{outcome="failed",error="dns"\} 1$/m);
  t.match(
    first,
    /^connection_service_delivery_attempts_total\{outcome="failed",error="blocked"\} 0$/m,
    'every class from the start',
  );
  t.match(first, /^# TYPE connection_service_delivery_attempt_duration_seconds histogram$/m);
  t.match(first, /^connection_service_delivery_attempt_duration_seconds_bucket\{outcome="delivered",le="0.005"\} 1$/m);
  t.match(first, /^connection_service_delivery_attempt_duration_seconds_bucket\{outcome="delivered",le="0.05"\} 2$/m);
  t.match(first, /^connection_service_delivery_attempt_duration_seconds_bucket\{outcome="failed",le="15"\} 1$/m);
  t.match(first, /^connection_service_delivery_attempt_duration_seconds_bucket\{outcome="failed",le="\+Inf"\} 2$/m);
  t.match(first, /^connection_service_delivery_attempt_duration_seconds_count\{outcome="failed"\} 2$/m);
  t.match(
    first,
    /^connection_service_delivery_latency_seconds_bucket\{le="0.01"\} 1$/m,
    'a clock that is behind counts as no time',
  );
  t.match(first, /^connection_service_delivery_latency_seconds_bucket\{le="10"\} 2$/m);
  t.match(first, /^connection_service_delivery_latency_seconds_sum 9$/m);
  t.match(first, /^connection_service_delivery_oldest_pending_seconds 31$/m, 'the oldest of all threads');
  t.match(first, /^connection_service_announcement_oldest_seconds 7$/m);
  t.match(first, /^connection_service_delivery_repairs_total\{what="job"\} 2$/m);
  t.match(first, /^connection_service_delivery_repairs_total\{what="attempt"\} 4$/m);
  const series = first.match(/^connection_service_delivery_\w+(\{.*\})? /gm) ?? [];
  t.equal(
    series.length,
    1 + 2 + 12 + 2 * (HISTOGRAM_BOUNDS.attempt_s.length + 3) + HISTOGRAM_BOUNDS.latency_s.length + 3,
  );
  t.notMatch(
    await scrape(),
    /^connection_service_delivery_latency_seconds_count [^2]$/m,
    'a second look counts nothing twice',
  );

  const replaced = new AttemptCounters();
  replaced.count({ ...delivered, duration_ms: 1 }, 40);
  hosts = [host({}, replaced), host({}, other)];
  const second = await scrape();
  t.match(second, /^connection_service_delivery_attempt_duration_seconds_count\{outcome="delivered"\} 3$/m);
  t.match(
    second,
    /^connection_service_delivery_attempt_duration_seconds_count\{outcome="failed"\} 2$/m,
    'nothing is taken back',
  );
  t.match(second, /^connection_service_delivery_oldest_pending_seconds 0$/m);
});

t.test('a scrape shows the metrics of the catalogue, and of the process the usual ones', async (t) => {
  const metrics = await startMetrics(
    ANY_PORT,
    nodeWith({ stats: () => ({ hosts: [host({})], browsers: [], threadRestarts: 0 }) }),
  );
  t.teardown(() => metrics.stop());
  const text = await (await fetch(`${metrics.url}/metrics`)).text();
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const own = shown.filter((line) => !/^(process|nodejs)_/.test(line));
  t.same(own.sort(), METRICS.map(({ name, type }) => `${name} ${type}`).sort());
  for (const { name, labels } of METRICS) {
    for (const [, pairs = ''] of text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))) {
      const used = [...pairs.matchAll(/(\w+)=/g)].map(([, label]) => label).filter((label) => label !== 'le');
      t.same(used.sort(), [...labels].sort(), `labels of ${name}`);
    }
  }
});

t.test('a port in use is one error, with the variable that decides it', async (t) => {
  const source = nodeWith({});
  const metrics = await startMetrics(ANY_PORT, source);
  t.teardown(() => metrics.stop());
  const port = Number(new URL(metrics.url).port);
  await t.rejects(startMetrics({ ...ANY_PORT, port }, source), { message: /^METRICS_PORT: .* the port is in use/ });
});

t.test('an address of another machine is one error, with the variable that decides it', async (t) => {
  const start = startMetrics({ host: '192.0.2.1', port: 0 }, nodeWith({}));
  await t.rejects(start, { message: /^METRICS_HOST: 192\.0\.2\.1 is no address of this machine/ });
});

t.test('readiness names what the node lacks, liveness does not look; HEAD is answered wherever GET is', async (t) => {
  const reasons = ['database', 'leases'];
  const metrics = await startMetrics({ host: '::1', port: 0 }, nodeWith({ unreadyReasons: async () => reasons }));
  t.teardown(() => metrics.stop());
  const ask = async (method: string, path: string) => {
    const answer = await fetch(metrics.url + path, { method });
    return { status: answer.status, length: answer.headers.get('content-length'), text: await answer.text() };
  };
  t.match(await ask('GET', '/readyz'), { status: 503, text: JSON.stringify({ status: 'unavailable', reasons }) });
  t.match(await ask('GET', '/metrics'), { status: 200, text: /^connection_service_node_ready 0$/m });
  t.match(await ask('GET', '/livez'), { status: 200, text: '{"status":"ok"}' });
  reasons.length = 0;
  t.match(await ask('GET', '/readyz?any=1'), { status: 200, text: '{"status":"ok"}' });
  for (const path of ['/readyz', '/livez', '/metrics']) {
    const head = await ask('HEAD', path);
    t.match(head, { status: 200, text: '' });
    if (path !== '/metrics') t.equal(head.length, (await ask('GET', path)).length);
    t.equal((await ask('POST', path)).status, 405);
  }
  for (const path of ['/', '/other', '/__proto__', '/constructor']) t.equal((await ask('GET', path)).status, 404);
});

t.test('what is erased by its age is shown by class', async (t) => {
  let erased = 500;
  const retained = () => ({ erased: { events: erased, gaps: 0 }, behind_s: { events: 90, gaps: 0.5 } });
  const metrics = await startMetrics(ANY_PORT, nodeWith({ retained }));
  t.teardown(() => metrics.stop());
  const scrape = async () => (await fetch(`${metrics.url}/metrics`)).text();
  await scrape();
  erased = 700;
  const second = await scrape();
  t.match(second, /^connection_service_retention_rows_erased_total\{class="events"\} 700$/m);
  t.match(second, /^connection_service_retention_rows_erased_total\{class="gaps"\} 0$/m);
  t.match(second, /^connection_service_retention_behind_seconds\{class="events"\} 90$/m);
});
