import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../actors/limits.js';
import { addProxy, removeProxy } from '../../../../storage/connections/proxies.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { jobIds } from '../../../fixture/jobs.js';
import { insertSimulated, insertSocial, insertWorkspace, pinConnection } from '../../../fixture/rows.js';
import { insertKey, startTestEdge } from '../../edge-fixture.js';
import { insertDeliveries, makeReady } from '../../rows.js';

const HOOK = { event_types: ['message_received', 'message_sent'], callback_url: 'https://127.0.0.1/hook' };

async function startWithConnection(t: Parameters<typeof startTestEdge>[0]) {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const subscribe = (body: object = HOOK) => edge.call('POST', `/v1/connections/${id}/subscriptions`, { body });
  return { ...edge, connectionId: id, subscribe };
}

t.test('a subscription shows its secret once', async (t) => {
  const { call, subscribe, connectionId, system } = await startWithConnection(t);
  const created = await subscribe();
  t.equal(created.status, 201);
  const { secret, signing_secret, ...shown } = created.json;
  t.match(secret, /^[A-Za-z0-9_-]{43}$/);
  t.equal(signing_secret, `whsec_${Buffer.from(String(secret)).toString('base64')}`);
  t.match(shown, { connection_id: connectionId, ...HOOK, active: true });
  t.strictSame(system.hints, [], 'no session is fenced');
  const read = await call('GET', `/v1/subscriptions/${shown.id}`);
  t.strictSame(read.json, {
    ...shown,
    delivery_counts: { pending: 0, sending: 0, delivered: 0, failed: 0, canceled: 0 },
  });
  t.strictSame((await call('GET', `/v1/connections/${connectionId}/subscriptions`)).json, { subscriptions: [shown] });
  const given = await subscribe({ ...HOOK, secret: 's'.repeat(32) });
  t.equal(given.json.secret, 's'.repeat(32));
});

t.test('what a subscription is created from is checked field by field, and secrets are not repeated', async (t) => {
  const { subscribe } = await startWithConnection(t);
  const refused: [body: object, path: string][] = [
    [{ ...HOOK, event_types: [] }, 'body.event_types'],
    [{ ...HOOK, event_types: ['message_sent', 'message_sent'] }, 'body.event_types'],
    [{ ...HOOK, event_types: ['other'] }, 'body.event_types[0]'],
    [{ ...HOOK, callback_url: 'http://127.0.0.1/' }, 'body.callback_url'],
    [{ ...HOOK, callback_url: 'https://127.0.0.1/?q=1' }, 'body.callback_url'],
    [{ ...HOOK, callback_url: 'https://127.0.0.1/#f' }, 'body.callback_url'],
    [{ ...HOOK, callback_url: 'https://10.0.0.1/' }, 'body.callback_url'],
    [{ ...HOOK, secret: 'short' }, 'body.secret'],
    [{ ...HOOK, secret: 's'.repeat(256) }, 'body.secret'],
    [{ ...HOOK, active: true }, 'body.active'],
  ];
  for (const [body, path] of refused) {
    const reply = await subscribe(body);
    t.equal(reply.status, 400, path);
    t.ok(
      reply.json.errors.some((error) => error.path.startsWith(path)),
      `${path}: ${reply.text}`,
    );
    t.notMatch(reply.text, /short|sss/);
  }
});

t.test('a subscription is active while its connection is ready', async (t) => {
  const { call, db } = await startTestEdge(t);
  const body = { provider: 'social', username: 'ann', password: 'sandbox', region: 'US' };
  const connection = (await call('POST', '/v1/connections', { body })).json;
  const { id, active } = (await call('POST', `/v1/connections/${connection.id}/subscriptions`, { body: HOOK })).json;
  t.equal(active, false);
  const refused = await call('PATCH', `/v1/subscriptions/${id}`, { body: { active: true } });
  t.strictSame([refused.status, refused.json], [409, { code: 'connection_not_ready' }]);
  await makeReady(db, connection.id);
  t.match((await call('PATCH', `/v1/subscriptions/${id}`, { body: { active: true } })).json, { id, active: true });
  for (const wrong of [{}, { active: 1 }, { active: true, secret: 'x' }]) {
    t.equal((await call('PATCH', `/v1/subscriptions/${id}`, { body: wrong })).status, 400);
  }
});

