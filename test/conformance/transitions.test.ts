import t, { type Test } from 'tap';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { type Client, control, type Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { insertLaterJob, jobState } from '../fixture/jobs.js';
import { insertDeliveries } from '../server/rows.js';
import * as fields from './fields.js';
import { person, type TableFixture, tableFixture } from './table.js';

/** The tables of "States and transitions", row by row, and the transitions that OPS-1 adds. */

const steps = (operation: Operation) => operation.timeline.map(({ from, to }) => [from, to]);
const read = async (client: Client, id: unknown) =>
  (await client.send('GET', `/v1/operations/${id}`)).body as unknown as Operation;

const running = (client: Client, id: unknown) =>
  eventually(
    'the operation runs',
    () => read(client, id),
    ({ status }) => status === 'running',
  );

/** How an operation of each kind runs to its end: what is submitted, what it goes through, how its attempt ends. */
const ENDS: [row: string, input: string, through: string[], attempt: string[], also: object][] = [
  ['running → succeeded', 'ada', ['running', 'succeeded'], ['succeeded', 'done'], { evidence: null }],
  [
    'running → failed',
    'sim-fail-parsing_error',
    ['running', 'failed'],
    ['failed', 'reading'],
    { result: null, evidence: null },
  ],
  [
    'running → skipped',
    'sim-skip-self_target',
    ['running', 'skipped'],
    ['succeeded', 'done'],
    { error_code: null, evidence: null },
  ],
];

t.test('Operation status', async (t) => {
  const on = await tableFixture(t);
  const { client } = on.service;
  const ada = await client.connect(person('ada'));
  const profile = (id: string) => client.submit(ada, 'social.profile.get', { profile_id: id });

  await t.test('(none), operation submit with a new idempotency key → queued, 202', async (t) => {
    const submitted = await profile('ada');
    t.match(submitted, { status: 202, body: { status: 'queued', timeline: [{ from: null, to: 'queued' }] } });
  });
  for (const [row, input, through, [status, phase], also] of ENDS) {
    await t.test(`${row} (OPS-1)`, async (t) => {
      const done = await client.run(ada, 'social.profile.get', { profile_id: input });
      t.strictSame(
        steps(done).map(([, to]) => to),
        ['queued', ...through],
      );
      t.match(done, { status: through.at(-1), attempts: [{ number: 1, status, phase }], ...also });
    });
  }
  await t.test('a structured skip reason is the result (OPS-7)', async (t) => {
    for (const reason of ['already_connected', 'invitation_pending', 'self_target']) {
      const done = await client.run(ada, 'social.profile.get', { profile_id: `sim-skip-${reason}` });
      t.match(done, { status: 'skipped', result: { reason } });
    }
  });
  await t.test('queued, cancel request → canceled; running, cancel request → cancel_requested', async (t) => {
    const slow = await profile('sim-delay-60000');
    const queued = await profile('behind');
    await running(client, slow.body.id);
    const canceled = await client.send('POST', `/v1/operations/${queued.body.id}/cancel`);
    t.match(canceled.body, { status: 'canceled', attempts: [] });
    t.strictSame(steps(canceled.body as unknown as Operation), [
      [null, 'queued'],
      ['queued', 'canceled'],
    ]);
    const asked = await client.send('POST', `/v1/operations/${slow.body.id}/cancel`);
    t.equal(asked.body.cancel_requested, true);
    const done = await client.settled(slow.body.id);
    t.match(done, { status: 'canceled', cancel_requested: true, attempts: [{ status: 'abandoned' }], evidence: null });
  });
  await t.test('waiting_user, cancel request → unchanged with cancel_requested; the worker ends it', async (t) => {
    const login = await client.submit(ada, 'social.recruiter.switch', { contract: 'sim-challenge-email' });
    const { challenge } = await client.settled(login.body.id);
    const asked = await client.send('POST', `/v1/operations/${login.body.id}/cancel`);
    t.match(asked, { status: 200, body: { cancel_requested: true } });
    const code = { challenge_id: challenge?.id, code: '000000' };
    const late = await client.send('POST', `/v1/operations/${login.body.id}/challenge`, code);
    t.strictSame([late.status, late.body], [409, { code: 'challenge_not_accepting_code' }]);
    t.match(await client.answered(login.body.id, challenge?.id ?? ''), { status: 'canceled' });
  });
  for (const kind of ['email', 'sms', 'authenticator']) {
    await t.test(`waiting_user, ${kind} code accepted → continues`, async (t) => {
      const submitted = await client.submit(ada, 'social.recruiter.switch', { contract: `sim-challenge-${kind}` });
      const waiting = await client.settled(submitted.body.id);
      t.strictSame(Object.keys(waiting.challenge ?? {}), ['id', 'kind', 'expires_at', 'accepts_code']);
      t.match(waiting.challenge, { kind, accepts_code: true });
      const code = { challenge_id: waiting.challenge?.id, code: '000000' };
      t.equal((await client.send('POST', `/v1/operations/${waiting.id}/challenge`, code)).status, 202);
      const done = await client.answered(waiting.id, waiting.challenge?.id ?? '');
      t.match(done, { status: 'succeeded', challenge: null, result: { recruiter_ready: true } });
      t.strictSame(
        steps(done).map(([, to]) => to),
        ['queued', 'running', 'waiting_user', 'running', 'succeeded'],
      );
    });
  }
  await t.test('waiting_user, captcha takes no code (OPS-10)', async (t) => {
    const submitted = await client.submit(ada, 'social.recruiter.switch', { contract: 'sim-challenge-captcha' });
    const { challenge } = await client.settled(submitted.body.id);
    t.match(challenge, { kind: 'captcha', accepts_code: false });
    const code = { challenge_id: challenge?.id, code: '000000' };
    const refused = await client.send('POST', `/v1/operations/${submitted.body.id}/challenge`, code);
    t.strictSame([refused.status, refused.body], [409, { code: 'challenge_not_accepting_code' }]);
    await client.send('POST', `/v1/operations/${submitted.body.id}/cancel`);
    await client.answered(submitted.body.id, challenge?.id ?? '');
  });
  await t.test('running → outcome_unknown, and outcome_unknown, reconcile request → stays', async (t) => {
    const write = { recipient_actor_id: 'bob', body: 'sim-unknown' };
    const unknown = await client.run(ada, 'social.message.send', write);
    t.match(unknown, { status: 'outcome_unknown', error_code: null, attempts: [{ status: 'outcome_unknown' }] });
    t.equal(unknown.attempts[0]?.phase, 'dispatching', 'no answer came (OPS-11)');
    const { evidence } = unknown;
    t.strictSame(
      [Object.keys(evidence ?? {}), Object.keys(evidence?.worker ?? {})],
      [fields.EVIDENCE, fields.WORKER],
      'it has evidence (OPS-22)',
    );
    t.match(evidence, { boundary_at: fields.TIMESTAMP, request: { sent: 'yes', at: fields.TIMESTAMP } });
    t.match(evidence, { answer: null, fault: 'connection_lost', worker: { thread: /^actors-/ } });
    t.equal(evidence?.worker.attempt_id, unknown.attempts[0]?.id);
    const reconciled = await client.send('POST', `/v1/operations/${unknown.id}/reconcile`);
    const looked = { ...evidence, look: { at: fields.TIMESTAMP, found: 'none', reason: null, matches: [] } };
    t.match(reconciled, { status: 200, body: { status: 'outcome_unknown', evidence: looked } });
    const slow = await profile('sim-delay-60000');
    await running(client, slow.body.id);
    const busy = await client.send('POST', `/v1/operations/${unknown.id}/reconcile`);
    t.strictSame([busy.status, busy.body], [409, { code: 'connection_busy' }]);
    await client.send('POST', `/v1/operations/${slow.body.id}/cancel`);
    await client.settled(slow.body.id);
  });
  await t.test('queued, connection disconnect → canceled', async (t) => {
    // Nothing runs and yet something waits only for a moment, before its owner has heard of it: here it is not due.
    await eventually(
      'its mailbox is closed',
      () => jobState(on.db, ada),
      (state) => state === undefined,
    );
    const [waiting] = await on.db.query<{ id: string; partition: number }>(
      'testQueued',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
       select gen_random_uuid(), workspace_id, id, partition, 'social.identity.get', 'queued', 'put', '\\x00', '{}'
       from connection where id = $1 returning id, partition`,
      [ada],
    );
    const { id = '', partition = 0 } = waiting ?? {};
    await insertLaterJob(on.db, 'mailbox', partition, ada);
    t.equal((await client.send('POST', `/v1/connections/${ada}/disconnect`)).status, 200);
    t.match(await read(client, id), { status: 'canceled', timeline: [{ from: 'queued', to: 'canceled' }] });
  });
});

t.test('Connection health', async (t) => {
  const on = await tableFixture(t);
  const { client, sandboxUrl } = on.service;
  const connection = await client.connect({ provider: 'social', username: 'iris', password: 'sandbox', region: 'US' });
  const shown = async () => (await client.send('GET', `/v1/connections/${connection}`)).body;
  const login = () => client.run(connection, 'social.login');

  t.match(
    await shown(),
    { health: 'needs_login', state_revision: 0 },
    '(none), create a social connection → needs_login',
  );
  const refused = await client.run(connection, 'social.identity.get');
  t.match(refused, { status: 'failed', error_code: 'connection_not_ready' }, 'its turn comes, not ready (OPS-6)');
  t.match(await login(), { status: 'succeeded', result: { reason: 'login_succeeded', state_revision: 1 } });
  t.match(await shown(), { health: 'ready', state_revision: 1 }, 'any, login succeeds → ready');
  t.match(
    await login(),
    { status: 'succeeded', result: { state_revision: 1 } },
    'a live session is verified (CONN-11)',
  );
  const recruiter = await client.run(connection, 'social.recruiter.people.search', { titles: ['Engineer'] });
  t.match(recruiter, { status: 'failed', error_code: 'recruiter_not_ready' }, 'recruiter reads need its own readiness');

  const fault = { account: 'iris', capability: 'social.health.check', mode: 'logged_out', times: 1 };
  await control(sandboxUrl, 'POST', '/faults', fault);
  const checked = await client.run(connection, 'social.health.check');
  t.match(checked, { status: 'failed', error_code: 'authentication_failed' });
  t.match(
    await shown(),
    { health: 'needs_login' },
    'ready, health check fails on authentication → needs_login (CONN-8)',
  );
  t.match(await login(), { status: 'succeeded', result: { state_revision: 2 } });
  await control(sandboxUrl, 'POST', '/faults', { ...fault, mode: 'error', status: 500, times: 5 });
  t.match(await client.run(connection, 'social.health.check'), { status: 'failed', error_code: 'upstream_error' });
  await control(sandboxUrl, 'DELETE', '/faults');
  t.match(await shown(), { health: 'ready' }, 'other failures only fail the operation');

  const patched = await client.send('PATCH', `/v1/connections/${connection}`, { region: 'DE' });
  t.match(patched, { status: 200, body: { health: 'needs_login', region: 'DE', state_revision: 3 } });
  const [version] = await on.db.query<{ version: number }>(
    'testVersion',
    'select credential_version as version from connection where id = $1',
    [connection],
  );
  t.equal(version?.version, 1, 'any, PATCH with a real change → needs_login; the credential version increments');
  t.match(await login(), { status: 'succeeded', result: { state_revision: 4 } });
  t.match(await shown(), { session_proxy: { region: 'DE', matches_region: true } });

  const gone = await client.send('POST', `/v1/connections/${connection}/disconnect`);
  t.strictSame([gone.status, gone.body], [200, { health: 'needs_login' }]);
  t.match(await shown(), { health: 'needs_login', state_revision: 5 }, 'any, disconnect → needs_login');
  const listener = await client.send('GET', `/v1/connections/${connection}/listener`);
  t.match(listener.body, { stream_status: 'stopped', connection_health: 'needs_login' }, 'the listener is stopped');
  const kept = await client.send('GET', `/v1/operations?connection_id=${connection}`);
  t.ok((kept.body.operations as object[]).length >= 8, 'history is kept');
});

/** A simulated connection with a subscription whose receiver accepts or refuses. */
async function subscribed(
  t: Test,
): Promise<{ on: TableFixture; callbacks: Awaited<ReturnType<typeof receiveCallbacks>> }> {
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t);
  const { client } = on.service;
  on.names.ada = await client.connect(person('ada'));
  const created = await client.send('POST', `/v1/connections/${on.names.ada}/subscriptions`, {
    event_types: ['message_received'],
    callback_url: callbacks.url,
    secret: callbacks.secret,
  });
  on.names.subscription = String(created.body.id);
  return { on, callbacks };
}

const event = (on: TableFixture) =>
  on.call({ send: 'POST /v1/connections/{ada}/simulated-events', body: { type: 'message_received', data: {} } });

async function deliveries(on: TableFixture): Promise<Record<string, unknown>[]> {
  const { body } = await on.call({ send: 'GET /v1/subscriptions/{subscription}/deliveries' });
  return body.deliveries as Record<string, unknown>[];
}

/** Resolves once the newest delivery has these fields. */
const newest = (on: TableFixture, wanted: { status: string; attempt_count?: number }) =>
  eventually(
    `the newest delivery is ${JSON.stringify(wanted)}`,
    async () => (await deliveries(on))[0],
    (one) => Object.entries(wanted).every(([field, value]) => one?.[field] === value),
  );

t.test('Subscription', async (t) => {
  const { on } = await subscribed(t);
  const patch = (active: boolean) => on.call({ send: 'PATCH /v1/subscriptions/{subscription}', body: { active } });
  const stored = await insertDeliveries(on.db, on.names.subscription ?? '', ['pending', 'sending', 'failed']);
  t.match(await patch(false), { status: 200, body: { active: false } }, 'active, PATCH active false → inactive');
  const after = (await deliveries(on)).map(({ id, status }) => [id, status]);
  const wanted = ['canceled', 'canceled', 'failed'].map((status, i) => [stored.deliveries[i], status]).reverse();
  t.strictSame(after, wanted, 'pending and sending deliveries become canceled');
  t.match(await patch(true), { status: 200, body: { active: true } }, 'inactive, PATCH active true, ready → active');
  await insertDeliveries(on.db, on.names.subscription ?? '', ['pending']);
  await on.call({ send: 'POST /v1/connections/{ada}/disconnect' });
  const disconnected = await on.call({ send: 'GET /v1/subscriptions/{subscription}' });
  t.match(
    disconnected.body,
    { active: false, delivery_counts: { pending: 0, sending: 0, canceled: 3, failed: 1 } },
    'active, connection disconnect → inactive; pending deliveries are cancelled (CONN-6)',
  );
  const sue = await on.service.client.connect({ provider: 'social', username: 'sue', password: 'p', region: 'US' });
  await on.db.query('testMove', 'update subscription set connection_id = $2 where id = $1', [
    on.names.subscription,
    sue,
  ]);
  const unready = await patch(true);
  t.strictSame([unready.status, unready.body], [409, { code: 'connection_not_ready' }], 'not ready → unchanged');
});

t.test('Delivery', async (t) => {
  const { on, callbacks } = await subscribed(t);
  await event(on);
  await callbacks.next((one) => one.verified);
  await newest(on, { status: 'delivered' });
  const [accepted] = await deliveries(on);
  const detail = await on.call({ send: `GET /v1/deliveries/${accepted?.id}` });
  t.match(
    detail.body,
    { status: 'delivered', attempt_count: 1, last_error: null, next_attempt_at: null, attempts: [{ sequence: 1 }] },
    'pending, attempt made → sending, 2xx response → delivered',
  );
  t.match(detail.body.attempts, [{ outcome: 'delivered', status_code: 204, error: null }]);

  callbacks.refuse(true);
  await event(on);
  await newest(on, { status: 'pending', attempt_count: 1 });
  const [refused] = await deliveries(on);
  const first = (await on.call({ send: `GET /v1/deliveries/${refused?.id}` })).body;
  const [attempt] = first.attempts as { completed_at: string; status_code: number; outcome: string }[];
  const waits = Date.parse(String(first.next_attempt_at)) - Date.parse(attempt?.completed_at ?? '');
  t.match(
    first,
    { status: 'pending', attempts: [{ outcome: 'failed', status_code: 503 }] },
    'non-2xx → pending (retry)',
  );
  t.equal(Math.round(waits / 100), 10, `the first wait is one second, it was ${waits} ms`);
  callbacks.refuse(false);
  await newest(on, { status: 'delivered' });
  const retried = (await on.call({ send: `GET /v1/deliveries/${refused?.id}` })).body;
  t.match(retried, { attempt_count: 2, attempts: [{ sequence: 1 }, { sequence: 2, outcome: 'delivered' }] });

  const stored = await insertDeliveries(on.db, on.names.subscription ?? '', ['failed']);
  const replayed = await on.call({ send: `POST /v1/deliveries/${stored.deliveries[0]}/replay` });
  t.match(
    replayed,
    { status: 202, body: { status: 'pending', replay_count: 1 } },
    'failed, replay request → queued again',
  );
  await newest(on, { status: 'delivered' });
  t.equal((await deliveries(on))[0]?.id, stored.deliveries[0], 'the same delivery');
});
