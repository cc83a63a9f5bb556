import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { authority } from '../fixture/certificates.js';
import type { Client, Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { type Receiver, receiver } from '../fixture/https-receiver.js';
import { type RunningService, serviceFixture, startService } from '../fixture/service.js';
import { attribute, type CollectedSpan, traceCollector } from '../fixture/trace-collector.js';
import { connect, trusting } from '../fixture/webhooks.js';

const ADMIN = fileURLToPath(new URL('../../server/admin.js', import.meta.url));
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const ROUTE = '/v1/connections/{connection_id}/operations';

interface Line {
  level: number;
  msg: string;
  request_id?: string;
  operation_id?: string;
  [field: string]: unknown;
}

const lines = ({ stderr }: RunningService): Line[] =>
  stderr()
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

/** The first line that holds all this, once it is written. */
const line = async (service: RunningService, wanted: Partial<Line>): Promise<Line> =>
  (await eventually(
    `a line has ${JSON.stringify(wanted)}`,
    async () => lines(service).find((one) => Object.entries(wanted).every(([name, value]) => one[name] === value)),
    (found) => found !== undefined,
  )) as Line;

t.test('a request leads to its operation and its callback, and back', async (t) => {
  const certificates = await authority();
  const hook = await receiver(t, await certificates.issue({ ip: '127.0.0.1' }));
  const env = { ...(await trusting(t, certificates.ca)), CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32', LOG_LEVEL: 'info' };
  const fixture = await serviceFixture(t, env);
  const service = await startService(t, fixture);
  const { client } = service;
  const connection = await connect(client);
  await client.send('POST', `/v1/connections/${connection}/subscriptions`, {
    ...{ event_types: ['message_sent', 'message_received'], callback_url: `https://127.0.0.1:${hook.port}/` },
  });
  const submit = (requestId: string, body: string, headers: object = {}) =>
    client.send(
      'POST',
      `/v1/connections/${connection}/operations`,
      { capability: 'social.message.send', input: { recipient_actor_id: 'friend', body } },
      { 'Idempotency-Key': randomUUID(), 'X-Request-Id': requestId, ...headers },
    );
  const sent = await submit('mine "1"', 'hello', { traceparent: TRACEPARENT });
  const ended = await client.settled(sent.body.id);
  t.equal(ended.status, 'succeeded');
  const ids = { workspace_id: fixture.workspaceId, connection_id: connection, operation_id: ended.id };
  const origin = { request_id: 'mine "1"', trace_id: TRACE };

  t.match(await line(service, { msg: 'request', request_id: 'mine "1"' }), {
    ...{ level: 30, time: Number, thread: 'main', method: 'POST', route: ROUTE, status: 202, duration_ms: Number },
    ...{ ...ids, ...origin, key_id: /^[0-9a-f-]{36}$/ },
  });
  t.match(await line(service, { msg: 'operation ended', operation_id: ended.id }), {
    ...{ level: 30, status: 'succeeded', error_code: null, capability: 'social.message.send', attempts: 1 },
    ...{ queued_ms: Number, running_ms: Number, ...ids, ...origin, thread: /^actors-/ },
  });
  await hook.arrived(1);
  t.equal(
    hook.received[0]?.headers.traceparent,
    TRACEPARENT,
    'the event belongs to the trace of the operation that caused it',
  );

  await t.test('what went wrong says so', async (t) => {
    const failed = (await submit('failing', 'sim-fail-upstream_error')).body.id;
    const unknown = (await submit('unknown', 'sim-unknown')).body.id;
    t.match(await line(service, { msg: 'operation ended', operation_id: failed as string }), {
      ...{ level: 30, status: 'failed', error_code: 'upstream_error', request_id: 'failing' },
    });
    t.match(await line(service, { msg: 'operation ended', operation_id: unknown as string }), {
      ...{ level: 40, status: 'outcome_unknown', error_code: null },
    });
    const wrong = await client.send('POST', `/v1/connections/${connection}/operations`, { capability: 'none' });
    t.match(await line(service, { request_id: wrong.headers['x-request-id'] as string }), {
      ...{ status: 400, error_code: 'validation_error', connection_id: connection },
    });
    await client.send('GET', '/v1/operations/hunter2', undefined, { 'X-Request-Id': 'no id' });
    t.notOk('operation_id' in (await line(service, { request_id: 'no id' })), 'what is no id is not repeated');
    await submit('untraced', 'hello', { traceparent: `${TRACEPARENT}-more` });
    t.notOk('trace_id' in (await line(service, { request_id: 'untraced' })), 'a header that is not valid is none');
    const queued = await submit('queued', 'sim-delay-20000');
    const behind = (await submit('behind', 'hello')).body.id;
    await client.send('POST', `/v1/operations/${behind}/cancel`);
    t.match(await line(service, { msg: 'operation ended', operation_id: behind as string }), {
      ...{ status: 'canceled', attempts: 0, request_id: 'behind' },
    });
    await client.send('POST', `/v1/operations/${queued.body.id}/cancel`);
  });

  await t.test('operators find it by either id', async (t) => {
    const admin = async (...args: string[]) =>
      JSON.parse(
        (
          await promisify(execFile)(process.execPath, [ADMIN, ...args], {
            env: { ...fixture.env, LOG_LEVEL: 'fatal', PATH: process.env.PATH },
          })
        ).stdout,
      );
    const found = await admin('request', 'find', '--request-id', 'mine "1"', '--since', '1h');
    t.match(found, { operations: [{ operation_id: ended.id, status: 'succeeded' }], complete: true });
    t.equal(found.operations.length, 1);
    const ofOther = await admin('request', 'find', '--request-id', 'mine "1"', '--workspace', randomUUID());
    t.match(ofOther, { operations: [], examined: 0, complete: true });
    const shown = await admin('operation', 'show', '--operation', ended.id);
    t.match(shown, {
      ...{ ...ids, request_id: 'mine "1"', traceparent: TRACEPARENT, status: 'succeeded', looked: false },
      ...{ attempts: [{ number: 1, boundary: { thread: /^actors-/ } }], timeline: [{ to: 'queued' }, {}, {}] },
      ...{ owner: { node_id: /^[0-9a-f-]{36}$/ } },
    });
    t.notMatch(JSON.stringify(shown), 'hello');
  });

  await t.test('health is asked without a line', async (t) => {
    await client.send('GET', '/healthz');
    await client.send('GET', '/v1/connections', undefined, { 'X-Request-Id': 'after health' });
    await line(service, { request_id: 'after health' });
    t.notOk(lines(service).some(({ route }) => route === '/healthz'));
  });
  await t.test('a reader of the log that stands still holds nothing up', async (t) => {
    const before = lines(service).length;
    service.process.stderr?.pause();
    const long = 'x'.repeat(128); // of which the socket holds some hundred
    for (let round = 0; round < 40; round++) {
      const asked = Array.from({ length: 25 }, () =>
        client.send('GET', '/v1/connections', undefined, { 'X-Request-Id': long }),
      );
      for (const { status } of await Promise.all(asked)) if (status !== 200) t.fail(`${status}`);
    }
    t.match(await client.run(connection, 'social.identity.get'), { status: 'succeeded' });
    service.process.stderr?.resume();
    await eventually(
      'every line is there',
      async () => lines(service).length - before,
      (count) => count > 1_000,
    );
  });
  t.equal(await service.stop(), 0);
  t.equal(lines(service).at(-1)?.msg, 'stopped', 'the end flushes what was not written yet');
});

t.test('of what went well a share is logged, requests with the ends of their operations', async (t) => {
  const certificates = await authority();
  const hook = await receiver(t, await certificates.issue({ ip: '127.0.0.1' }));
  const collector = await traceCollector(t);
  const fixture = await serviceFixture(t, {
    ...(await trusting(t, certificates.ca)),
    ...{ CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32', LOG_LEVEL: 'info', LOG_SAMPLE: '0.5' },
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const service = await startService(t, fixture);
  const { client } = service;
  const connection = await connect(client);
  const run = async (n: number): Promise<Operation> => {
    const fails = n % 10 === 0;
    const input = { profile_id: fails ? 'sim-fail-upstream_error' : 'ada' };
    const headers = { 'Idempotency-Key': randomUUID(), 'X-Request-Id': `request-${n}` };
    const body = { capability: 'social.profile.get', input };
    const { body: submitted } = await client.send('POST', `/v1/connections/${connection}/operations`, body, headers);
    return client.settled(submitted.id);
  };
  const operations = await Promise.all(Array.from({ length: 100 }, (_, n) => run(n)));
  const traced = await tracedMessage(client, connection, hook);
  t.equal(await service.stop(), 0);
  const of = (msg: string) => lines(service).filter((one) => one.msg === msg);
  const requests = new Set(of('request').map(({ request_id }) => request_id));
  const ends = of('operation ended');
  const ok = ends.filter(({ status }) => status === 'succeeded');
  t.ok(ok.length > 20 && ok.length < 70, `${ok.length} of 90`);
  t.strictSame(
    ok.flatMap(({ request_id }) => (request_id?.startsWith('request-') ? [request_id] : [])).sort(),
    [...requests].filter((id) => id?.startsWith('request-') && !id.endsWith('0')).sort(),
  );
  const failed = operations.filter(({ status }) => status === 'failed').length;
  t.equal(ends.filter(({ status }) => status === 'failed').length, failed, 'every failure');
  t.equal(failed, 10);

  await t.test('spans lead from the request of a trace to the operation and its callback', async (t) => {
    const trace = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => trace.find((span) => span.name === name) as CollectedSpan;
    const [request, operation, queued, attempt, callback] = [
      ...[`POST ${ROUTE}`, 'operation social.message.send', 'queued', 'attempt 1', 'callback'].map(named),
    ] as [CollectedSpan, CollectedSpan, CollectedSpan, CollectedSpan, CollectedSpan];
    t.equal(request.parentSpanId, '00f067aa0ba902b7', 'the span of the caller');
    t.equal(operation.parentSpanId, request.spanId);
    for (const part of [queued, attempt, callback]) t.equal(part.parentSpanId, operation.spanId, part.name);
    t.equal(attribute(operation, 'operation.id'), traced.id);
    t.equal(attribute(request, 'operation.id'), traced.id);
    t.equal(attribute(callback, 'http.response.status_code'), '204');
    t.equal(traced.traceparent, `00-${TRACE}-${callback.spanId}-01`, 'what the receiver got');
    t.ok(BigInt(operation.endTimeUnixNano) >= BigInt(attempt.startTimeUnixNano));
    const failures = collector.spans.filter(({ name, status }) => name.startsWith('operation ') && status.code === 2);
    t.equal(failures.length, failed);
    const traces = new Set(collector.spans.map(({ traceId }) => traceId));
    t.ok(traces.size > 100, 'a request without a trace begins one');
    t.notMatch(JSON.stringify(collector.spans), 'hello');
  });
});

/** A message under the trace: its operation, and the traceparent that came with its callback. */
async function tracedMessage(client: Client, connection: string, hook: Receiver) {
  await client.send('POST', `/v1/connections/${connection}/subscriptions`, {
    ...{ event_types: ['message_sent'], callback_url: hook.url },
  });
  const { body } = await client.send(
    'POST',
    `/v1/connections/${connection}/operations`,
    { capability: 'social.message.send', input: { recipient_actor_id: 'friend', body: 'hello' } },
    { 'Idempotency-Key': randomUUID(), traceparent: TRACEPARENT },
  );
  await hook.arrived(1);
  return { ...(await client.settled(body.id)), traceparent: hook.received[0]?.headers.traceparent };
}