t.test('deactivating cancels what is pending or being sent', async (t) => {
  const { call, db, subscribe } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  await insertDeliveries(db, id, ['delivered', 'sending', 'failed', 'pending']);
  const reply = await call('PATCH', `/v1/subscriptions/${id}`, { body: { active: false } });
  t.equal(reply.json.active, false);
  t.strictSame((await call('GET', `/v1/subscriptions/${id}`)).json.delivery_counts, {
    pending: 0,
    sending: 0,
    delivered: 1,
    failed: 1,
    canceled: 2,
  });
});

t.test('a rotated secret is shown once, with the time until which the old one signs too', async (t) => {
  const { call, subscribe } = await startWithConnection(t);
  const { id, secret } = (await subscribe()).json;
  const before = Date.now();
  const rotated = await call('POST', `/v1/subscriptions/${id}/rotate-secret`);
  t.equal(rotated.status, 200);
  t.match(rotated.json.secret, /^[A-Za-z0-9_-]{43}$/);
  t.not(rotated.json.secret, secret);
  const begins = Date.parse(String(rotated.json.previous_valid_until)) - 24 * 3_600_000;
  t.ok(begins >= before - 1 && begins <= Date.now() + 1, 'for a day');
});

t.test('five earlier secrets sign at once: a sixth rotation changes nothing until the first one is over', async (t) => {
  const { call, db, subscribe } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  const rotate = () => call('POST', `/v1/subscriptions/${id}/rotate-secret`);
  const signing = () =>
    db.query(
      'testSigning',
      `select secret_sealed, (select max(f.valid_until) from former_secret f where f.subscription_id = s.id) as valid_until,
         (select count(*) from former_secret f where f.subscription_id = s.id) as former
       from subscription s where id = $1`,
      [id],
    );
  const rotations = await Promise.all(Array.from({ length: 9 }, rotate));
  const made = rotations.filter(({ status }) => status === 200);
  t.equal(made.length, 5, 'of nine at the same time');
  t.equal(new Set(made.map(({ json }) => json.secret)).size, 5);
  for (const { status, text } of rotations.filter((one) => !made.includes(one)))
    t.strictSame([status, text], [409, '{"code":"too_many_secrets"}']);
  const before = await signing();
  t.match(before, [{ former: 5 }]);
  t.equal((await rotate()).status, 409);
  t.strictSame(await signing(), before, 'nothing is changed');

  await db.query(
    'testOver',
    `update former_secret set valid_until = now() where id = (select id from former_secret order by valid_until limit 1)`,
  );
  t.strictSame([(await rotate()).status, (await rotate()).status], [200, 409]);
  t.match(await signing(), [{ former: 5 }], 'the one that is over is gone');
});

