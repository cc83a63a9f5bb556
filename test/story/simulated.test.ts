import t from 'tap';
import { allOf } from '../fixture/all-of.js';
import { callbackSettings, receiveCallbacks } from '../fixture/callbacks.js';
import { eventually } from '../fixture/eventually.js';
import { inService, ownService } from '../fixture/shared-service.js';
import { longTest } from '../fixture/size.js';

const service = callbackSettings().then((callbacks) =>
  ownService(t, { ...callbacks, ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false' }),
);

const simulated = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

t.test('two simulated connections live the whole story without a browser', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const { client } = await inService(t, await service);
  const created = await client.send('POST', '/v1/connections', simulated('ada'));
  t.match(created, { status: 201, body: { health: 'ready', state_revision: 0 } });
  t.notOk('region' in created.body, 'no region, no proxy, no recruiter');
  const ada = String(created.body.id);
  const grace = await client.connect(simulated('grace'));
  t.strictSame((await client.send('POST', '/v1/connections', simulated('ada'))).body, { code: 'connection_conflict' });

  t.match(await client.run(ada, 'social.login'), { status: 'succeeded', result: { reason: 'login_succeeded' } });
  const search = await client.run(ada, 'social.people.search', { keywords: 'engineer', count: 5 });
  t.match(search, { status: 'succeeded', result: { people: [{ hash_id: String }] } });

  const subscription = await client.send('POST', `/v1/connections/${grace}/subscriptions`, {
    event_types: ['message_received'],
    callback_url: callbacks.url,
    secret: callbacks.secret,
  });
  t.match(subscription, { status: 201, body: { active: true } });
  const input = { recipient_actor_id: 'grace', body: 'Hello Grace' };
  const sent = await client.submit(ada, 'social.message.send', input, 'one');
  t.match(await client.settled(sent.body.id), { status: 'succeeded', result: { provider_acknowledged: true } });
  const callback = await callbacks.next((one) => one.event?.type === 'message_received');
  t.ok(callback.verified, 'signed');
  t.match(callback.event, { connection_id: grace, data: { message_body: 'Hello Grace' } });

  const again = await client.submit(ada, 'social.message.send', input, 'one');
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' }, body: { id: sent.body.id } });
  const other = await client.submit(ada, 'social.message.send', { ...input, body: 'else' }, 'one');
  t.strictSame([other.status, other.body], [409, { code: 'idempotency_conflict' }]);
  const types = async (connection: string) => {
    const { body } = await client.send('GET', `/v1/connections/${connection}/events`);
    return (body.events as { type: string }[]).map((event) => event.type);
  };
  t.strictSame([await types(ada), await types(grace)], [['message_sent'], ['message_received']]);
  // The receiver has its callback before the end of the attempt is stored.
  const deliveries = await eventually(
    'the delivery has ended',
    () => client.send('GET', `/v1/subscriptions/${subscription.body.id}/deliveries`),
    ({ body }) => allOf(body.deliveries as { status: string }[], ({ status }) => status !== 'sending'),
  );
  t.match(deliveries.body, { deliveries: [{ status: 'delivered', attempt_count: 1 }], next_offset: null });
});

t.test('a file that was sent comes back as it was, and what was wrong in a filter is not repeated', async (t) => {
  const { client } = await inService(t, await service);
  const [ada, bob] = [await client.connect(simulated('ada')), await client.connect(simulated('bob'))];
  const data_base64 = Buffer.from('the very bytes').toString('base64');
  const file = { filename: 'a b.txt', content_type: 'text/plain', data_base64 };
  const { result } = await client.run(ada, 'social.attachment.send', { recipient_actor_id: 'bob', ...file });
  t.match(result, { provider_acknowledged: true });
  const read = await client.run(bob, 'social.messages.list', { conversation_id: '2-ada' });
  const [message] = (read.result as { messages: { render_content: { url: string }[] }[] }).messages;
  const download = await client.run(bob, 'social.file.download', { url: message?.render_content[0]?.url });
  t.match(download.result, { content_type: 'text/plain', data_base64, size: 14 });

  await client.run(ada, 'social.recruiter.switch');
  const wrong = { keywords: 'nurse', yoe: { min: 'a secret of 7 words' } };
  const search = await client.run(ada, 'social.recruiter.people.search', wrong);
  t.match(search, { status: 'failed', error_code: 'validation_error', error_details: { errors: [{ path: String }] } });
  t.notMatch(JSON.stringify(search.error_details), 'secret');
});

longTest(t, 'an account is written to under every id that is read of it, whatever its own is', async (t) => {
  const { client } = await inService(t, await service);
  const ada = await client.connect(simulated('ada'));
  for (const id of ['bob', 'b+o', 'Ym9i=', 'o=+b=-', 'bob@example.com', 'x'.repeat(254), 'bob O Neil', 'SIM_a.b=']) {
    const bob = await client.connect(simulated(id));
    const result = async <Result>(connection: string, capability: string, input: object) =>
      (await client.run(connection, capability, input)).result as Result;
    const own = await result<{ hash_id: string; public_id: string }>(bob, 'social.identity.get', {});
    const { hash_id, public_id } = own;
    const { hash_ids } = await result<{ hash_ids: object }>(ada, 'social.hash_ids.resolve', {
      public_ids: [public_id],
    });
    t.strictSame(hash_ids, { [public_id]: hash_id }, `${id}: resolve`);
    const { profile } = await result<{ profile: object }>(ada, 'social.profile.get', { profile_id: public_id });
    t.match(profile, { hash_id, public_id }, `${id}: profile`);
    await client.run(ada, 'social.message.send', { recipient_actor_id: hash_id, body: 'one' });
    const inbox = await result<{ conversations: { conversation_id: string; participants: string[] }[] }>(
      ada,
      'social.conversations.list',
      { count: 1 },
    );
    const [conversation] = inbox.conversations;
    t.strictSame(conversation?.participants, [hash_id], `${id}: participants`);
    await client.run(ada, 'social.message.send', { conversation_id: conversation?.conversation_id, body: 'two' });
    const read = { conversation_id: '2-ada', count: 2 };
    const { messages } = await result<{ messages: object[] }>(bob, 'social.messages.list', read);
    t.match(messages, [{ message_body: 'two' }, { message_body: 'one' }], `${id}: both arrived`);
    await client.send('DELETE', `/v1/connections/${bob}`);
  }
});

longTest(t, 'invitations show wherever a client looks for them', async (t) => {
  const { client } = await inService(t, await service);
  const ada = await client.connect(simulated('ada'));
  await client.connect(simulated('bob'));
  const result = async <Result>(capability: string, input: object) =>
    (await client.run(ada, capability, input)).result as Result;
  const profile = async (profile_id: string) =>
    (await result<{ profile: object }>('social.profile.get', { profile_id })).profile;
  const pending = { recipient_actor_id: 'SIM_somebody-new', message: 'We met at the fair' };
  await client.run(ada, 'social.invitation.send', pending);
  await client.run(ada, 'social.invitation.send', { recipient_actor_id: 'bob' });
  const { entries } = await result<{ entries: object[] }>('social.invitations.sent.list', {});
  t.match(entries[0], { recipient_actor_id: pending.recipient_actor_id, message: pending.message });
  t.match(await profile('somebody-new'), { has_pending_connection_request: true, network_distance: 3 });
  t.match(await profile('sim.bob'), {
    has_pending_connection_request: false,
    network_distance: 1,
    connected_at: String,
  });
  const page = (start: number, count: number) =>
    result<{ connections: { hash_id: string }[] }>('social.connections.list', { start, count });
  const [first, rest] = [await page(0, 2), await page(1, 2)];
  t.equal(first.connections[0]?.hash_id, 'bob', 'the last one first');
  t.equal(rest.connections[0]?.hash_id, first.connections[1]?.hash_id, 'and the others behind it');
});

longTest(t, 'a client tries its own way back from a disconnect, without a browser', async (t) => {
  const { client } = await inService(t, await service);
  const connection = await client.connect(simulated('ada sim-challenge-email'));
  const shown = async () => (await client.send('GET', `/v1/connections/${connection}`)).body;
  const listener = async () => (await client.send('GET', `/v1/connections/${connection}/listener`)).body;
  t.match(await listener(), { stream_status: 'connected', continuity_status: 'continuous' });
  const off = await client.send('POST', `/v1/connections/${connection}/disconnect`);
  t.strictSame([off.status, off.body], [200, { health: 'needs_login' }]);
  t.match(await shown(), { health: 'needs_login', state_revision: 1 });
  t.match(await listener(), { stream_status: 'stopped', connection_health: 'needs_login' });
  for (const [capability, input] of [
    ['social.identity.get', {}],
    ['social.message.send', { recipient_actor_id: 'grace', body: 'Hello' }],
    ['social.recruiter.typeahead', { kind: 'skill', keyword: 'type' }],
  ] as const) {
    t.match(
      await client.run(connection, capability, input),
      { status: 'failed', error_code: 'connection_not_ready', error_details: { health: 'needs_login' } },
      capability,
    );
  }
  const login = await client.submit(connection, 'social.login');
  const { challenge } = await client.settled(login.body.id);
  t.match(await shown(), { health: 'needs_login' }, 'a login that waits for its code brings nothing back');
  const code = { challenge_id: challenge?.id, code: '000000' };
  t.equal((await client.send('POST', `/v1/operations/${login.body.id}/challenge`, code)).status, 202);
  t.match(await client.answered(login.body.id, String(challenge?.id)), { status: 'succeeded' });
  t.match(await shown(), { health: 'ready', state_revision: 2 });
  t.match(await client.run(connection, 'social.identity.get'), { status: 'succeeded' });
  t.match(await client.run(connection, 'social.login'), { status: 'waiting_user' }, 'as often as it is asked');
});

longTest(t, 'a login of a simulated connection can ask for a code', async (t) => {
  const { client } = await inService(t, await service);
  const connection = await client.connect(simulated('ada sim-challenge-sms'));
  const login = await client.submit(connection, 'social.login', { reconnect: true });
  let waiting = await client.settled(login.body.id);
  for (const code of ['111111', '222222', '333333']) {
    t.match(waiting, { status: 'waiting_user', challenge: { kind: 'sms', accepts_code: true } });
    const challenge_id = waiting.challenge!.id;
    const path = `/v1/operations/${waiting.id}/challenge`;
    t.equal((await client.send('POST', path, { challenge_id, code })).status, 202);
    waiting = await client.answered(waiting.id, challenge_id);
  }
  t.match(waiting, { status: 'failed', error_code: 'challenge_failed' }, 'three wrong codes end it');

  const second = await client.submit(connection, 'social.login', { reconnect: true });
  const { challenge } = await client.settled(second.body.id);
  const busy = await client.send('POST', `/v1/connections/${connection}/disconnect`);
  t.strictSame([busy.status, busy.body], [409, { code: 'connection_busy' }]);
  const canceled = await client.send('POST', `/v1/operations/${second.body.id}/cancel`);
  t.match(canceled, { status: 200, body: { cancel_requested: true } });
  t.match(await client.answered(second.body.id, challenge!.id), { status: 'canceled' });
});

t.test('work of one connection runs in order, and a cancel stops what is queued', async (t) => {
  const { client } = await inService(t, await service);
  const connection = await client.connect(simulated('ada'));
  const read = (profile: string) => client.submit(connection, 'social.profile.get', { profile_id: profile });
  const slow = await read('sim-delay-700');
  const [second, third] = [await read('second'), await read('third')];
  const canceled = await client.send('POST', `/v1/operations/${second.body.id}/cancel`);
  t.match(canceled, { status: 200, body: { status: 'canceled' } });
  const last = await client.settled(third.body.id);
  t.equal((await client.send('GET', `/v1/operations/${slow.body.id}`)).body.status, 'succeeded');
  t.match(last, { status: 'succeeded', timeline: [{ to: 'queued' }, { to: 'running' }, { to: 'succeeded' }] });
});

t.test('a client tries its way through an unknown outcome, without a browser', async (t) => {
  const { client } = await inService(t, await service);
  const ada = await client.connect(simulated('ada'));
  const other = await client.connect(simulated('grace'));
  const look = async (id: string, found: string, more: object = {}) => {
    const { status, body } = await client.send('POST', `/v1/operations/${id}/reconcile`);
    const expected = { status: 'outcome_unknown', evidence: { look: { found, reason: null, ...more } } };
    t.match({ status, body }, { status: 200, body: expected }, found);
  };
  const file = { filename: 'notes.txt', content_type: 'text/plain', data_base64: 'YWJj' };
  for (const [capability, input, match] of [
    ['social.message.send', { recipient_actor_id: 'grace' }, { kind: 'message', conversation_id: '2-grace' }],
    ['social.message.send', { conversation_id: '2-SIM_joan' }, { kind: 'message', conversation_id: '2-SIM_joan' }],
    ['social.attachment.send', { recipient_actor_id: 'SIM_hedy', ...file }, { kind: 'attachment', size: 3 }],
    ['social.invitation.send', { recipient_actor_id: 'SIM_somebody' }, { kind: 'invitation' }],
  ] as const) {
    const text = (words: string) => (match.kind === 'invitation' ? { message: words } : { body: words });
    const unwritten = await client.run(ada, capability, { ...input, ...text('lost sim-unknown') });
    await look(unwritten.id, 'none', { matches: [] });
    const written = await client.run(ada, capability, { ...input, ...text('kept sim-unknown-written') });
    t.match(written, { status: 'outcome_unknown', result: null, evidence: { look: null } });
    await look(written.id, 'one', { matches: [match] });
  }
  const input = { recipient_actor_id: 'grace', body: 'alike sim-unknown-written' };
  const [one] = [
    await client.run(ada, 'social.message.send', input),
    await client.run(ada, 'social.message.send', input),
  ];
  await look(one.id, 'several', { matches: [{ kind: 'message' }, { kind: 'message' }] });

  const late = await client.run(ada, 'social.message.send', { recipient_actor_id: 'grace', body: 'late sim-unknown' });
  await look(late.id, 'none');
  const data = { conversation_id: '2-grace', message_body: 'late sim-unknown', sender_hash_id: 'ada' };
  await client.send('POST', `/v1/connections/${ada}/simulated-events`, { type: 'message_sent', data });
  await look(late.id, 'one');
  const received = (await client.send('GET', `/v1/connections/${other}/events`)).body.events as object[];
  t.equal(received.length, 3, 'what was written arrived once each');
});
