import t from 'tap';
import { callbackSettings, receiveCallbacks } from '../fixture/callbacks.js';
import { control, ledger } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { inService, ownService } from '../fixture/shared-service.js';

/** The last test ends it. */
const service = callbackSettings().then((callbacks) => ownService(t, { ...callbacks, ACTOR_THREADS: '2' }));

t.test('a code sent by sms is asked for, a wrong one asked for again, the right one accepted', async (t) => {
  const { client } = await inService(t, await service);
  const connection = await client.connect({
    provider: 'social',
    username: 'ada+sms',
    password: 'sandbox',
    region: 'US',
  });
  const submitted = await client.submit(connection, 'social.login');
  const waiting = await client.settled(submitted.body.id);
  t.match(waiting, { status: 'waiting_user', challenge: { kind: 'sms', accepts_code: true, expires_at: String } });
  const first = waiting.challenge!;
  t.notOk('answered' in first, 'nothing of the inside shows');

  const answer = (challenge: string, code: string) =>
    client.send('POST', `/v1/operations/${waiting.id}/challenge`, { challenge_id: challenge, code });
  t.strictSame((await answer('no-such-challenge', '000000')).body, { code: 'challenge_not_accepting_code' });
  t.match(await answer(first.id, '111111'), { status: 202, body: { status: 'accepted' } });
  const second = await client.answered(waiting.id, first.id);
  t.match(second, { status: 'waiting_user', challenge: { kind: 'sms', accepts_code: true } });
  t.not(second.challenge!.id, first.id, 'a new challenge');
  t.equal((await answer(first.id, '000000')).status, 409, 'the old one is closed');
  t.match(await answer(second.challenge!.id, '000000'), { status: 202 });
  const done = await client.answered(waiting.id, second.challenge!.id);
  t.match(done, { status: 'succeeded', challenge: null, result: { reason: 'login_succeeded' } });
  t.match((await client.send('GET', `/v1/connections/${connection}`)).body, { health: 'ready' });
});

t.test('a login that its owner approves on another device goes on by itself', async (t) => {
  const { client, sandboxUrl } = await inService(t, await service);
  const username = 'joan+approval';
  const connection = await client.connect({ provider: 'social', username, password: 'sandbox', region: 'US' });
  const waiting = await client.settled((await client.submit(connection, 'social.login')).body.id);
  t.match(waiting, { status: 'waiting_user', challenge: { kind: 'approval', accepts_code: false } });
  const { id } = waiting.challenge!;
  const code = { challenge_id: id, code: '000000' };
  t.match(await client.send('POST', `/v1/operations/${waiting.id}/challenge`, code), {
    status: 409,
    body: { code: 'challenge_not_accepting_code' },
  });
  await control(sandboxUrl, 'POST', '/accounts', { username, approve: true });
  const done = await client.answered(waiting.id, id);
  t.match(done, { status: 'succeeded', challenge: null, attempts: { length: 1 } });
  t.match(
    done.timeline.map(({ reason }: { reason: string }) => reason),
    [String, String, 'challenge_approval', 'challenge_ended', String],
  );
});