t.test('a simulated event is recorded with its deliveries, and their owner is signalled', async (t) => {
  const { call, db, subscribe, connectionId, system } = await startWithConnection(t);
  const subscription = (await subscribe()).json;
  system.hints.length = 0;
  const post = (body: object | string, id = connectionId) =>
    call('POST', `/v1/connections/${id}/simulated-events`, { body });
  const recorded = await post({ type: 'message_received', data: { text: 'hi' } });
  t.equal(recorded.status, 201);
  t.match(recorded.json, { connection_id: connectionId, type: 'message_received', data: { text: 'hi' } });
  t.strictSame((await call('GET', `/v1/events/${recorded.json.id}`)).json, recorded.json);
  t.strictSame(system.hints, [{ type: 'deliveries', connectionId }]);
  const { deliveries } = (await call('GET', `/v1/subscriptions/${subscription.id}/deliveries`)).json;
  t.match(deliveries, [
    { event_id: recorded.json.id, status: 'pending', attempt_count: 0, replay_count: 0, last_error: null },
  ]);
  t.ok(deliveries[0]?.next_attempt_at);
  t.strictSame(await jobIds(db), [deliveries[0]?.subscription_id]);

  await post({ type: 'connection.stream_degraded', data: {} });
  t.equal(system.hints.length, 1, 'this one has no subscription');
  const deep = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`;
  for (const body of [
    { type: 'message_received' },
    { type: 'other', data: {} },
    { type: 'message_sent', data: [] },
    `{"type":"message_sent","data":${deep}}`,
  ]) {
    t.equal((await post(body)).status, 400, JSON.stringify(body).slice(0, 100));
  }
  const social = { provider: 'social', username: 'ann', password: 'sandbox', region: 'US' };
  const real = (await call('POST', '/v1/connections', { body: social })).json;
  t.strictSame((await post({ type: 'message_sent', data: {} }, real.id)).json, { code: 'not_simulated' });
});

t.test('a test event goes to its subscription alone, a bounded number at a time', async (t) => {
  const { call, db, subscribe, connectionId, system } = await startWithConnection(t);
  const [tested, other] = [(await subscribe()).json.id, (await subscribe()).json.id];
  const test = (id = tested) => call('POST', `/v1/subscriptions/${id}/test`);
  const deliveries = async (id: string) => (await call('GET', `/v1/subscriptions/${id}/deliveries`)).json.deliveries;
  system.hints.length = 0;
  const asked = await test();
  t.equal(asked.status, 202);
  t.match(asked.json, { subscription_id: tested, status: 'pending', attempt_count: 0, delivered_at: null });
  t.strictSame((await call('GET', String(asked.headers.location))).json, { ...asked.json, attempts: [] });
  t.strictSame(system.hints, [{ type: 'deliveries', connectionId }]);
  t.strictSame(await jobIds(db), [tested]);
  t.strictSame([(await deliveries(tested)).length, (await deliveries(other)).length], [1, 0]);
  const { events } = (await call('GET', `/v1/connections/${connectionId}/events`)).json;
  t.match(events, [{ id: asked.json.event_id, type: 'subscription.test', provider_event_id: /^test-/ }]);
  const event = (await call('GET', `/v1/events/${asked.json.event_id}`)).json;
  t.match(event, { type: 'subscription.test', connection_id: connectionId, data: { subscription_id: tested } });
  t.equal((await subscribe({ ...HOOK, event_types: ['subscription.test'] })).status, 400, 'nobody selects it');

  const more = await Promise.all(Array.from({ length: 9 }, () => test()));
  t.equal(more.filter(({ status }) => status === 202).length, 4, 'of nine at the same time: five are under way');
  const refused = more.filter(({ status }) => status !== 202);
  t.ok(refused.every(({ status, text }) => status === 409 && text === '{"code":"too_many_tests"}'));
  t.equal((await deliveries(tested)).length, 5, 'what is refused leaves nothing');
  t.equal((await test(other)).status, 202, 'each subscription has its own');
  await db.query('testEnd', `update delivery set status = 'failed', next_attempt_at = null where id = $1`, [
    asked.json.id,
  ]);
  t.strictSame([(await test()).status, (await test()).status], [202, 409], 'one has ended');

  await call('PATCH', `/v1/subscriptions/${tested}`, { body: { active: false } });
  const inactive = await test();
  t.strictSame([inactive.status, inactive.json], [409, { code: 'subscription_inactive' }]);
  t.equal((await call('GET', `/v1/connections/${connectionId}/events`)).json.events.length, 7);
});

t.test('events are listed newest first, a hundred a page', async (t) => {
  const { call, db, subscribe, connectionId } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  const { events } = await insertDeliveries(
    db,
    id,
    Array.from({ length: 201 }, () => 'failed' as const),
  );
  events.reverse();
  const page = async (offset: number) =>
    (await call('GET', `/v1/connections/${connectionId}/events?offset=${offset}`)).json;
  const first = (await call('GET', `/v1/connections/${connectionId}/events`)).json;
  t.strictSame(
    first.events.map((event) => event.id),
    events.slice(0, 100),
  );
  t.strictSame(Object.keys(first.events[0]!).sort(), ['id', 'provider_event_id', 'received_at', 'type']);
  t.equal(first.next_offset, 100);
  const second = await page(100);
  t.strictSame([second.events.length, second.next_offset], [100, 200]);
  const third = await page(200);
  t.strictSame([third.events.length, third.next_offset], [1, null]);
  t.strictSame((await page(100_000)).events, []);
  t.strictSame((await page(101)).next_offset, null, 'a page that ends with the last row is the last');
  for (const offset of ['-1', '100001', '1.5', '0x1', '', 'one']) {
    const reply = await call('GET', `/v1/connections/${connectionId}/events?offset=${offset}`);
    t.equal(reply.status, 400, offset);
    t.equal(reply.json.errors[0]?.path, 'query.offset');
  }
});

t.test('deliveries are listed by newest event and by status, and shown with their attempts', async (t) => {
  const { call, db, subscribe } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  const { deliveries } = await insertDeliveries(db, id, ['failed', 'delivered', 'failed']);
  const all = (await call('GET', `/v1/subscriptions/${id}/deliveries`)).json;
  t.strictSame(
    all.deliveries.map((delivery) => delivery.id),
    [...deliveries].reverse(),
  );
  t.equal(all.next_offset, null);
  const failed = (await call('GET', `/v1/subscriptions/${id}/deliveries?status=failed&offset=1`)).json;
  t.strictSame(
    failed.deliveries.map((delivery) => delivery.id),
    [deliveries[0]],
  );
  t.equal((await call('GET', `/v1/subscriptions/${id}/deliveries?status=lost`)).status, 400);

  await db.query(
    'attempt',
    `insert into delivery_attempt (id, delivery_id, sequence, outcome, status_code, error, started_at, completed_at)
     values ($1, $2, 1, 'failed', 500, 'status_500', now(), now())`,
    [uuidv7(), deliveries[0]],
  );
  const detail = (await call('GET', `/v1/deliveries/${deliveries[0]}`)).json;
  t.match(detail, {
    id: deliveries[0],
    attempts: [{ sequence: 1, outcome: 'failed', status_code: 500, error: 'status_500' }],
  });
});

t.test('a failed delivery is replayed under its own id; any other is not', async (t) => {
  const { call, db, subscribe, system, connectionId } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  const { deliveries } = await insertDeliveries(db, id, ['failed', 'delivered']);
  const replay = (delivery: string | undefined) => call('POST', `/v1/deliveries/${delivery}/replay`);
  system.hints.length = 0;
  const accepted = await replay(deliveries[0]);
  t.equal(accepted.status, 202);
  t.match(accepted.json, { id: deliveries[0], status: 'pending', replay_count: 1 });
  t.strictSame(await jobIds(db), [id]);
  t.strictSame(system.hints, [{ type: 'deliveries', connectionId }]);
  for (const delivery of deliveries) {
    const reply = await replay(delivery);
    t.strictSame([reply.status, reply.json], [409, { code: 'delivery_not_failed' }]);
  }
  const { deliveries: more } = await insertDeliveries(db, id, ['failed']);
  await call('PATCH', `/v1/subscriptions/${id}`, { body: { active: false } });
  t.strictSame((await replay(more[0])).json, { code: 'subscription_inactive' });
  const all = await call('POST', `/v1/subscriptions/${id}/replay-failed`, { body: { since: '2020-01-01T00:00:00Z' } });
  t.strictSame([all.status, all.json], [409, { code: 'subscription_inactive' }]);
});

t.test('every failed delivery of a newer event is replayed, however many there are', async (t) => {
  const { call, db, subscribe, connectionId } = await startWithConnection(t);
  const { id } = (await subscribe()).json;
  await insertDeliveries(
    db,
    id,
    Array.from({ length: 2100 }, (_, n) => (n % 21 === 0 ? 'delivered' : 'failed')),
  );
  await db.query(
    'older',
    `update event set received_at = '2020-01-01' where id in
       (select event_id from delivery where status = 'failed' order by event_id limit 500)`,
  );
  const [newest] = (await call('GET', `/v1/connections/${connectionId}/events`)).json.events;
  const none = await call('POST', `/v1/subscriptions/${id}/replay-failed`, {
    body: { since: String(newest?.received_at) },
  });
  t.equal(none.json.replayed, 0, 'a time that an event was shown with means that event');
  const reply = await call('POST', `/v1/subscriptions/${id}/replay-failed`, {
    body: { since: '2021-01-01T00:00:00Z' },
  });
  t.equal(reply.status, 202);
  t.strictSame(reply.json, { replayed: 1500 });
  t.match((await call('GET', `/v1/subscriptions/${id}`)).json.delivery_counts, {
    pending: 1500,
    failed: 500,
    delivered: 100,
  });
  t.strictSame(await jobIds(db), [id], 'one job for all of them');
  for (const since of ['yesterday', '', 1, '2020-12-31T23:59:60Z']) {
    t.equal((await call('POST', `/v1/subscriptions/${id}/replay-failed`, { body: { since } })).status, 400);
  }
});

t.test('the listener of a simulated connection is connected; one without a session is stopped', async (t) => {
  const { call, db, connectionId } = await startWithConnection(t);
  t.match((await call('GET', `/v1/connections/${connectionId}/listener`)).json, {
    stream_status: 'connected',
    continuity_status: 'continuous',
    connection_health: 'ready',
    open_gap_count: 0,
    gaps: [],
  });
  const body = { provider: 'social', username: 'ann', password: 'sandbox', region: 'US' };
  const { id } = (await call('POST', '/v1/connections', { body })).json;
  await db.query(
    'listener',
    `insert into listener (connection_id, stream_status, status, continuity_status, epoch, last_event_id, heartbeat_at)
     values ($1, 'connected', 'running', 'gap_open', 1, 'e7', now())`,
    [id],
  );
  await db.query(
    'gaps',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at)
     select gen_random_uuid(), $1, 'dropped', now() - n * interval '1 minute', case when n > 1 then now() end
     from generate_series(1, 60) n`,
    [id],
  );
  const listener = (await call('GET', `/v1/connections/${id}/listener`)).json;
  t.match(listener, {
    stream_status: 'stopped',
    connection_health: 'needs_login',
    continuity_status: 'gap_open',
    open_gap_count: 1,
    last_event_id: 'e7',
  });
  t.equal((listener.gaps as object[]).length, 50);
  await db.query('unheard', 'delete from listener where connection_id = $1', [id]);
  const unheard = { continuity_status: 'gap_open', open_gap_count: 1 };
  t.match(
    (await call('GET', `/v1/connections/${id}/listener`)).json,
    unheard,
    'an open gap is one, whoever has listened',
  );
  await db.query(
    'listenerAgain',
    `insert into listener (connection_id, stream_status, status, continuity_status, epoch, last_event_id, heartbeat_at)
     values ($1, 'connected', 'running', 'gap_open', 1, 'e7', now())`,
    [id],
  );
  await makeReady(db, id);
  await pinConnection(db, id, (await addProxy(db, keyRing([]), { region: 'US', url: 'http://127.0.0.1:1' })).id);
  t.match((await call('GET', `/v1/connections/${id}/listener`)).json, {
    stream_status: 'connected',
    connection_health: 'ready',
  });
});

