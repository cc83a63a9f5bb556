import t from 'tap';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { serviceFixture, startService } from '../fixture/service.js';

t.test('a client is told what becomes of its connections and operations', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const fixture = await serviceFixture(t, { ...callbacks.env, ACTOR_THREADS: '2' });
  const { client, kill } = await startService(t, fixture);
  const { body: ofAll } = await client.send('POST', '/v1/subscriptions', {
    event_types: ['connection.ready', 'operation.waiting_user', 'operation.finished'],
    callback_url: callbacks.url,
    secret: callbacks.secret,
  });
  const connection = await client.connect({
    provider: 'social',
    username: 'eve+sms',
    password: 'sandbox',
    region: 'us',
  });
  const subscribe = async (event_types: string[]) => {
    const body = { event_types, callback_url: callbacks.url, secret: callbacks.secret };
    const { body: made } = await client.send('POST', `/v1/connections/${connection}/subscriptions`, body);
    return String(made.id);
  };
  let from = 0;
  const told = async (type: string) => {
    const { event } = await callbacks.next(
      (callback) => callbacks.received.indexOf(callback) >= from && callback.event?.type === type,
    );
    return event;
  };

  const login = await client.settled((await client.submit(connection, 'social.login')).body.id);
  t.match(login, { status: 'waiting_user' });
  t.match(await told('operation.waiting_user'), { data: { operation_id: login.id } }, 'of the first login as well');
  await client.send('POST', `/v1/operations/${login.id}/challenge`, {
    challenge_id: login.challenge?.id,
    code: '000000',
  });
  t.match(await client.answered(login.id, login.challenge?.id ?? ''), { status: 'succeeded' });
  const { body: shown } = await client.send('GET', `/v1/connections/${connection}`);
  t.match(shown, { health: 'ready', health_reason: 'login_succeeded', health_since: String });

  t.match(await told('connection.ready'), { connection_id: connection, data: { reason: 'login_succeeded' } });
  t.match(await told('operation.finished'), { data: { operation_id: login.id, status: 'succeeded' } });
  await client.send('DELETE', `/v1/subscriptions/${ofAll.id}`);
  from = callbacks.received.length;

  await subscribe([
    ...['connection.needs_login', 'connection.ready', 'operation.waiting_user', 'operation.finished'],
    'delivery.exhausted',
  ]);
  const read = await client.run(connection, 'social.identity.get');
  t.match(await told('operation.finished'), {
    connection_id: connection,
    data: { operation_id: read.id, capability: 'social.identity.get', status: 'succeeded', error_code: null },
  });
  await client.send('PATCH', `/v1/connections/${connection}`, { password: 'sandbox' });
  t.match(await told('connection.needs_login'), {
    data: { previous_health: 'ready', reason: 'credentials_changed', state_revision: 2 },
  });
  const again = await client.settled((await client.submit(connection, 'social.login')).body.id);
  t.match(await told('operation.waiting_user'), {
    data: { operation_id: again.id, challenge: { id: again.challenge?.id, kind: 'sms', accepts_code: true } },
  });
  await client.send('POST', `/v1/operations/${again.id}/challenge`, {
    challenge_id: again.challenge?.id,
    code: '000000',
  });
  t.match(await told('connection.ready'), { data: { previous_health: 'needs_login', reason: 'login_succeeded' } });

  const { body: listed } = await client.send('GET', `/v1/connections/${connection}/events`);
  const types = (listed.events as { type: string }[]).map(({ type }) => type);
  t.equal(types.filter((type) => type === 'operation.waiting_user').length, 2, 'the first as well');
  t.notOk(types.includes('delivery.exhausted'));

  const { body: last } = await client.submit(connection, 'social.identity.get');
  await client.settled(last.id);
  await kill();
  await startService(t, fixture);
  await callbacks.next(({ event }) => (event?.data as { operation_id?: unknown })?.operation_id === last.id);
  t.pass('a node that is killed leaves nothing untold');
});