t.test('a connection logs in through its regional proxy, sends once, and receives the reply', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const { client, sandboxUrl, stop } = await inService(t, await service);
  const created = await client.send('POST', '/v1/connections', {
    provider: 'social',
    username: 'grace',
    password: 'sandbox',
    region: 'de',
  });
  t.equal(created.status, 201);
  t.match(created.body, {
    health: 'needs_login',
    region: 'DE',
    regional_proxy_configured: true,
    session_proxy: null,
    state_revision: 0,
  });
  t.notMatch(JSON.stringify(created.body), 'sandbox', 'the password is never returned');
  const connection = String(created.body.id);

  const early = await client.run(connection, 'social.people.search', { keywords: 'engineer' });
  t.match(early, { status: 'failed', error_code: 'connection_not_ready' });

  const login = await client.run(connection, 'social.login');
  t.match(
    login,
    { status: 'succeeded', result: { reason: 'login_succeeded', state_revision: 1 } },
    login.error_code ?? '',
  );
  const ready = await client.send('GET', `/v1/connections/${connection}`);
  t.match(ready.body, {
    health: 'ready',
    state_revision: 1,
    session_proxy: { region: 'DE', active: true, matches_region: true },
  });
  const regions = (await control(sandboxUrl, 'GET', '/proxies')).regions as { region: string; accounts: object }[];
  const used = regions.filter((region) => 'grace' in region.accounts).map((region) => region.region);
  t.strictSame(used, ['DE'], "every request came through the region's own proxy");

  t.match(await client.run(connection, 'social.health.check'), { status: 'succeeded', result: { health: 'ready' } });
  const identity = await client.run(connection, 'social.identity.get');
  t.match(identity, { status: 'succeeded', result: { actor_id: String, hash_id: String, state_revision: 1 } });

  const search = await client.run(connection, 'social.people.search', { keywords: 'engineer', count: 5 });
  t.equal(search.status, 'succeeded');
  const [person] = search.result.people as { public_id: string; hash_id: string }[];
  const resolved = await client.run(connection, 'social.hash_ids.resolve', { public_ids: [person!.public_id] });
  t.strictSame(resolved.result.hash_ids, { [person!.public_id]: person!.hash_id });

  const subscription = await client.send('POST', `/v1/connections/${connection}/subscriptions`, {
    event_types: ['message_received'],
    callback_url: callbacks.url,
    secret: callbacks.secret,
  });
  t.match(subscription, { status: 201, body: { active: true, secret: callbacks.secret } });

  const input = { recipient_actor_id: person!.hash_id, body: 'Hello there\nüber' };
  const sent = await client.submit(connection, 'social.message.send', input, 'first message');
  t.equal(sent.status, 202);
  const done = await client.settled(sent.body.id);
  t.match(done, { status: 'succeeded', result: { provider_acknowledged: true, state_revision: 1 } });
  t.match(await ledger(sandboxUrl, 'grace'), [{ kind: 'message', text: input.body }], 'the ledger holds it');

  const again = await client.submit(connection, 'social.message.send', input, 'first message');
  t.equal(again.status, 200);
  t.equal(again.headers['idempotency-replayed'], 'true');
  t.equal(again.body.id, sent.body.id);
  const other = await client.submit(connection, 'social.message.send', { ...input, body: 'else' }, 'first message');
  t.strictSame([other.status, other.body], [409, { code: 'idempotency_conflict' }]);
  t.equal((await ledger(sandboxUrl, 'grace')).length, 1, 'once');

  await eventually(
    'the event stream is connected',
    () => client.send('GET', `/v1/connections/${connection}/listener`),
    ({ body }) => body.stream_status === 'connected',
  );
  await control(sandboxUrl, 'POST', '/stream', { account: 'grace', action: 'emit', type: 'message_received' });
  const callback = await callbacks.next((one) => one.event?.type === 'message_received');
  t.ok(callback.verified, 'the signature holds');
  t.match(callback.event, { id: callback.eventId, connection_id: connection, data: { message_body: String } });
  const events = await client.send('GET', `/v1/connections/${connection}/events`);
  const received = (events.body.events as { id: string; type: string }[]).filter((e) => e.type === 'message_received');
  t.strictSame(
    received.map((event) => event.id),
    [callback.eventId],
    'one event',
  );
  t.equal(callbacks.received.length, 1, 'delivered once');

  const conversations = await client.run(connection, 'social.conversations.list');
  const [conversation] = conversations.result.conversations as { conversation_id: string }[];
  t.match(await client.run(connection, 'social.messages.list', { conversation_id: conversation!.conversation_id }), {
    status: 'succeeded',
    result: { messages: [{ message_urn: String }] },
  });
  t.equal(await stop(), 0, 'it drains and ends cleanly');
});
