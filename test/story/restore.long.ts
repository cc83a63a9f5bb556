import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { LIMITS } from '../../actors/limits.js';
import { NetworkProcess } from '../../bench/kit/network-process.js';
import { SCOPES } from '../../storage/model/records.js';
import { openDatabase } from '../../storage/postgres/database.js';
import { migrate } from '../../storage/schema/migrate.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createWorkspace } from '../../storage/workspaces/workspaces.js';
import { baseBackup } from '../fixture/base-backup.js';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { type Client, control, ledger, type Operation } from '../fixture/client.js';
import { dataFolder } from '../fixture/data-folder.js';
import { eventually } from '../fixture/eventually.js';
import { startService } from '../fixture/service.js';
import { startSuperuserDatabase } from '../fixture/superuser-database.js';

/*
 * What the page for operators says of backups: a base backup of a database at work, the encryption keys, and `restore settle` before
 * the first start on what was restored. The network of the accounts lives on, as a provider does.
 */

const ADMIN = fileURLToPath(new URL('../../server/admin.js', import.meta.url));
const run = promisify(execFile);

async function keyOf(url: string): Promise<string> {
  await migrate(url);
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'test' });
  const { id } = await createWorkspace(db, 'test');
  const created = await createKey(db, { workspaceId: id, name: 'test', scopes: SCOPES, expiresAt: null });
  await db.close();
  return created?.key ?? '';
}

const social = (username: string) => ({ provider: 'social', username, password: 'sandbox', region: 'US' });
const read = async (client: Client, id: unknown) =>
  (await client.send('GET', `/v1/operations/${id}`)).body as unknown as Operation;
const reached = (client: Client, id: unknown, phase: string) =>
  eventually(
    `the operation is ${phase}`,
    () => read(client, id),
    ({ attempts }) => attempts.at(-1)?.phase === phase,
  );

/** Logs an account in that is asked for a code. */
async function loggedInByCode(client: Client, connection: string, login?: string): Promise<Operation> {
  const id = login ?? (await client.submit(connection, 'social.login')).body.id;
  const { challenge } = await client.settled(id);
  await client.send('POST', `/v1/operations/${id}/challenge`, { challenge_id: challenge?.id, code: '000000' });
  return client.answered(id, challenge?.id ?? '');
}

