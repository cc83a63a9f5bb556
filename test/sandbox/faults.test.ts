import t from 'tap';
import { request } from 'undici';
import { eventually } from '../fixture/eventually.js';
import { timer } from '../fixture/measures.js';
import { control, ledgerOf, startedNetwork } from './fixture.js';
import { type ConversationRow, signedIn, Visitor } from './visitor.js';

t.test('faults', async (t) => {
  const network = await startedNetwork(t);
  const account = 'unlucky';
  const visitor = await signedIn(t, network, account);
  const [conversation] = (await visitor.list<ConversationRow>('/api/conversations?count=1')).data;
  const fault = (mode: string, more: object = {}) => control(network, 'POST', '/faults', { mode, account, ...more });
  const send = (body: string) => visitor.api('/api/messages', { conversationId: conversation?.id, body });
  const sent = async (text: string) => (await ledgerOf(network, account)).filter((entry) => entry.text === text).length;
  t.afterEach(() => control(network, 'DELETE', '/faults'));

  t.test('an error commits nothing, has the status asked for, and is over when it was counted down', async (t) => {
    await fault('error', { capability: 'social.message.send', status: 503, times: 2 });
    t.match(await send('error'), { status: 503, body: { error: { code: 'server_error' } } });
    t.equal((await send('error')).status, 503);
    t.equal(await sent('error'), 0);
    t.equal((await send('error')).status, 201);
  });

  t.test('an error of 429 says when to come back', async (t) => {
    await fault('error', { status: 429 });
    t.match(await visitor.api('/api/me'), { status: 429, headers: { 'retry-after': '30' } });
  });

  t.test('it hits only the account and the capability it names', async (t) => {
    await fault('error', { capability: 'social.message.send' });
    t.equal((await visitor.api('/api/me')).status, 200);
    const other = await signedIn(t, network, 'lucky');
    const { data } = await other.list<ConversationRow>('/api/conversations?count=1');
    t.equal((await other.api('/api/messages', { conversationId: data[0]?.id, body: 'x' })).status, 201);
  });

  t.test('dropped after the commit, the write is done and the answer is lost', async (t) => {
    await fault('drop_after_commit', { times: 1 });
    await t.rejects(send('after'));
    t.equal(await sent('after'), 1);
  });

  t.test('dropped before the commit, nothing is done', async (t) => {
    await fault('drop_before_commit', { times: 1 });
    await t.rejects(send('before'));
    t.equal(await sent('before'), 0);
  });

  t.test('dropped after two commits, the site has done it twice', async (t) => {
    await fault('drop_after_two_commits', { times: 1 });
    await t.rejects(send('twice'));
    t.equal(await sent('twice'), 2);
  });

  t.test('dropped and committed late, it is done when the control API says so, once', async (t) => {
    await fault('drop_and_commit_late', { times: 1 });
    await t.rejects(send('late'));
    t.equal(await sent('late'), 0);
    t.same(await control(network, 'POST', '/late', {}), { committed: 1 });
    t.equal(await sent('late'), 1);
    t.same(await control(network, 'POST', '/late', {}), { committed: 0 });
    t.equal(await sent('late'), 1);
  });

  t.test('a malformed answer is a 200 that holds nothing of what was promised', async (t) => {
    await fault('malformed', { times: 2 });
    const me = await visitor.api<{ data?: unknown; error?: unknown }>('/api/me');
    t.equal(me.status, 200);
    t.notOk('data' in me.body || 'error' in me.body);
    t.match(await visitor.page('/feed'), { status: 200, name: null });
  });

  t.test('a delay answers in the end', async (t) => {
    await fault('delay', { ms: 120, times: 1 });
    const shorter = timer(110);
    t.equal((await visitor.api('/api/me')).status, 200);
    t.ok(shorter.isOver);
  });

  t.test('a hang never answers and commits nothing', async (t) => {
    await fault('hang', { times: 1 });
    const leaving = new AbortController();
    const body = JSON.stringify({ conversationId: conversation?.id, body: 'hang' });
    const headers = { 'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '' };
    const asked = { method: 'POST', body, headers, signal: leaving.signal } as const;
    const answer = visitor.send('/api/messages', asked);
    const refused = t.rejects(answer, { name: 'AbortError' });
    await eventually(
      'the fault has met its request',
      () => control<{ faults: unknown[] }>(network, 'GET', '/faults'),
      ({ faults }) => faults.length === 0,
    );
    leaving.abort();
    await refused;
    t.equal(await sent('hang'), 0);
  });

  t.test('the load of the feed after a sign-in belongs to the login, later ones to the health check', async (t) => {
    const fresh = await Visitor.from(t, network);
    await fresh.signIn(account);
    await fault('error', { capability: 'social.health.check' });
    t.equal((await fresh.page('/feed')).name, 'feed');
    t.match(await fresh.page('/feed'), { status: 500, name: 'error' });
  });

  t.test('a fault of the login meets the posted form', async (t) => {
    await fault('error', { capability: 'social.login', status: 502 });
    const fresh = await Visitor.from(t, network);
    t.match(await fresh.signIn(account), { status: 502, name: 'error' });
    t.match(await fresh.signIn('lucky'), { status: 303 });
  });

  t.test('logged out, the session is gone for good', async (t) => {
    await fault('logged_out', { times: 1 });
    t.match(await send('logged out'), { status: 401, body: { error: { code: 'session_required' } } });
    t.equal(await sent('logged out'), 0);
    t.match(await visitor.page('/feed'), { status: 302, location: '/login?next=%2Ffeed' });
  });

  t.test('faults are listed, and a nonsensical one is refused', async (t) => {
    await fault('hang', { times: 3 });
    t.match(await control(network, 'GET', '/faults'), { faults: [{ mode: 'hang', account, times: 3 }] });
    await t.rejects(fault('explode'), /400/);
    t.same(await control(network, 'DELETE', '/faults'), { cleared: 1 });
  });
});

t.test('a page of a browser steers nothing', async (t) => {
  const network = await startedNetwork(t);
  const body = JSON.stringify({ mode: 'error' });
  const asked = async (headers: Record<string, string>, text = body) => {
    const answer = await request(`${network.control_url}/faults`, { method: 'POST', headers, body: text });
    return [answer.statusCode, Object.keys((await answer.body.json()) as object)];
  };
  const json = { 'content-type': 'application/json' };
  for (const [headers, status] of [
    [{}, 415],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
    [{ ...json, origin: 'https://elsewhere.test' }, 403],
    [{ ...json, origin: 'null' }, 403],
    [{ ...json, host: 'elsewhere.test' }, 403],
    [{ ...json, host: '127.0.0.1.elsewhere.test:80' }, 403],
  ] as [Record<string, string>, number][]) {
    t.strictSame(await asked(headers), [status, ['error']], JSON.stringify(headers));
  }
  t.strictSame(await asked(json, ' '.repeat(2 * 1024 * 1024 + 1)), [413, ['error']]);
  t.same(await control(network, 'GET', '/faults'), { faults: [] });
  t.match(await asked({ 'content-type': 'application/json; charset=utf-8', host: 'localhost' }), [200]);
});