t.test('a listener counts as connected and continuous only while somebody listens', async (t) => {
  const { call, db, workspaceId } = await startWithConnection(t);
  const { id } = await insertSocial(db, workspaceId, 'ann');
  const shown = async () => (await call('GET', `/v1/connections/${id}/listener`)).json;
  const degraded = (reason: string) => ({ stream_status: 'degraded', status: 'stopped', reason });
  const saved = (stream_status: string, status: string, age_ms: number) =>
    db.query(
      'testListener',
      `insert into listener (connection_id, stream_status, status, reason, continuity_status, epoch, heartbeat_at)
       values ($1, $2, $3, 'as_saved', 'continuous', 1, now() - $4 * interval '1 millisecond')
       on conflict (connection_id) do update
         set stream_status = excluded.stream_status, status = excluded.status, heartbeat_at = excluded.heartbeat_at`,
      [id, stream_status, status, age_ms],
    );
  const { id: proxy } = await addProxy(db, keyRing([]), { region: 'US', url: 'http://127.0.0.1:1' });
  await pinConnection(db, id, proxy);
  t.match(await shown(), { ...degraded('not_listening'), continuity_status: 'unknown' }, 'nobody has begun');

  const lately_ms = LIMITS.stream_stale_ms - 10_000;
  await saved('connected', 'running', lately_ms);
  t.match(await shown(), { stream_status: 'connected', status: 'running', continuity_status: 'continuous' });
  await saved('connecting', 'running', lately_ms);
  t.match(await shown(), { stream_status: 'connecting', status: 'running' });

  for (const stream_status of ['connected', 'connecting']) {
    await saved(stream_status, 'running', LIMITS.stream_stale_ms + 1);
    t.match(await shown(), { ...degraded('heartbeat_stale'), continuity_status: 'unknown' }, 'its owner is gone');
  }
  await saved('degraded', 'running', LIMITS.stream_stale_ms + 1);
  t.match(await shown(), { stream_status: 'degraded', reason: 'as_saved' }, 'it may wait long before its next stream');
  await saved('stopped', 'stopped', 0);
  t.match(await shown(), degraded('not_listening'), 'its connection is ready again');

  await saved('connected', 'running', 0);
  await db.transaction((tx) => removeProxy(tx, proxy));
  t.match(await shown(), { ...degraded('regional_proxy_unavailable'), continuity_status: 'unknown' });
  await db.query('testNeedsLogin', `update connection set health = 'needs_login' where id = $1`, [id]);
  t.match(await shown(), { stream_status: 'stopped', reason: 'connection_not_ready', continuity_status: 'unknown' });
});