t.test('a base backup of a service at work is restored elsewhere, and sends nothing twice', async (t) => {
  const [former, restored, site] = await Promise.all([dataFolder(t), dataFolder(t), dataFolder(t)]);
  const network = await NetworkProcess.start(site);
  t.teardown(() => network.stop());
  const { control_url } = network.ready;
  const database = await startSuperuserDatabase(former);
  t.teardown(() => database.stop());
  const callbacks = await receiveCallbacks(t);
  const env = {
    ...callbacks.env,
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    PROVIDER: join(site, 'provider.json'),
    ...{ PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'fatal', ACTOR_THREADS: '2' },
  };
  const key = await keyOf(database.url);
  const before = await startService(t, { key, env: { ...env, DATABASE_URL: database.url, DATA_DIR: former } });
  const { client } = before;

  // One connection at work at the write boundary, with a read behind it; one that waits for its user, with a write behind it.
  const ada = await client.connect(social('ada'));
  t.match(await client.run(ada, 'social.login'), { status: 'succeeded' });
  const found = await client.run(ada, 'social.people.search', { keywords: 'engineer', count: 1 });
  const [person] = found.result.people as { hash_id: string }[];
  const message = (body: string) => ({ recipient_actor_id: person?.hash_id, body });
  const sentKey = randomUUID();
  const sent = await client.submit(ada, 'social.message.send', message('before the backup'), sentKey);
  t.match(await client.settled(sent.body.id), { status: 'succeeded' });
  const subscribed = await client.send('POST', `/v1/connections/${ada}/subscriptions`, {
    ...{ event_types: ['message_received'], callback_url: callbacks.url, secret: callbacks.secret },
  });
  t.equal(subscribed.status, 201);
  const bea = await client.connect(social('bea+email'));
  const login = await client.submit(bea, 'social.login');
  t.match(await client.settled(login.body.id), { status: 'waiting_user' });
  const queued = await client.submit(bea, 'social.message.send', message('queued in the backup'));
  await control(control_url, 'POST', '/faults', { account: 'ada', capability: 'social.message.send', mode: 'hang' });
  const hanging = await client.submit(ada, 'social.message.send', message('never answered'));
  await reached(client, hanging.body.id, 'dispatching');
  const reading = await client.submit(ada, 'social.people.search', { keywords: 'engineer', count: 1 });

  await baseBackup(database.url, join(former, 'postgres'), join(restored, 'postgres'));

  // The service goes on for a while, and is lost.
  t.match(await loggedInByCode(client, bea, String(login.body.id)), { status: 'succeeded' });
  t.match(await client.settled(queued.body.id), { status: 'succeeded' });
  const later = await client.submit(bea, 'social.message.send', message('after the backup'));
  t.match(await client.settled(later.body.id), { status: 'succeeded' });
  await before.kill();
  await database.stop();
  await control(control_url, 'DELETE', '/faults');

  const elsewhere = { ...env, DATA_DIR: restored };
  // Through env -i: the test runner's hooks write where the database's user may not.
  const variables = Object.entries({ PATH: process.env.PATH, ...elsewhere }).map((pair) => pair.join('='));
  const admin = () => run('env', ['-i', ...variables, process.execPath, ADMIN, 'restore', 'settle']);
  // A backup made just now shows nodes that may be alive, until their leases have ended.
  let settled = await admin().catch(({ stderr }) => ({ stdout: '', stderr: String(stderr) }));
  if (/had a heartbeat/.test(settled.stderr)) {
    await delay(LIMITS.lease_ms);
    settled = await admin();
  }
  t.strictSame(settled, { stdout: '{"outcome_unknown":2}\n', stderr: '' });

  const after = await startService(t, { key, env: elsewhere });
  const known = (answer: { body: { id?: unknown } }) => after.client.settled(answer.body.id);
  const twin = await after.client.submit(ada, 'social.message.send', message('before the backup'), sentKey);
  t.match(twin, { status: 200, headers: { 'idempotency-replayed': 'true' }, body: { id: sent.body.id } });
  t.match(await known(hanging), {
    ...{ status: 'outcome_unknown', attempts: [{ number: 1, status: 'outcome_unknown', phase: 'dispatching' }] },
    evidence: { fault: 'worker_lost', boundary_at: String, request: { sent: 'unknown' } },
  });
  const unknown = await known(queued);
  t.match(unknown, {
    ...{ status: 'outcome_unknown', attempts: [{ number: 1, status: 'outcome_unknown' }] },
    evidence: { fault: 'worker_lost', boundary_at: null, request: { sent: 'unknown', at: null } },
  });
  t.strictSame(
    unknown.timeline.map(({ to, reason }) => [to, reason]),
    [
      ['queued', 'submitted'],
      ['running', 'restored'],
      ['outcome_unknown', 'restored'],
    ],
  );
  t.match(await known(reading), { status: 'succeeded' }, 'a read runs again, with the session of the backup');
  t.match(await known(login), { status: 'failed', error_code: 'worker_lost' });
  const lost = await after.client.send('GET', `/v1/operations/${later.body.id}`);
  t.equal(lost.status, 404, 'what was accepted after the backup is not known any more');

  await eventually(
    'the event stream is open again, after a gap',
    () => after.client.send('GET', `/v1/connections/${ada}/listener`),
    ({ body }) => (body.gaps as { closed_at: string | null }[])[0]?.closed_at != null,
  );
  await control(control_url, 'POST', '/stream', { account: 'ada', action: 'emit', type: 'message_received' });
  const callback = await callbacks.next(({ verified, event }) => verified && event?.connection_id === ada);
  t.equal(callback.event?.type, 'message_received', 'signed with the secret of the backup');

  t.match(await loggedInByCode(after.client, bea), { status: 'succeeded' }, 'with the password of the backup');
  const looked = await after.client.send('POST', `/v1/operations/${queued.body.id}/reconcile`);
  t.match(looked.body, { status: 'outcome_unknown', evidence: { look: { found: 'one' } } }, 'its sender can find out');
  const texts = async (account: string) => (await ledger(control_url, account)).map(({ text }) => text);
  t.strictSame(await texts('bea+email'), ['queued in the backup', 'after the backup'], 'each once');
  t.strictSame(await texts('ada'), ['before the backup']);
  t.equal(await after.stop(), 0);
});
