import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { control, type Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import type { Row } from '../fixture/social.js';

const PROGRAM = fileURLToPath(new URL('../../server/admin.js', import.meta.url));

/** `proxy …` as an operator runs it beside the service. */
async function proxyCommand({ env }: ServiceFixture, ...args: string[]): Promise<Record<string, string>> {
  const options = { env: { PATH: process.env.PATH, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'proxy', ...args], options);
  return JSON.parse(stdout);
}

/** Adds the network's own proxy of the region once more, under another id. */
async function addTwin(fixture: ServiceFixture, region: string): Promise<string> {
  const { proxies } = JSON.parse(await readFile(join(fixture.dataDir, 'sandbox/network.json'), 'utf8')) as {
    proxies: { region: string; port: number; username: string; password: string }[];
  };
  const own = proxies.find((proxy) => proxy.region === region);
  const file = join(fixture.dataDir, 'proxy-url');
  await writeFile(file, `http://${own?.username}:${own?.password}@127.0.0.1:${own?.port}`);
  const { proxy_id } = await proxyCommand(fixture, 'add', '--region', region, '--url-file', file);
  return proxy_id as string;
}

t.test('a proxy that is removed takes its pins with it, and what used them', async (t) => {
  const fixture = await serviceFixture(t);
  const { client, sandboxUrl } = await startService(t, fixture);
  const connect = (username: string) =>
    client.connect({ provider: 'social', username, password: 'sandbox', region: 'us' });
  const of = async (connection: string) => (await client.send('GET', `/v1/connections/${connection}`)).body;
  const listenerOf = async (connection: string) =>
    (await client.send('GET', `/v1/connections/${connection}/listener`)).body;
  const pinOf = async (connection: string) => ((await of(connection)).session_proxy as Row | null)?.id as string;

  const ada = await connect('ada');
  t.match(await client.run(ada, 'social.login'), { result: { state_revision: 1 } });
  await eventually(
    'it is listened to',
    () => listenerOf(ada),
    (row) => row.stream_status === 'connected',
  );
  const removed = await pinOf(ada);

  await t.test('a write past its boundary ends as it would', async (t) => {
    await control(sandboxUrl, 'POST', '/faults', {
      ...{ account: 'ada', capability: 'social.message.send', mode: 'delay', ms: 4_000, times: 1 },
    });
    const recipient = await client.run(ada, 'social.connections.list', { count: 1 });
    const [{ hash_id }] = recipient.result.connections as [{ hash_id: string }];
    const { body } = await client.submit(ada, 'social.message.send', { recipient_actor_id: hash_id, body: 'Hello' });
    const written = async () => (await client.send('GET', `/v1/operations/${body.id}`)).body.attempts as Row[];
    await eventually('it is past its boundary', written, ([attempt]) => attempt?.phase === 'dispatching');
    t.strictSame(await proxyCommand(fixture, 'remove', '--proxy', removed), { proxy_id: removed });
    t.match(await client.settled(body.id), { status: 'succeeded', attempts: [{ number: 1, state_revision: 1 }] });
  });

  await t.test('the connection has no pin, under another revision, and nobody listens to it', async (t) => {
    t.match(await of(ada), { health: 'ready', session_proxy: null, state_revision: 2 });
    const closed = await eventually(
      'the stream is closed, with a gap',
      () => listenerOf(ada),
      (row) => row.continuity_status === 'gap_open',
    );
    t.match(closed, {
      ...{ stream_status: 'degraded', status: 'stopped', reason: 'regional_proxy_unavailable' },
      gaps: [{ reason: 'regional_proxy_unavailable', closed_at: null }],
    });
    t.match(await client.run(ada, 'social.identity.get'), {
      status: 'failed',
      error_code: 'regional_proxy_unavailable',
    });
    t.match(await client.run(ada, 'social.login'), { error_code: 'regional_proxy_unavailable' });
  });

  const second = await addTwin(fixture, 'US');
  await t.test('a login pins another, which is a changed session', async (t) => {
    t.match(await client.run(ada, 'social.login'), { status: 'succeeded', result: { state_revision: 3 } });
    t.match(await of(ada), { state_revision: 3, session_proxy: { id: second, active: true } });
    t.match(await client.run(ada, 'social.identity.get'), { status: 'succeeded', result: { state_revision: 3 } });
    const again = await eventually(
      'it is listened to through the new one',
      () => listenerOf(ada),
      (row) => row.stream_status === 'connected',
    );
    t.match(again, { continuity_status: 'continuous', open_gap_count: 0 });
  });

  const bea = await connect('bea+sms');
  await t.test(
    'a login whose proxy goes while its user is asked opens nothing, and the next one takes another',
    async (t) => {
      const { body } = await client.submit(bea, 'social.login');
      const waiting = await client.settled(body.id);
      t.match(waiting, { status: 'waiting_user' });
      const third = await addTwin(fixture, 'US');
      await proxyCommand(fixture, 'remove', '--proxy', second);
      const answer = async ({ id, challenge }: Operation) =>
        client.send('POST', `/v1/operations/${id}/challenge`, { challenge_id: challenge?.id, code: '000000' });
      t.equal((await answer(waiting)).status, 202);
      const lost = await eventually(
        'it has ended',
        () => client.settled(body.id),
        ({ status }) => status !== 'waiting_user' && status !== 'running',
      );
      const retryable = { error_code: 'session_fenced', error_details: { retryable: true } };
      t.match(lost, { status: 'failed', ...retryable, attempts: [{ status: 'failed' }] });
      t.equal(lost.attempts.length, 1, 'its code was of one use');
      t.match(await of(bea), { health: 'needs_login', state_revision: 0 });
      const again = await client.submit(bea, 'social.login');
      const asked = await client.settled(again.body.id);
      t.equal((await answer(asked)).status, 202);
      t.match(await client.answered(asked.id, asked.challenge?.id ?? ''), { status: 'succeeded' });
      t.match(await of(bea), { health: 'ready', state_revision: 1, session_proxy: { id: third } });
    },
  );

  await t.test('a pin that is switched off is replaced by the next login, with one step of the revision', async (t) => {
    const off = await pinOf(bea);
    const fourth = await addTwin(fixture, 'US');
    await fixture.db.query('testSwitchOff', 'update regional_proxy set active = false where id = $1', [off]);
    t.match(await client.run(bea, 'social.identity.get'), { error_code: 'regional_proxy_unavailable' });
    t.match(await of(bea), { state_revision: 1, session_proxy: { id: off, active: false } });
    t.match(await client.run(bea, 'social.login'), { status: 'succeeded', result: { state_revision: 2 } });
    t.match(await of(bea), { state_revision: 2, session_proxy: { id: fourth, active: true } });
    t.match(await client.run(bea, 'social.identity.get'), { status: 'succeeded' });
  });
});
