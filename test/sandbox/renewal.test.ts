import t from 'tap';
import { control, startedNetwork } from './fixture.js';
import { signedIn } from './visitor.js';

t.test('a session that is renewed goes on under another cookie, and the one of before is refused', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');
  const cookie = () => visitor.cookies.get('sn_session');
  const first = cookie();
  await control(network, 'POST', '/accounts', { username: 'ada', renew_session_every: 2 });
  t.equal((await visitor.api('/api/me')).status, 200);
  t.equal(cookie(), first);
  t.equal((await visitor.api('/api/me')).status, 200);
  const second = cookie();
  t.not(second, first, 'with the second request');
  t.equal((await visitor.api('/api/me')).status, 200);

  visitor.cookies.set('sn_session', first ?? '');
  t.equal((await visitor.api('/api/me')).status, 401);
  visitor.cookies.set('sn_session', second ?? '');
  t.equal((await visitor.api('/api/me')).status, 200, 'nothing else has ended');
  await network.kill();
});
