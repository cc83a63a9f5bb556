import pg from 'pg';
import t from 'tap';
import { partitionOf } from '../../storage/model/records.js';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { type Client, control, ledger, type Operation } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { inSharedService } from '../fixture/shared-service.js';
import { longTest, sized } from '../fixture/size.js';

const social = (username: string, region: string) => ({ provider: 'social', username, password: 'sandbox', region });

async function loggedIn(client: Client, username: string, region: string): Promise<string> {
  const connection = await client.connect(social(username, region));
  const login = await client.run(connection, 'social.login');
  if (login.status !== 'succeeded') throw new Error(`login of ${username}: ${login.status} ${login.error_code}`);
  return connection;
}

const read = async (client: Client, id: unknown) =>
  (await client.send('GET', `/v1/operations/${id}`)).body as unknown as Operation;

/** The node that owns the partition of a connection. */
async function ownerOf(url: string, connectionId: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select node_id from partition where id = $1', [partitionOf(connectionId)]);
  await client.end();
  return rows[0].node_id;
}

for (const ending of sized(['SIGKILL'] as const, ['SIGTERM', 'SIGKILL'] as const)) {
  t.test(`everything accepted ends after ${ending} and a new start`, async (t) => {
    const callbacks = await receiveCallbacks(t);
    const fixture = await serviceFixture(t, {
      ...callbacks.env,
      ACTOR_THREADS: '2',
      SANDBOX_CONTROL_PORT: '0',
      LOG_LEVEL: 'warn',
    });
    const before = await startService(t, fixture);
    const { client, sandboxUrl } = before;
    const [writer, reader] = [await loggedIn(client, 'writer', 'US'), await loggedIn(client, 'reader', 'FR')];
    const asked = await client.connect(social('asked+email', 'GB'));
    const waiting = await client.submit(asked, 'social.login');
    t.match(await client.settled(waiting.body.id), { status: 'waiting_user' });
    const [person] = (await client.run(writer, 'social.people.search', { keywords: 'engineer', count: 1 })).result
      .people as { hash_id: string }[];

    await control(sandboxUrl, 'POST', '/faults', { capability: 'social.message.send', mode: 'hang', times: 1 });
    await control(sandboxUrl, 'POST', '/faults', { capability: 'social.people.search', mode: 'hang', times: 1 });
    const message = (body: string) => ({ recipient_actor_id: person!.hash_id, body });
    const hanging = await client.submit(writer, 'social.message.send', message('never answered'));
    const queued = await client.submit(writer, 'social.message.send', message('after the restart'));
    const reading = await client.submit(reader, 'social.people.search', { keywords: 'engineer', count: 1 });
    await eventually(
      'the send is at the boundary',
      () => read(client, hanging.body.id),
      ({ attempts }) => attempts.at(-1)?.phase === 'dispatching',
    );
    await eventually(
      'the search runs',
      () => read(client, reading.body.id),
      ({ status }) => status === 'running',
    );

    const subscribed = await client.send('POST', `/v1/connections/${writer}/subscriptions`, {
      event_types: ['message_received'],
      callback_url: callbacks.url,
      secret: callbacks.secret,
    });
    t.equal(subscribed.status, 201);
    callbacks.refuse(true);
    await eventually(
      'the event stream is connected',
      () => client.send('GET', `/v1/connections/${writer}/listener`),
      ({ body }) => body.stream_status === 'connected',
    );
    await control(sandboxUrl, 'POST', '/stream', { account: 'writer', action: 'emit', type: 'message_received' });
    await callbacks.attempted();

    const owner = await ownerOf(fixture.databaseUrl, writer);
    if (ending === 'SIGTERM') t.equal(await before.stop(), 0);
    else await before.kill();
    callbacks.refuse(false);

    const after = await startService(t, fixture);
    const settled = (answer: { body: { id?: unknown } }) => after.client.settled(answer.body.id);
    const unknown = await settled(hanging);
    t.match(unknown, { status: 'outcome_unknown', attempts: [{ status: 'outcome_unknown', phase: 'dispatching' }] });
    // A drain lets it wait for its answer, for as long as the drain lasts; of who was killed the boundary is left.
    const timedOut = { fault: 'upstream_timeout', request: { sent: 'yes' }, answer: null };
    const lost = { fault: 'worker_lost', request: { sent: 'unknown', at: null }, answer: null };
    const drained = ending === 'SIGTERM' && unknown.evidence?.fault === timedOut.fault;
    t.match(unknown.evidence, drained ? timedOut : lost);
    t.ok((unknown.evidence?.boundary_at ?? '') >= (unknown.attempts[0]?.started_at ?? ''));
    t.match(unknown.evidence?.worker, { node_id: owner, thread: /^actors-/, attempt_id: unknown.attempts[0]?.id });
    const ended = new RegExp(`^.*"operation_id":"${hanging.body.id}","status":"outcome_unknown".*$`, 'm');
    await eventually(
      'the log warns of the unknown outcome',
      async () => ended.exec(before.stderr() + after.stderr())?.[0],
      (line) => line?.includes(`"request_id":"${hanging.headers['x-request-id']}"`) === true,
    );
    t.match(await settled(queued), { status: 'succeeded' }, 'what was queued is done');
    t.match(await settled(reading), {
      status: 'succeeded',
      attempts: [{ status: 'abandoned' }, { status: 'succeeded' }],
    });
    t.match(await settled(waiting), {
      status: 'failed',
      error_code: 'worker_lost',
      error_details: { retryable: true },
    });
    const texts = (await ledger(after.sandboxUrl, 'writer')).map((entry) => entry.text);
    t.strictSame(texts, ['after the restart'], 'nothing past the boundary was done twice');
    const callback = await callbacks.next((one) => one.verified && one.event?.type === 'message_received');
    t.equal(callback.event?.connection_id, writer, 'the delivery was kept and made');
  });
}

longTest(t, 'a write whose answer was lost is unknown, whether it was committed or not', async (t) => {
  const { client, sandboxUrl } = await inSharedService(t);
  const connection = await loggedIn(client, 'unlucky', 'DE');
  const [person] = (await client.run(connection, 'social.people.search', { keywords: 'engineer', count: 1 })).result
    .people as { hash_id: string }[];
  const send = (body: string) =>
    client.run(connection, 'social.message.send', { recipient_actor_id: person!.hash_id, body });
  for (const [mode, written] of [
    ['drop_after_commit', 1],
    ['drop_before_commit', 0],
  ] as const) {
    await control(sandboxUrl, 'POST', '/faults', {
      account: 'unlucky',
      capability: 'social.message.send',
      mode,
      times: 1,
    });
    const operation = await send(mode);
    t.match(operation, { status: 'outcome_unknown', error_code: null });
    const entries = (await ledger(sandboxUrl, 'unlucky')).filter((entry) => entry.text === mode);
    t.equal(entries.length, written, `${mode}: never twice`);
    const reconciled = await client.send('POST', `/v1/operations/${operation.id}/reconcile`);
    t.match(reconciled, { status: 200, body: { status: 'outcome_unknown' } }, 'it stays unknown');
  }
  t.match(await send('at last'), { status: 'succeeded' });
});
