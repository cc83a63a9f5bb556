import { randomBytes } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../../server/http/limits.js';
import { OPERATOR, SCOPES } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { deleteExpiredSessions } from '../../../storage/workspaces/console-sessions.js';
import { createKey, type NewApiKey, revokeKey } from '../../../storage/workspaces/keys.js';
import { createOperator, revokeOperator } from '../../../storage/workspaces/operators.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { longTest } from '../../fixture/size.js';
import { type EdgeUnderTest, startTestEdge } from '../edge-fixture.js';

type Test = Parameters<typeof startTestEdge>[0];

async function keyOf(db: Database, workspaceId: string, scopes: readonly (typeof SCOPES)[number][] = SCOPES) {
  const made = await createKey(db, { workspaceId, name: 'backend', scopes, expiresAt: null });
  if (!made) throw new Error('no key');
  return made;
}

/** A browser that has signed in. */
class Browser {
  cookie = '';

  constructor(readonly edge: EdgeUnderTest) {}

  async signIn(key: string) {
    const reply = await this.edge.call('POST', '/console/session', { body: { key }, ...this.#with({}) });
    const set = String(reply.headers['set-cookie'] ?? '');
    if (reply.status === 200) this.cookie = set.split(';')[0] ?? '';
    return { ...reply, set };
  }

  call(method: string, path: string, headers: Record<string, string> = { 'console-request': '1' }, body?: object) {
    return this.edge.call(method, path, { ...this.#with(headers), ...(body && { body }) });
  }

  #with(headers: Record<string, string>) {
    return { key: '', headers: { ...(this.cookie && { cookie: this.cookie }), ...headers } };
  }
}

async function signedIn(t: Test, scopes: readonly (typeof SCOPES)[number][] = SCOPES) {
  const edge = await startTestEdge(t);
  const made: NewApiKey = await keyOf(edge.db, edge.workspaceId, scopes);
  const browser = new Browser(edge);
  const reply = await browser.signIn(made.key);
  return { ...edge, made, browser, reply };
}

t.test('a session takes the place of its key, with its scopes', async (t) => {
  const { browser, reply, made, db, workspaceId } = await signedIn(t, ['connections:read']);
  t.equal(reply.status, 200);
  t.match(reply.set, /^cs_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  t.match(reply.json, {
    ...{ kind: 'key', id: made.row.id, name: 'backend', key_expires_at: null },
    ...{ workspace: { id: workspaceId, name: 'test' }, scopes: ['connections:read'] },
  });
  t.strictSame((await browser.call('GET', '/console/session', {})).json, reply.json);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const listed = await browser.call('GET', '/v1/connections');
  t.match(listed.json.connections, [{ id }]);
  const lacking = await browser.call('DELETE', `/v1/connections/${id}`);
  t.match([lacking.status, lacking.json.code], [403, 'forbidden']);
  const elsewhere = await createWorkspace(db, 'other');
  const { id: foreign } = await insertSimulated(db, elsewhere.id, 'bob');
  t.equal((await browser.call('GET', `/v1/connections/${foreign}`)).status, 404, 'nor anything of another workspace');
  const [row] = await db.query<{ text: string }>('testSession', 'select s::text as text from console_session s', []);
  t.notMatch(row?.text, browser.cookie.split('=')[1], 'the token is not stored');
});

t.test('what another site has a browser send is refused', async (t) => {
  const { browser, made } = await signedIn(t);
  const ours = { 'console-request': '1' };
  const refused: [why: string, method: string, headers: Record<string, string>][] = [
    ['without the header', 'GET', {}],
    ['without the header', 'POST', { 'sec-fetch-site': 'same-origin' }],
    ['another site', 'GET', { ...ours, 'sec-fetch-site': 'cross-site' }],
    ['another port', 'POST', { ...ours, 'sec-fetch-site': 'same-site' }],
    ['typed, but it writes', 'POST', { ...ours, 'sec-fetch-site': 'none' }],
    ['another origin', 'POST', { ...ours, origin: 'https://evil.example' }],
    ['no origin', 'POST', { ...ours, origin: 'null' }],
  ];
  for (const [why, method, headers] of refused) {
    const reply = await browser.call(method, '/v1/connections', headers);
    t.match([reply.status, reply.json.code], [403, 'cross_site'], why);
  }
  const host = new URL(browser.edge.url).host;
  for (const headers of [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin', origin: `http://${host}` }]) {
    t.equal((await browser.call('GET', '/v1/connections', { ...ours, ...headers })).status, 200);
  }
  for (const method of ['POST', 'DELETE']) {
    const evil = { origin: 'https://evil.example' };
    const body = method === 'POST' ? { key: made.key } : undefined;
    t.equal((await browser.call(method, '/console/session', evil, body)).status, 403, `${method} of a session`);
  }
  t.equal((await browser.call('GET', '/v1/connections')).status, 200, 'it goes on');
  const wrong = await browser.edge.call('GET', '/v1/connections', {
    key: 'wrong',
    headers: { cookie: browser.cookie, ...ours },
  });
  t.equal(wrong.status, 401, 'a wrong key beside it is wrong');
});

/** Until the request is refused as that of nobody. */
const refusedSoon = (browser: Browser, change: () => Promise<unknown> = async () => {}) =>
  eventually(
    'the session has ended',
    async () => {
      await change();
      return browser.call('GET', '/v1/connections');
    },
    ({ status }) => status === 401,
  );

t.test('a session ends with a sign-out, its key, its time, or when nobody uses it', async (t) => {
  const { browser, made, db } = await signedIn(t);
  const again = async () => {
    await browser.signIn(made.key);
    t.equal((await browser.call('GET', '/v1/connections')).status, 200);
  };
  const stolen = browser.cookie;
  const out = await browser.call('DELETE', '/console/session', {});
  t.match([out.status, out.headers['set-cookie']], [204, /^cs_console=; .*Max-Age=0$/]);
  t.equal((await browser.call('GET', '/v1/connections')).status, 401, 'at once where it was ended');
  t.equal(browser.cookie, stolen);
  await again();
  await db.query('testExpire', `update console_session set expires_at = now()`, []);
  await refusedSoon(browser);
  await again();
  // The use before may be noted after it.
  const idle = `update console_session set last_seen_at = now() - interval '2 hours'`;
  await refusedSoon(browser, () => db.query('testIdle', idle, []));
  await again();
  await revokeKey(db, made.row.id);
  await refusedSoon(browser);
  t.equal((await browser.signIn(made.key)).status, 401);
  t.equal((await browser.call('GET', '/console/session', {})).status, 401);
});

t.test('an operator works in the workspace that each request names', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const { key, row } = await createOperator(db, 'Grace', null);
  t.match(key, /^cs_oper_[0-9A-Za-z]{49}$/);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const browser = new Browser(edge);
  const { json } = await browser.signIn(key);
  t.match(json, { kind: 'operator', id: row.id, name: 'Grace', workspace: null, scopes: [OPERATOR, ...SCOPES] });
  const named = { 'console-request': '1', 'console-workspace': workspaceId };
  for (const headers of [{}, { 'console-workspace': 'x' }, { 'console-workspace': row.id }]) {
    const reply = await browser.call('GET', '/v1/connections', { 'console-request': '1', ...headers });
    t.match([reply.status, reply.json.errors], [400, [{ path: 'headers.Console-Workspace' }]]);
  }
  t.match((await browser.call('GET', `/v1/connections/${id}`, named)).json, { id });
  const bearer = await edge.call('GET', `/v1/connections/${id}`, {
    key,
    headers: { 'console-workspace': workspaceId },
  });
  t.match(bearer.json, { id }, 'its key alone does the same');
  await revokeOperator(db, row.id);
  await refusedSoon(browser);
});

t.test('wrong keys of sign-ins meet the guard that wrong keys meet', async (t) => {
  const edge = await startTestEdge(t);
  const wrong = async () => {
    const key = `cs_${randomBytes(32).toString('base64url')}`;
    return (await edge.call('POST', '/console/session', { body: { key }, key: '' })).status;
  };
  const statuses = new Set<number>();
  for (let n = 0; n < 20; n++) {
    for (const status of await Promise.all(Array.from({ length: 20 }, wrong))) statuses.add(status);
  }
  t.strictSame([...statuses].sort(), [401, 429]);
});

t.test(
  'a sign-out of what is no session begins no transaction, and made-up ones meet the guard of wrong keys',
  async (t) => {
    const edge = await startTestEdge(t);
    const begun = t.capture(edge.db, 'transaction', edge.db.transaction.bind(edge.db));
    const out = async (headers: Record<string, string>) =>
      (await edge.call('DELETE', '/console/session', { key: '', headers })).status;
    t.equal(await out({}), 204);
    t.equal(await out({ cookie: 'cs_console=x' }), 204);
    const statuses = new Set<number>();
    for (let n = 0; n < 20; n++) {
      const made = () => ({ cookie: `cs_console=${randomBytes(32).toString('base64url')}` });
      for (const status of await Promise.all(Array.from({ length: 20 }, () => out(made())))) statuses.add(status);
    }
    t.strictSame([...statuses].sort(), [204, 429]);
    t.strictSame(begun(), []);
  },
);

t.test(
  'what is refused at the sign-in is recorded so often, whatever was brought, and holds up no right key',
  async (t) => {
    const edge = await startTestEdge(t, { trustedProxies: ['127.0.0.0/8'] });
    const { key } = await keyOf(edge.db, edge.workspaceId);
    const from = (address: string, key: string) =>
      edge.call('POST', '/console/session', { body: { key }, key: '', headers: { 'x-forwarded-for': address } });
    const repeated = `cs_${randomBytes(32).toString('base64url')}`;
    const statuses = new Map<number, number>();
    for (let n = 0; n < 100; n++) {
      const sent = Array.from({ length: 20 }, (_, i) => from('192.0.2.1', i % 2 ? repeated : 'x'));
      for (const { status } of await Promise.all(sent)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    // As time goes by a few more are looked up.
    const again = async () => {
      const answer = await from('192.0.2.1', 'x');
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      return answer;
    };
    const refused = await eventually('one is refused', again, ({ status }) => status === 429);
    t.equal(refused.json.code, 'rate_limited');
    t.match(refused.headers['retry-after'], /^[1-6]$/, 'and is told when to come again');
    const entries = async () =>
      (await edge.db.query('testRefused', `select from audit.entry where action = 'console.sign_in_refused'`, []))
        .length;
    const recorded = await entries();
    t.equal(recorded, statuses.get(401));
    t.ok(recorded >= LIMITS.refused_sign_ins_address_per_min, `${recorded} entries of 2,000`);
    t.ok(recorded < 3 * LIMITS.refused_sign_ins_address_per_min, `${recorded} entries of 2,000`);
    t.equal((await from('192.0.2.2', key)).status, 200, 'from elsewhere');
    t.equal((await from('192.0.2.1', key)).status, 200, 'and from there');
    await Promise.all(Array.from({ length: 100 }, (_, n) => from(`198.51.100.${n}`, 'x')));
    t.ok((await entries()) < 2 * LIMITS.refused_sign_ins_per_min, 'all addresses together');
  },
);

longTest(t, 'of many sessions one is found by its index, and those whose time is over go in slices', async (t) => {
  const { db, browser, made } = await signedIn(t);
  await db.query(
    'testMany',
    `insert into console_session (token_hash, key_id, expires_at, address, user_agent)
     select sha256(n::text::bytea), $1, now() - interval '1 minute', '', '' from generate_series(1, 20000) n`,
    [made.row.id],
  );
  await db.query('testAnalyze', 'analyze console_session', []);
  const read = await db.transaction((tx) =>
    rowsRead(tx, 'console_session', async () => (await deleteExpiredSessions(tx, 1_000)) === 1_000),
  );
  t.ok(read.given);
  t.ok(read.scanned === 0, `${read.scanned} rows scanned`);
  t.equal((await browser.call('GET', '/v1/connections')).status, 200, 'one that is used stays');
});

t.test('a key that is bound to networks works from there alone, and so do its sessions', async (t) => {
  const edge = await startTestEdge(t, { trustedProxies: ['127.0.0.0/8'], keyExpiryWarningDays: 14 });
  const soon = new Date(Date.now() + 86_400_000);
  const networks = ['192.0.2.0/24'];
  const made = await createKey(edge.db, {
    workspaceId: edge.workspaceId,
    name: 'bound',
    scopes: SCOPES,
    networks,
    expiresAt: soon,
  });
  const key = made?.key ?? '';
  const from = (address: string) =>
    edge.call('GET', '/v1/connections', { key, headers: { 'x-forwarded-for': address } });
  for (const address of ['198.51.100.7', 'unknown', '192.0.2.7, 198.51.100.7']) {
    const { status, json } = await from(address);
    t.match([status, json.code], [403, 'network_not_allowed'], address);
  }
  const taken = await from('198.51.100.7, 192.0.2.7');
  t.equal(taken.status, 200);
  t.equal(taken.headers['key-expires'], soon.toISOString(), 'and tells of its end');

  const browser = new Browser(edge);
  t.equal((await browser.signIn(key)).status, 403);
  const inside = { 'x-forwarded-for': '192.0.2.7' };
  const reply = await edge.call('POST', '/console/session', { body: { key }, key: '', headers: inside });
  browser.cookie = String(reply.headers['set-cookie']).split(';')[0] ?? '';
  const asked = { 'console-request': '1' };
  t.equal((await browser.call('GET', '/v1/connections', { ...asked, ...inside })).status, 200);
  t.equal((await browser.call('GET', '/v1/connections', asked)).status, 403, 'a stolen cookie');
  t.equal(reply.json.key_warning_days, 14, 'and the console knows how long before its end to tell of it');

  const operator = (await createOperator(edge.db, 'Ada', null, networks)).key;
  const workspaces = (headers: Record<string, string>) =>
    edge.call('GET', '/v1/operator/workspaces', { key: operator, headers });
  t.strictSame([(await workspaces({})).status, (await workspaces(inside)).status], [403, 200], 'an operator’s key too');
  const there = await edge.call('POST', '/console/session', { body: { key: operator }, key: '', headers: inside });
  browser.cookie = String(there.headers['set-cookie']).split(';')[0] ?? '';
  t.equal((await browser.call('GET', '/v1/operator/workspaces', { ...asked, ...inside })).status, 200);
  t.equal((await browser.call('GET', '/v1/operator/workspaces', asked)).status, 403, 'and its sessions');
  await edge.edge.close();
  const [row] = await edge.db.query('testUse', 'select last_used_from, prefix from api_key where id = $1', [
    made?.row.id,
  ]);
  t.match(row, { last_used_from: '192.0.2.7', prefix: key.slice(0, 12) });
});
