import t from 'tap';
import { type Client, control } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { serviceFixture, startService } from '../fixture/service.js';

type Row = Record<string, unknown>;

const listenerOf = (client: Client, connection: string) => async () =>
  (await client.send('GET', `/v1/connections/${connection}/listener`)).body;

const eventsOf = async (client: Client, connection: string): Promise<Row[]> =>
  (await client.send('GET', `/v1/connections/${connection}/events`)).body.events as Row[];

t.test('a stream that is lost leaves a gap, and one whose session ended stops', async (t) => {
  const fixture = await serviceFixture(t, { ACTOR_THREADS: '2' });
  const service = await startService(t, fixture);
  const { client, sandboxUrl } = service;
  const connection = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'us' });
  t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
  const listener = listenerOf(client, connection);
  const stream = (order: object) => control(sandboxUrl, 'POST', '/stream', { account: 'ada', ...order });
  await eventually('the stream is connected', listener, (row) => row.stream_status === 'connected');

  await t.test('an event that comes twice is recorded once', async (t) => {
    const emit = { action: 'emit', type: 'message_received', event_id: 'twice', data: { body: 'Hi' } };
    await stream(emit);
    await stream(emit);
    await stream({ action: 'emit', type: 'message_received', event_id: 'after' });
    await eventually('the last event is recorded', listener, (row) => row.last_event_id === 'after');
    const received = (await eventsOf(client, connection)).filter((event) => event.type === 'message_received');
    t.equal(received.length, 2);
  });

  await t.test('text that no database stores is recorded and read with what can be stored of it', async (t) => {
    const body = 'half \ud83d, nothing \0, and \\u0000 spelled out 👋';
    const storable = 'half \ufffd, nothing \ufffd, and \\u0000 spelled out 👋';
    await stream({ action: 'emit', type: 'message_received', event_id: 'strange', data: { body } });
    await eventually('the strange event is recorded', listener, (row) => row.last_event_id === 'strange');
    const [newest] = await eventsOf(client, connection);
    const event = (await client.send('GET', `/v1/events/${newest?.id}`)).body.data as Row;
    t.equal(event.message_body, storable);
    const read = await client.run(connection, 'social.messages.list', { conversation_id: event.conversation_id });
    t.match(read, { status: 'succeeded', result: { messages: [{ message_body: storable }] } });
    t.match(await client.run(connection, 'social.identity.get'), { status: 'succeeded' }, 'and nothing stands still');
  });

  await t.test(
    'a dropped stream opens a gap and records an event; the next one closes it and records another',
    async (t) => {
      await stream({ action: 'drop' });
      const degraded = await eventually('a gap is open', listener, (row) => row.continuity_status === 'gap_open');
      t.equal(degraded.open_gap_count, 1);
      await stream({ action: 'resume' });
      await eventually(
        'the gap is closed',
        listener,
        (row) => row.stream_status === 'connected' && row.continuity_status === 'continuous',
      );
      const recorded = async () => (await eventsOf(client, connection)).map((event) => event.type as string);
      const types = await eventually('the recovery is an event', recorded, (all) =>
        all.includes('connection.stream_restored'),
      );
      t.equal(types.filter((type) => type.startsWith('connection.stream_')).length, 2, 'each is recorded once');
      const gaps = (await listener()).gaps as Row[];
      t.match(gaps, [{ reason: /^stream_/, closed_at: String }]);
    },
  );

  await t.test(
    'a session ended elsewhere: the connection needs a login and no stream is asked for again',
    async (t) => {
      await control(sandboxUrl, 'POST', '/accounts', { username: 'ada', end_sessions: true });
      await stream({ action: 'drop' });
      await stream({ action: 'resume' });
      const read = () => client.send('GET', `/v1/connections/${connection}`);
      t.match(
        (await eventually('the connection needs a login', read, ({ body }) => body.health === 'needs_login')).body,
        { state_revision: 1 },
      );
      t.match(await eventually('the listener has stopped', listener, (row) => row.stream_status === 'stopped'), {
        open_gap_count: 1,
      });
      t.match(await client.run(connection, 'social.identity.get'), { error_code: 'connection_not_ready' });
    },
  );

  await t.test('after the next login it listens again', async (t) => {
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded', result: { state_revision: 2 } });
    await eventually(
      'the stream is connected without a gap',
      listener,
      (row) => row.stream_status === 'connected' && row.open_gap_count === 0,
    );
    t.pass('the gap is closed');
  });

  await t.test('what was said while nobody listened is a gap, although it was closed on purpose', async (t) => {
    const before = ((await listener()).gaps as Row[]).length;
    t.equal((await client.send('POST', `/v1/connections/${connection}/disconnect`)).status, 200);
    await eventually(
      'the listener has stopped, with a gap',
      listener,
      (row) => row.stream_status === 'stopped' && row.continuity_status === 'gap_open' && row.open_gap_count === 1,
    );
    t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
    const again = await eventually(
      'it listens again',
      listener,
      (row) => row.stream_status === 'connected' && row.continuity_status === 'continuous',
    );
    const gaps = again.gaps as Row[];
    t.equal(gaps.length, before + 1);
    t.match(gaps[0], { reason: 'connection_not_ready', started_at: String, closed_at: String });
  });

  await t.test('another owner opens a gap of its own', async (t) => {
    await service.kill();
    const next = await startService(t, fixture);
    const reasons = async () =>
      ((await listenerOf(next.client, connection)()).gaps as Row[]).map((gap) => gap.reason as string);
    await eventually('the new owner has opened a gap', reasons, (found) => found.includes('owner_changed'));
    await eventually(
      'the gap of the new owner is closed',
      listenerOf(next.client, connection),
      (row) => row.open_gap_count === 0,
    );
    t.pass('and closes it');
  });
});
