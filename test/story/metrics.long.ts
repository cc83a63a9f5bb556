import t from 'tap';
import { METRICS, PREFIX } from '../../server/metrics/catalogue.js';
import { eventually } from '../fixture/eventually.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { parseExposition } from '../server/metrics/exposition-text.js';
import { judgedByPromtool } from '../server/metrics/promtool.js';

t.test(
  'the metrics of a node at work: queues, durations, failures, unknown outcomes, connections, gaps, pools',
  async (t) => {
    const fixture = await serviceFixture(t, { ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false' });
    const { client, metricsUrl } = await startService(t, fixture);
    const text = async () => (await fetch(`${metricsUrl}/metrics`)).text();
    /** The value of a series, by its name without the prefix, with its labels. */
    const value = (metrics: string, series: string): number | undefined => {
      const line = metrics.split('\n').find((one) => one.startsWith(`connection_service_${series} `));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
    };
    /** The metrics, once the threads have reported what is wanted. */
    const shown = (wanted: Record<string, number>) =>
      eventually(
        JSON.stringify(wanted),
        async () => {
          const metrics = await text();
          const found = Object.fromEntries(Object.keys(wanted).map((series) => [series, value(metrics, series)]));
          return { metrics, found };
        },
        ({ found }) => Object.entries(wanted).every(([series, count]) => found[series] === count),
      );

    const simulated = (id: string) => client.connect({ provider: 'simulated', external_actor: { kind: 'person', id } });
    const [ann, slow] = [await simulated('ann'), await simulated('slow')];
    await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'US' });
    t.equal(
      value(await text(), 'operation_failures_total{error_code="parsing_error"}'),
      0,
      'every code from the start',
    );

    t.match(await client.run(ann, 'social.profile.get', { profile_id: 'bob' }), { status: 'succeeded' });
    t.match(await client.run(ann, 'social.profile.get', { profile_id: 'sim-fail-parsing_error' }), {
      status: 'failed',
    });
    const message = { recipient_actor_id: 'bob', body: 'sim-unknown' };
    const unknown = await client.run(ann, 'social.message.send', message);
    t.match(unknown, { status: 'outcome_unknown' });
    const challenged = await client.submit(ann, 'social.login', { reconnect: true });
    await client.settled(challenged.body.id);
    const held = await client.submit(slow, 'social.profile.get', { profile_id: 'sim-delay-60000' });
    for (const one of ['one', 'two']) await client.submit(slow, 'social.profile.get', { profile_id: one });

    const { metrics } = await shown({
      operations_queued: 2,
      operations_running: 1,
      mailbox_operations: 2,
      mailboxes_full: 0,
      'operations_finished_total{status="succeeded"}': 2,
      'operations_finished_total{status="outcome_unknown"}': 1,
      'operation_failures_total{error_code="parsing_error"}': 1,
      operations_unknown_outcome: 1,
      'connections{provider="simulated",health="ready"}': 2,
      'connections{provider="social",health="needs_login"}': 1,
      listener_gaps_open: 0,
      'operation_running_seconds_count{capability="social.profile.get",outcome="failed"}': 1,
      'operation_queued_seconds_count{capability="social.message.send",outcome="outcome_unknown"}': 1,
      'operation_batch_items_count{batch="boundary"}': 1,
      database_reachable: 1,
      database_outages_total: 0,
      node_ready: 1,
    });
    t.ok(value(metrics, 'operations_queued_oldest_seconds')! > 0);
    t.ok(value(metrics, 'operations_queued_oldest_seconds')! < 120);
    for (const pool of ['edge', 'control', 'actors', 'actors_relaxed']) {
      t.ok(value(metrics, `database_connections_idle{pool="${pool}"}`) !== undefined, pool);
      t.equal(value(metrics, `database_statement_failures_total{pool="${pool}",failure="no_connection"}`), 0);
    }
    for (const thread of ['main', 'actors-0', 'actors-1', 'browsers-0'])
      t.ok(value(metrics, `event_loop_lag_seconds{thread="${thread}"}`)! >= 0, thread);
    t.match(metrics, /^connection_service_build_info\{version="\d+\.\d+\.\d+",node="v\d+.*"\} 1$/m);
    const polled = 'method="GET",route="/v1/operations/{operation_id}",status="200"';
    t.ok(value(metrics, `http_long_poll_duration_seconds_count{${polled}}`)! >= 3, 'waits are counted apart');
    t.equal(value(metrics, `http_request_duration_seconds_count{${polled}}`), undefined, 'and not among requests');

    const families = parseExposition(metrics);
    const own = families
      .filter(({ name }) => !/^(process|nodejs)_/.test(name))
      .map(({ name, type, help }) => `${name} ${type} ${help}`);
    t.same(own.sort(), METRICS.map(({ name, type, meaning }) => `${name} ${type} ${meaning}`).sort());
    const lines = metrics.split('\n').filter((line) => line.includes(PREFIX)); // prom-client's own break its rules
    await judgedByPromtool(t, ['check', 'metrics'], { input: `${lines.join('\n')}\n` });

    t.match(await client.send('POST', `/v1/operations/${unknown.id}/reconcile`), { status: 200 });
    await shown({ 'operation_looks_total{found="none"}': 1 });
    await client.send('POST', `/v1/operations/${held.body.id}/cancel`);
    await shown({ operations_queued: 0, operations_queued_oldest_seconds: 0, operations_running: 0 });
  },
);
