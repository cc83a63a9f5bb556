import fc from 'fast-check';
import t, { type Test } from 'tap';
import { BOUNDS } from '../actors/capabilities/bounds.js';
import { bodies, headerValue, mutated, query, text } from './inputs.js';
import { type Fuzzed, fuzzed, type Reply, RUNS, SEED } from './session.js';

/**
 * Random requests against every route and every capability. Whatever is sent: no 5xx, an answer in time, JSON with a code
 * for a refusal, no row more or less after a refusal, and a service that is well afterwards.
 */

let tried = 0;
t.teardown(() => t.comment(`${tried} inputs, FUZZ_SEED=${SEED}, FUZZ_RUNS=${RUNS}`));

interface Target {
  method: string;
  path(ids: Fuzzed['ids']): string;
  /** A body that the route accepts. */
  valid?: Record<string, unknown>;
}

const SOCIAL = { provider: 'social', username: 'ann', password: 'secret', region: 'US' };
const TARGETS: readonly Target[] = [
  { method: 'GET', path: () => '/healthz' },
  { method: 'GET', path: () => '/v1/connections' },
  { method: 'POST', path: () => '/v1/connections', valid: SOCIAL },
  {
    method: 'POST',
    path: () => '/v1/connections',
    valid: { provider: 'simulated', external_actor: { kind: 'person', id: 'bob' } },
  },
  { method: 'GET', path: (ids) => `/v1/connections/${ids.connection}` },
  { method: 'PATCH', path: (ids) => `/v1/connections/${ids.connection}`, valid: { password: 'x', region: 'DE' } },
  { method: 'POST', path: (ids) => `/v1/connections/${ids.connection}/disconnect`, valid: { surprise: 1 } },
  { method: 'DELETE', path: (ids) => `/v1/connections/${ids.spare}`, valid: { surprise: 1 } },
  {
    method: 'POST',
    path: (ids) => `/v1/connections/${ids.connection}/operations`,
    valid: { capability: 'social.profile.get', input: { profile_id: 'ada' } },
  },
  { method: 'GET', path: () => '/v1/operations' },
  { method: 'GET', path: (ids) => `/v1/operations/${ids.operation}` },
  {
    method: 'POST',
    path: (ids) => `/v1/operations/${ids.operation}/challenge`,
    valid: { challenge_id: 'c', code: '000000' },
  },
  { method: 'POST', path: (ids) => `/v1/operations/${ids.operation}/cancel`, valid: { surprise: 1 } },
  { method: 'POST', path: (ids) => `/v1/operations/${ids.operation}/reconcile`, valid: { surprise: 1 } },
  {
    method: 'POST',
    path: (ids) => `/v1/accounts/${ids.connection}/linkedin/invite`,
    valid: { hash_id: 'bob', message: 'Hello', return_original: true },
  },
  { method: 'GET', path: (ids) => `/v1/connections/${ids.connection}/subscriptions` },
  {
    method: 'POST',
    path: (ids) => `/v1/connections/${ids.connection}/subscriptions`,
    valid: { event_types: ['message_sent'], callback_url: 'https://127.0.0.1/', secret: 's'.repeat(32) },
  },
  { method: 'GET', path: (ids) => `/v1/subscriptions/${ids.subscription}` },
  { method: 'PATCH', path: (ids) => `/v1/subscriptions/${ids.subscription}`, valid: { active: false } },
  { method: 'POST', path: (ids) => `/v1/subscriptions/${ids.subscription}/hold`, valid: { surprise: 1 } },
  { method: 'POST', path: (ids) => `/v1/subscriptions/${ids.subscription}/release`, valid: { surprise: 1 } },
  { method: 'POST', path: (ids) => `/v1/subscriptions/${ids.subscription}/rotate-secret`, valid: { surprise: 1 } },
  { method: 'POST', path: (ids) => `/v1/subscriptions/${ids.subscription}/test`, valid: { surprise: 1 } },
  { method: 'GET', path: (ids) => `/v1/connections/${ids.connection}/listener` },
  { method: 'GET', path: (ids) => `/v1/connections/${ids.connection}/events` },
  {
    method: 'POST',
    path: (ids) => `/v1/connections/${ids.connection}/simulated-events`,
    valid: { type: 'message_received', data: { conversation_id: 'c', message_body: 'b', delivered_at: 1 } },
  },
  { method: 'GET', path: (ids) => `/v1/events/${ids.event}` },
  { method: 'GET', path: (ids) => `/v1/subscriptions/${ids.subscription}/deliveries` },
  {
    method: 'POST',
    path: (ids) => `/v1/subscriptions/${ids.subscription}/replay-failed`,
    valid: { since: '2030-01-01T00:00:00Z' },
  },
  { method: 'GET', path: (ids) => `/v1/deliveries/${ids.delivery}` },
  { method: 'POST', path: (ids) => `/v1/deliveries/${ids.delivery}/replay`, valid: { surprise: 1 } },
];

