import t from 'tap';
import { control, startedNetwork } from './fixture.js';
import { signedIn, Visitor } from './visitor.js';

t.test('signing in', async (t) => {
  const network = await startedNetwork(t);

  t.test('the right password leads to a feed that says who is signed in', async (t) => {
    const visitor = await Visitor.from(t, network);
    const answer = await visitor.signIn('ada.lovelace');
    t.match(answer, { status: 303, location: '/feed' });
    const feed = await visitor.page('/feed');
    const account = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'Ada.Lovelace ' });
    t.equal(feed.name, 'feed');
    t.match(feed.text, `data-hash-id="${account.hash_id}"`);
    const me = await visitor.api('/api/me');
    t.match(me.body, { data: { hashId: account.hash_id, firstName: 'Ada', lastName: 'Lovelace' } });
  });

  t.test('a wrong password shows the form again and opens no session', async (t) => {
    const visitor = await Visitor.from(t, network);
    const answer = await visitor.signIn('grace', 'guess');
    t.match(answer, { status: 401, name: 'login' });
    t.match(answer.text, /data-error="bad_credentials"/);
    t.match(answer.text, /id="login-error"/);
    t.notOk(visitor.cookies.has('sn_session'));
  });

  t.test('a form without the csrf value of the cookie is refused', async (t) => {
    const visitor = await Visitor.from(t, network);
    await visitor.page('/login');
    const answer = await visitor.page('/login', { username: 'grace', password: 'sandbox', csrf: 'other' });
    t.match(answer, { status: 403, name: 'forbidden' });
  });

  for (const kind of ['email', 'sms', 'authenticator']) {
    t.test(`an ${kind} challenge is passed with the right code, a wrong one brings another`, async (t) => {
      const visitor = await Visitor.from(t, network);
      const first = (await visitor.signIn(`grace+${kind}`)).location ?? '';
      t.match(first, /^\/checkpoint\/challenge\/chl-/);
      t.notOk(visitor.cookies.has('sn_session'));
      t.match((await visitor.page(first)).text, `data-challenge-kind="${kind}"`);

      const second = (await visitor.page(first, { code: '111111' })).location ?? '';
      t.not(second, first);
      t.match((await visitor.page(second)).text, /id="challenge-error"/);
      t.match(await visitor.page(first, { code: '000000' }), { status: 410, name: 'challenge-expired' });

      t.match(await visitor.page(second, { code: '000000' }), { status: 303, location: '/feed' });
      t.equal((await visitor.page('/feed')).name, 'feed');
    });
  }

  for (const kind of ['captcha', 'passkey']) {
    t.test(`a ${kind} challenge has no form and takes no code`, async (t) => {
      const visitor = await Visitor.from(t, network);
      const challenge = (await visitor.signIn(`grace+${kind}`)).location ?? '';
      const shown = await visitor.page(challenge);
      t.match(shown.text, `data-challenge-kind="${kind}"`);
      t.notMatch(shown.text, /challenge-form/);
      await visitor.page(challenge, { code: '000000' });
      t.notOk(visitor.cookies.has('sn_session'));
    });
  }

  t.test('a restricted account gets no further than the page that says so', async (t) => {
    const visitor = await Visitor.from(t, network);
    t.match(await visitor.signIn('eve+restricted'), { location: '/checkpoint/restricted' });
    t.equal((await visitor.page('/checkpoint/restricted')).name, 'restricted');
    t.match(await visitor.page('/feed'), { status: 302, location: '/checkpoint/restricted' });
    t.match(await visitor.api('/api/me'), { status: 403, body: { error: { code: 'account_restricted' } } });
  });

  t.test('signed out, pages lead to the sign-in form and endpoints refuse', async (t) => {
    const visitor = await Visitor.from(t, network);
    t.match(await visitor.page('/feed'), { status: 302, location: '/login?next=%2Ffeed' });
    t.match(await visitor.api('/api/me'), { status: 401, body: { error: { code: 'session_required' } } });
  });

  t.test('the form never leads away from the site', async (t) => {
    for (const next of ['https://elsewhere.test/', '//elsewhere.test/', '/\\elsewhere.test']) {
      const visitor = await Visitor.from(t, network);
      await visitor.page('/login');
      t.match(await visitor.page('/login', { username: 'grace', password: 'sandbox', next }), { location: '/feed' });
    }
  });

  t.test('an endpoint refuses a request without the csrf header', async (t) => {
    const visitor = await signedIn(t, network, 'grace');
    const answer = await visitor.send('/api/me');
    t.equal(answer.statusCode, 403);
    t.match(await answer.body.json(), { error: { code: 'csrf_mismatch' } });
  });

  t.test('signing out ends the session', async (t) => {
    const visitor = await signedIn(t, network, 'grace');
    const session = visitor.cookies.get('sn_session') ?? '';
    await visitor.page('/logout', {});
    visitor.cookies.set('sn_session', session);
    t.equal((await visitor.api('/api/me')).status, 401);
  });

  t.test('the control API changes what an account meets', async (t) => {
    const visitor = await signedIn(t, network, 'turing');
    const other = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'imposter' });
    await control(network, 'POST', '/accounts', { username: 'turing', shown_as: 'imposter' });
    t.match((await visitor.api('/api/me')).body, { data: { hashId: other.hash_id } });
    await control(network, 'POST', '/accounts', {
      username: 'turing',
      shown_as: null,
      password: 'changed',
      end_sessions: true,
    });
    t.equal((await visitor.api('/api/me')).status, 401);
    t.match(await visitor.signIn('turing'), { status: 401, name: 'login' });
    t.match(await visitor.signIn('turing', 'changed'), { status: 303 });
  });
});
