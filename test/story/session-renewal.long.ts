import t from 'tap';
import { type Client, control, faultsSpent } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { browsersBelow } from '../fixture/processes.js';
import { type RunningService, serviceFixture, startService } from '../fixture/service.js';

const killBrowsers = ({ process: service }: RunningService) => {
  for (const pid of browsersBelow(service.pid ?? 0)) process.kill(pid, 'SIGKILL');
};

const listenerOf = (client: Client, connection: string) => async () =>
  (await client.send('GET', `/v1/connections/${connection}/listener`)).body;

t.test('a session that its site renews with every request', async (t) => {
  const fixture = await serviceFixture(t);
  const service = await startService(t, fixture);
  const { client, sandboxUrl } = service;
  const connection = await client.connect({ provider: 'social', username: 'ada', password: 'sandbox', region: 'us' });
  const run = (capability: string, input: object = {}) => client.run(connection, capability, input);
  const listener = listenerOf(client, connection);
  const stream = (action: string) => control(sandboxUrl, 'POST', '/stream', { account: 'ada', action });
  const shown = async () => (await client.send('GET', `/v1/connections/${connection}`)).body;
  const good = { status: 'succeeded', result: { state_revision: 1 } };
  await control(sandboxUrl, 'POST', '/accounts', { username: 'ada', renew_session_every: 1 });

  await t.test('is published as it is behind the last request of its login', async (t) => {
    t.match(await run('social.login'), good);
    await eventually('it is listened to', listener, (row) => row.stream_status === 'connected');
    t.match(await run('social.identity.get'), good);
  });

  const person = await run('social.connections.list', { count: 1 });
  const [{ hash_id }] = person.result.connections as [{ hash_id: string }];
  const work: [what: string, capability: string, input: object][] = [
    ['a read', 'social.identity.get', {}],
    ['a page', 'social.health.check', {}],
    ['a write', 'social.message.send', { recipient_actor_id: hash_id, body: 'Hello' }],
    ['a download', 'social.file.download', { url: 'https://files.social.test/samples/1000.bin' }],
  ];
  for (const [what, capability, input] of work) {
    await t.test(`outlives the browser behind ${what}`, async (t) => {
      const done = await run(capability, input);
      t.equal(done.status, 'succeeded', JSON.stringify(done.error_details));
      killBrowsers(service);
      t.match(await run('social.identity.get'), good);
    });
  }

  await t.test('outlives a browser that is killed in the middle of a run, behind its first request', async (t) => {
    await control(sandboxUrl, 'POST', '/faults', {
      ...{ account: 'ada', capability: 'social.people.search', mode: 'hang', times: 1 },
    });
    const { body } = await client.submit(connection, 'social.people.search', { filters: { location_name: 'Berlin' } });
    await faultsSpent(sandboxUrl);
    killBrowsers(service);
    t.match(await client.settled(body.id), { status: 'succeeded' });
  });

  await t.test('is renewed by its stream as well, with and without a context', async (t) => {
    for (const round of ['once', 'and again']) {
      await stream('drop');
      await eventually('the stream is lost', listener, (row) => row.continuity_status === 'gap_open');
      await stream('resume');
      await eventually('it is listened to again', listener, (row) => row.continuity_status === 'continuous');
      if (round === 'once') t.match(await run('social.identity.get'), good, 'the warm context has older cookies');
    }
    t.match(await run('social.identity.get'), good);
    t.match(await shown(), { health: 'ready', state_revision: 1 });
  });

  await t.test('goes on through reads beside the openings of its stream', async (t) => {
    await stream('drop');
    for (let n = 0; n < 10; n++) {
      if (n === 3) await stream('resume');
      t.match(await run('social.identity.get'), { status: 'succeeded' });
    }
    await eventually('it is listened to again', listener, (row) => row.stream_status === 'connected');
    t.match(await shown(), { health: 'ready', state_revision: 1 });
  });

  // Longer than a request takes; a machine that is slower tries less.
  const late = (more: object) =>
    control(sandboxUrl, 'POST', '/faults', { account: 'ada', mode: 'delay', ms: 3_000, times: 1, ...more });

  await t.test('goes on through a read that is refused before its stream has the answer that renews it', async (t) => {
    await stream('drop');
    await eventually('the stream is lost', listener, (row) => row.continuity_status === 'gap_open');
    await late({});
    await stream('resume');
    await faultsSpent(sandboxUrl);
    t.match(await run('social.identity.get'), good);
    await eventually('it is listened to again', listener, (row) => row.stream_status === 'connected');
    t.match(await shown(), { health: 'ready', state_revision: 1 });
  });

  await t.test('goes on through a stream that is refused before a read has the answer that renews it', async (t) => {
    await late({ capability: 'social.identity.get' });
    const { body } = await client.submit(connection, 'social.identity.get');
    await faultsSpent(sandboxUrl);
    await stream('drop');
    await stream('resume');
    t.match(await client.settled(body.id), good);
    await eventually('it is listened to again', listener, (row) => row.stream_status === 'connected');
    t.match(await shown(), { health: 'ready', state_revision: 1 });
  });

  await t.test('is published by a recruiter switch as its proof left it', async (t) => {
    t.match(await run('social.recruiter.switch', { contract: 'executive' }), { status: 'succeeded' });
    killBrowsers(service);
    t.match(await run('social.recruiter.people.search', { keywords: 'engineer' }), { status: 'succeeded' });
  });

  await t.test('outlives its node', async (t) => {
    await eventually('it is listened to', listener, (row) => row.stream_status === 'connected');
    t.match(await run('social.identity.get'), { status: 'succeeded' });
    await service.kill();
    const next = await startService(t, fixture);
    t.match(await next.client.run(connection, 'social.identity.get'), { status: 'succeeded' });
    await eventually(
      'it is listened to by the next one',
      listenerOf(next.client, connection),
      (row) => row.stream_status === 'connected' && row.continuity_status === 'continuous',
    );
    t.match((await next.client.send('GET', `/v1/connections/${connection}`)).body, { health: 'ready' });
  });
});
