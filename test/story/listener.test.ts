import t from 'tap';
import { type Client, control } from '../fixture/client.js';
import { serviceFixture, startService } from '../fixture/service.js';

type Row = Record<string, unknown>;

/** Asks until the answer is as wanted; the service has no push for these. */
async function until<Answer>(ask: () => Promise<Answer>, wanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const listenerOf = (client: Client, connection: string) => async () =>
  (await client.send('GET', `/v1/connections/${connection}/listener`)).body;

const eventsOf = async (client: Client, connection: string): Promise<Row[]> =>
  (await client.send('GET', `/v1/connections/${connection}/events`)).body.events as Row[];

t.test('a stream that is lost leaves a gap, and one whose session ended stops', async (t) => {
  const ground = await serviceFixture(t);
  const service = await startService(t, ground);
  const { client, sandboxUrl } = service;
  const connection = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'us' });
  t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
  const listener = listenerOf(client, connection);
  const stream = (order: object) => control(sandboxUrl, 'POST', '/stream', { account: 'ada', ...order });
  await until(listener, (row) => row.stream_status === 'connected');

  await t.test('an event that comes twice is recorded once', async (t) => {
    const emit = { action: 'emit', type: 'message_received', event_id: 'twice', data: { body: 'Hi' } };
    await stream(emit);
    await stream(emit);
    await stream({ action: 'emit', type: 'message_received', event_id: 'after' });
    await until(listener, (row) => row.last_event_id === 'after');
    const received = (await eventsOf(client, connection)).filter((event) => event.type === 'message_received');
    t.equal(received.length, 2);
  });

  await t.test('text that no database stores is recorded and read with what can be stored of it', async (t) => {
    const body = 'half \ud83d, nothing \0, and \\u0000 spelled out 👋';
    const storable = 'half \ufffd, nothing \ufffd, and \\u0000 spelled out 👋';
    await stream({ action: 'emit', type: 'message_received', event_id: 'strange', data: { body } });
    await until(listener, (row) => row.last_event_id === 'strange');
    const [newest] = await eventsOf(client, connection);
    const event = (await client.send('GET', `/v1/events/${newest?.id}`)).body.data as Row;
    t.equal(event.message_body, storable);
    const read = await client.run(connection, 'social.messages.list', { conversation_id: event.conversation_id });
    t.match(read, { status: 'succeeded', result: { messages: [{ message_body: storable }] } });
    t.match(await client.run(connection, 'social.identity.get'), { status: 'succeeded' }, 'and nothing stands still');
  });

  await t.test('a dropped stream opens a gap and tells; the next one closes it and tells', async (t) => {
    await stream({ action: 'drop' });
    const degraded = await until(listener, (row) => row.continuity_status === 'gap_open');
    t.equal(degraded.open_gap_count, 1);
    await stream({ action: 'resume' });
    await until(listener, (row) => row.stream_status === 'connected' && row.continuity_status === 'continuous');
    const told = async () => (await eventsOf(client, connection)).map((event) => event.type as string);
    const types = await until(told, (all) => all.includes('connection.stream_restored'));
    t.equal(types.filter((type) => type.startsWith('connection.stream_')).length, 2, 'each is told once');
    const gaps = (await listener()).gaps as Row[];
    t.match(gaps, [{ reason: /^stream_/, closed_at: String }]);
  });

  await t.test('a session ended elsewhere: the connection needs a login and nobody asks again', async (t) => {
    await control(sandboxUrl, 'POST', '/accounts', { username: 'ada', end_sessions: true });
    await stream({ action: 'drop' });
    await stream({ action: 'resume' });
    const read = () => client.send('GET', `/v1/connections/${connection}`);
    t.match((await until(read, ({ body }) => body.health === 'needs_login')).body, { state_revision: 1 });
    t.match(await until(listener, (row) => row.stream_status === 'stopped'), { open_gap_count: 1 });
    t.match(await client.run(connection, 'social.identity.get'), { error_code: 'connection_not_ready' });
  });

  await t.test('after the next login it listens again', async (t) => {
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded', result: { state_revision: 2 } });
    await until(listener, (row) => row.stream_status === 'connected' && row.open_gap_count === 0);
    t.pass('the gap is closed');
  });

  await t.test('another owner opens a gap of its own', async (t) => {
    await service.kill();
    const next = await startService(t, ground);
    const reasons = async () =>
      ((await listenerOf(next.client, connection)()).gaps as Row[]).map((gap) => gap.reason as string);
    await until(reasons, (found) => found.includes('owner_changed'));
    await until(listenerOf(next.client, connection), (row) => row.open_gap_count === 0);
    t.pass('and closes it');
  });
});