t.test('nothing of another workspace can be seen or changed', async (t) => {
  const { call, db, subscribe, connectionId } = await startWithConnection(t);
  const subscription = (await subscribe()).json.id;
  const { events, deliveries } = await insertDeliveries(db, subscription, ['failed']);
  const key = await insertKey(db, await insertWorkspace(db));
  const paths = [
    ['GET', `/v1/connections/${connectionId}/subscriptions`],
    ['GET', `/v1/connections/${connectionId}/events`],
    ['GET', `/v1/connections/${connectionId}/listener`],
    ['GET', `/v1/subscriptions/${subscription}`],
    ['GET', `/v1/subscriptions/${subscription}/deliveries`],
    ['POST', `/v1/subscriptions/${subscription}/hold`],
    ['POST', `/v1/subscriptions/${subscription}/release`],
    ['POST', `/v1/subscriptions/${subscription}/rotate-secret`],
    ['POST', `/v1/subscriptions/${subscription}/test`],
    ['GET', `/v1/events/${events[0]}`],
    ['GET', `/v1/deliveries/${deliveries[0]}`],
    ['POST', `/v1/deliveries/${deliveries[0]}/replay`],
  ] as const;
  for (const [method, path] of paths) {
    t.equal((await call(method, path, { key })).status, 404, path);
    t.not((await call(method, path)).status, 404, path);
  }
});