/** What holds for every answer, whatever was asked. */
function sound({ status, text }: Reply): void {
  if (status >= 500) throw new Error(`${status} ${text.slice(0, 500)}`);
  if (status === 204 || text === '') return;
  const body = JSON.parse(text) as { code?: unknown; error?: { code?: unknown } };
  if (status >= 400 && typeof (body.code ?? body.error?.code) !== 'string') throw new Error(`no code: ${text}`);
}

/** Runs the property with the run's seed; a failure names its smallest input. */
async function holds<T>(
  t: Test,
  what: string,
  inputs: fc.Arbitrary<T>,
  runs: number,
  send: (input: T) => Promise<Reply>,
) {
  const property = fc.asyncProperty(inputs, async (input) => {
    tried++;
    sound(await send(input));
  });
  const result = await fc.check(property, { seed: SEED, numRuns: runs, interruptAfterTimeLimit: 100_000 });
  const input = Buffer.isBuffer(result.counterexample?.[0])
    ? result.counterexample[0].toString('latin1')
    : JSON.stringify(result.counterexample);
  const failure = `${what}: ${result.errorInstance} for ${String(input).slice(0, 500)} (seed ${SEED})`;
  t.notOk(result.failed, result.failed ? failure : `${what}: ${result.numRuns} inputs`);
}

async function unchanged(on: Fuzzed, send: () => Promise<Reply>): Promise<Reply> {
  const before = await on.rows();
  const reply = await send();
  if (reply.status < 400) return reply;
  const after = await on.rows();
  if (JSON.stringify(before) !== JSON.stringify(after)) {
    throw new Error(`${reply.status}, but rows changed: ${JSON.stringify({ before, after })}`);
  }
  return reply;
}

const shared = fuzzed(t);

t.test('no request to any route brings an unexpected failure or changes what it was refused for', async (t) => {
  const on = await shared;
  const each = Math.max(3, Math.ceil(RUNS / 5));
  for (const target of TARGETS) {
    const path = target.path(on.ids);
    const ordinary = { 'content-type': 'application/json' };
    if (target.valid) {
      await holds(t, `bodies of ${target.method} ${path}`, bodies(target.valid), each, (body) =>
        unchanged(on, () => {
          const headers = { ...ordinary, 'idempotency-key': `fuzz-${tried}`, prefer: 'respond-async' };
          return on.send(target.method, path, body, headers);
        }),
      );
    } else {
      await holds(t, `queries of ${target.method} ${path}`, query, each, (one) =>
        unchanged(on, () => on.send(target.method, `${path}?${one}`, undefined, {})),
      );
    }
  }
  const name = fc.constantFrom(
    ...['authorization', 'idempotency-key', 'prefer', 'x-request-id', 'content-type', 'content-encoding'],
    ...['user-agent', 'gateway-access-client-id', 'x-other'],
  );
  const post = { capability: 'social.profile.get', input: { profile_id: 'ada' } };
  await holds(t, 'headers', fc.tuple(name, headerValue), RUNS, ([name, value]) => {
    const headers = { 'idempotency-key': `header-${tried}`, [name]: value };
    const path = `/v1/connections/${on.ids.connection}/operations`;
    return on.send('POST', path, Buffer.from(JSON.stringify(post)), headers);
  });
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND');
  const paths = TARGETS.map((target) => target.path({ ...on.ids, connection: on.ids.event }));
  const somewhere = fc.oneof(
    fc.constantFrom(...paths),
    fc
      .tuple(fc.constantFrom(...paths), text)
      .map(([path, more]) => `${path}/${encodeURIComponent(more.toWellFormed())}`),
    text.map((id) => `/v1/operations/${encodeURIComponent(id.toWellFormed())}`),
    text.map((id) => `/v1/accounts/${encodeURIComponent(id.toWellFormed())}/linkedin/invite`),
    fc.constantFrom(
      '/v1/operations/%',
      '/v1/operations/%FF',
      '/v1/operations/%00',
      '//',
      '/v1/../v1/connections',
      '/%2e%2e/',
    ),
  );
  await holds(t, 'methods and paths', fc.tuple(method, somewhere), RUNS, ([method, path]) =>
    unchanged(on, () => on.send(method, path.slice(0, 3000), undefined, {})),
  );
  await on.well(t);
});

