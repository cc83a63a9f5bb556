import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { findReconnectLink, loginKey } from '../../storage/connections/reconnect-links.js';
import type { Answer, Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { inService, ownService } from '../fixture/shared-service.js';

const PUBLIC_URL = 'https://connections.example.com';
const newText = () => randomBytes(32).toString('base64url');

/** A page of the owner's browser: it has no key. */
class Page {
  readonly #secret = newText();

  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  async ask(step: 'open' | 'login' | 'progress' | 'code', more: object = {}): Promise<Answer> {
    const own = step === 'open' ? {} : { page: this.#secret };
    const answer = await request(`${this.url}/reconnect/${step}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: this.token, ...own, ...more }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Answer['body'] };
  }

  /** How the login stands once it waits for the owner or has ended. */
  settled(): Promise<Answer> {
    return eventually(
      'the login waits or has ended',
      () => this.ask('progress'),
      ({ body }) => body.status !== 'queued' && body.status !== 'running',
    );
  }
}

async function linkTo(client: Client, connection: string): Promise<string> {
  const { status, body } = await client.send('POST', `/v1/connections/${connection}/reconnect-link`);
  if (status !== 201) throw new Error(`no link: ${status} ${JSON.stringify(body)}`);
  const [origin, token] = String(body.url).split('/reconnect#');
  if (origin !== PUBLIC_URL || !token) throw new Error(`not a link: ${body.url}`);
  return token;
}

const service = ownService(t, { PUBLIC_URL, LOG_LEVEL: 'debug' });

async function pages(t: Test) {
  const tested = await inService(t, await service);
  return { ...tested, pageOf: (token: string) => new Page(tested.url, token) };
}

t.test('the owner of an account signs it in by a link, with password and code, and nobody else can', async (t) => {
  const { client, db, pageOf, stderr } = await pages(t);
  const username = 'grace+email@example.com';
  const connection = await client.connect({ provider: 'social', username, password: 'old-password', region: 'us' });
  const token = await linkTo(client, connection);
  const [page, other] = [pageOf(token), pageOf(token)];

  const stored = () =>
    db.query('testStored', 'select password_sealed, credential_version, health_reason from connection where id = $1', [
      connection,
    ]);
  const before = await stored();
  const opened = await page.ask('open');
  t.match(opened, { status: 200, headers: { 'cache-control': 'no-store' } });
  t.match(opened.body, { workspace: 'test', account: 'g•••@example.com', needs_password: true, used: false });
  t.match(await other.ask('open'), { body: { used: false } }, 'opening it uses nothing');
  t.match(await page.ask('progress'), { status: 200, body: { status: null, challenge: null, tries_left: 5 } });
  t.match(await page.ask('login'), { status: 400 }, 'a password is wanted');
  t.match(await page.ask('code', { challenge_id: 'x', code: '1' }), { body: { code: 'challenge_not_accepting_code' } });

  // Who asked for the link can read its id out of it.
  const [{ id: linkId } = { id: '' }] = await db.query<{ id: string }>('testLink', 'select id from reconnect_link', []);
  for (const key of [`reconnect-link/${linkId}/1`, loginKey({ id: linkId, tries: 1 })]) {
    const { status, body } = await client.submit(connection, 'social.profile.get', { profile_id: 'ada-lovelace' }, key);
    if (status === 202) await client.settled(body.id); // while it runs the connection is busy
    t.equal(status, key.startsWith('reconnect-link/') ? 202 : 400, 'no key of a client stands in the way of the login');
  }
  t.match(await page.ask('login', { password: 'wrong-password' }), { status: 202, body: { tries_left: 4 } });
  t.match((await page.settled()).body, { status: 'failed', error_code: 'authentication_failed' });
  t.strictSame(await stored(), before, 'a wrong one changes nothing of the connection');
  for (const step of ['login', 'progress', 'code'] as const) {
    const more = { login: { password: 'sandbox' }, progress: {}, code: { challenge_id: 'x', code: '1' } }[step];
    t.match(await other.ask(step, more), { status: 409, body: { code: 'link_used' } }, `another page: ${step}`);
  }

  t.match(await page.ask('login', { password: 'sandbox' }), { status: 202, body: { tries_left: 3 } });
  const waiting = await page.settled();
  t.match(waiting.body, { status: 'waiting_user', challenge: { kind: 'email', accepts_code: true } });
  const { id } = waiting.body.challenge as { id: string };
  const unnoted = () => db.query('testUnnoted', 'update reconnect_link set operation_id = null', []);
  await unnoted();
  t.match(await page.ask('progress'), { body: { challenge: { id } } }, 'killed before the login was noted');
  t.match(await page.ask('login', { password: 'sandbox' }), { body: { code: 'connection_busy' } });
  t.match(await page.ask('code', { challenge_id: id, code: '000000' }), { status: 202, body: { status: 'accepted' } });
  const done = await eventually(
    'it is signed in',
    () => page.settled(),
    ({ body }) => body.status !== 'waiting_user',
  );
  t.match(done.body, { status: 'succeeded', challenge: null, error_code: null });
  t.match(await client.send('GET', `/v1/connections/${connection}`), { body: { health: 'ready' } });
  t.match(await stored(), [{ credential_version: 1 }]);
  t.notSame(await stored(), before, 'the one that proved right is the connection’s');
  t.strictSame(await db.query('testGiven', 'select password_sealed from reconnect_link', []), [
    { password_sealed: null },
  ]);
  await unnoted();
  t.match(await page.ask('login', { password: 'sandbox' }), { body: { code: 'link_used' } }, 'it was for one login');

  const again = pageOf(await linkTo(client, connection));
  await again.ask('login', { password: 'wrong-password' });
  t.match((await again.settled()).body, { status: 'failed', error_code: 'authentication_failed' });
  t.match(await client.send('GET', `/v1/connections/${connection}`), { body: { health: 'ready' } });
  const checked = await client.run(connection, 'social.health.check', {});
  t.equal(checked.status, 'succeeded', 'the session goes on');
  const { status } = await client.run(connection, 'social.login', { reconnect: true });
  t.equal(status, 'waiting_user', 'and so does the password');

  const rows = await db.query('testLinks', 'select l::text from reconnect_link l', []);
  t.notMatch(JSON.stringify(rows), token, 'what proves a link stands in no table');
  t.notMatch(stderr(), token, 'nor in the log');
  t.notMatch(stderr(), /old-password|wrong-password/);
});

t.test('a link that is replaced, expired, made up or of a deleted connection opens nothing', async (t) => {
  const { client, db, pageOf } = await pages(t);
  const connect = (id: string) => client.connect({ provider: 'simulated', external_actor: { kind: 'person', id } });
  const connection = await connect('ada');
  const [first, second] = [await linkTo(client, connection), await linkTo(client, connection)];
  t.match(await pageOf(first).ask('open'), { status: 404, body: { code: 'not_found' } }, 'replaced');
  t.match(await pageOf(second).ask('open'), { body: { account: 'a•••', needs_password: false } });
  t.match(await pageOf(second).ask('login', { password: 'x' }), { status: 400 }, 'it has no password');
  const page = pageOf(second);
  t.match(await page.ask('login'), { status: 202 });
  t.match((await page.settled()).body, { status: 'succeeded' });

  const doomed = await connect('bob');
  const [gone, late] = [await linkTo(client, doomed), await linkTo(client, connection)];
  await client.send('DELETE', `/v1/connections/${doomed}`);
  await db.query('testExpire', `update reconnect_link set expires_at = now() where connection_id = $1`, [connection]);
  const forged = Buffer.from(late, 'base64url');
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  for (const [why, token] of Object.entries({ gone, late, forged: forged.toString('base64url'), random: newText() })) {
    t.match(await pageOf(token).ask('open'), { status: 404 }, why);
    t.match(await pageOf(token).ask('login'), { status: 404 }, why);
  }
});

t.test('of two pages that sign in at once one has the link', async (t) => {
  const { client, pageOf } = await pages(t);
  const connection = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  const token = await linkTo(client, connection);
  const answers = await Promise.all(Array.from({ length: 6 }, () => pageOf(token).ask('login')));
  t.equal(answers.filter(({ status }) => status === 202).length, 1);
  t.ok(
    answers.every(({ status, body }) => status === 202 || body.code === 'link_used' || body.code === 'connection_busy'),
  );
});

t.test('a made-up link costs no query', async (t) => {
  const vault = { hash: () => Buffer.alloc(32) };
  const asked = { vault, query: () => Promise.reject(new Error('asked')) };
  const token = Buffer.alloc(48, 1).toString('base64url');
  t.equal(await findReconnectLink(asked as never, token), undefined);
});