t.test('numbers that JSON can write and a double cannot hold are refused, not changed', async (t) => {
  const on = await shared;
  const path = `/v1/connections/${on.ids.connection}`;
  const submit = (capability: string, input: string) =>
    on.send('POST', `${path}/operations`, Buffer.from(`{"capability":"${capability}","input":${input}}`), {
      'content-type': 'application/json',
      'idempotency-key': `number-${tried++}`,
    });
  for (const number of ['1e400', '-1e400']) {
    const content = `{"conversation_id":"a","render_content_unions":[{"a":[{"b":${number}}]}]}`;
    t.equal((await submit('social.message.send', content)).status, 400, `render content with ${number}`);
    const filter = `{"titles":["a"],"yoe":{"min":${number}}}`;
    t.equal((await submit('social.recruiter.people.search', filter)).status, 400, `a recruiter filter of ${number}`);
    const event = Buffer.from(`{"type":"message_sent","data":{"a":${number}}}`);
    const simulated = await on.send('POST', `${path}/simulated-events`, event, { 'content-type': 'application/json' });
    t.equal(simulated.status, 400, `an event with ${number}`);
  }
  await on.well(t);
});

t.test('no input of any capability brings an unexpected failure, at submission or when its turn comes', async (t) => {
  const on = await shared;
  const { client } = on.service;
  const each = Math.max(3, Math.ceil(RUNS / 5));
  /** Operations whose input held a trigger, which may choose any end. */
  const triggered = new Set<string>();
  const connections: string[] = [];
  for (const [capability, { accepted }] of Object.entries(BOUNDS)) {
    // One connection each: what is accepted runs, and what it left behind is looked at below.
    const connection = await client.connect({
      provider: 'simulated',
      external_actor: { kind: 'person', id: capability },
    });
    connections.push(connection);
    const small = accepted.filter((input) => JSON.stringify(input).length < 5_000) as Record<string, unknown>[];
    const inputs = fc.oneof(
      fc.constantFrom(...small).chain((input) => mutated(Object.keys(input).length > 0 ? input : { surprise: 1 })),
      fc.constantFrom(...small).map((input) => JSON.stringify(input)),
    );
    await holds(t, capability, inputs, each, async (input) => {
      const body = Buffer.from(`{"capability":"${capability}","input":${input}}`);
      const headers = { 'content-type': 'application/json', 'idempotency-key': `${capability}-${tried}` };
      const reply = await on.send('POST', `/v1/connections/${connection}/operations`, body, headers);
      if (reply.status === 202 && input.includes('sim-')) triggered.add((JSON.parse(reply.text) as { id: string }).id);
      return reply;
    });
    const last = await client.run(connection, 'social.identity.get');
    t.equal(last.status, 'succeeded', `${capability}: everything accepted has ended`);
  }
  const ended = await on.db.query<{ status: string; error_code: string | null; count: number }>(
    'testEnded',
    `select status, error_code, count(*)::int as count from operation
     where connection_id = any($2::uuid[]) and status not in ('succeeded', 'skipped') and id <> all($1::uuid[])
     group by 1, 2`,
    [[...triggered], connections],
  );
  const unexpected = ended.filter((one) => one.status !== 'failed' || one.error_code === 'internal_error');
  t.comment(ended);
  t.strictSame(unexpected, [], 'what was accepted succeeded, or failed for a reason');
  await on.well(t);
});
