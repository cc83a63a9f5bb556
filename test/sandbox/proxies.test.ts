import t from 'tap';
import { ProxyAgent, request } from 'undici';
import { control, startedNetwork } from './fixture.js';
import { signedIn, Visitor } from './visitor.js';

type Report = { regions: { region: string; accounts: Record<string, number> }[] };

t.test('the regional proxies', async (t) => {
  const network = await startedNetwork(t);

  t.test('there is one for each of four regions, and each leads to the site', async (t) => {
    t.same(
      network.proxies.map((proxy) => proxy.region),
      ['US', 'DE', 'GB', 'FR'],
    );
    for (const { region } of network.proxies) {
      const visitor = await Visitor.from(t, network, region);
      t.equal((await visitor.page('/login')).name, 'login');
    }
  });

  t.test('they want the right credentials', async (t) => {
    const [proxy] = network.proxies;
    const agent = new ProxyAgent({ uri: proxy?.url ?? '', token: `Basic ${btoa('somebody:else')}` });
    t.teardown(() => agent.destroy());
    await t.rejects(request('https://www.social.test/login', { dispatcher: agent }), /407/);
  });

  t.test('they lead nowhere else', async (t) => {
    const visitor = await Visitor.from(t, network);
    await t.rejects(visitor.send('https://www.example.com/'), /403/);
    await t.rejects(visitor.send('https://social.test.example.com/'), /403/);
    await t.rejects(visitor.send('https://www.social.test:8443/'), /403/);
  });

  t.test('requests are counted by region and account', async (t) => {
    const visitor = await signedIn(t, network, 'counted', 'DE');
    await visitor.api('/api/me');
    const { regions } = await control<Report>(network, 'GET', '/proxies');
    t.equal(regions.find(({ region }) => region === 'DE')?.accounts.counted, 3, 'form, feed, identity');
    t.equal(regions.find(({ region }) => region === 'FR')?.accounts.counted, undefined);
  });

  t.test('a session that turns up in another region is ended', async (t) => {
    const home = await signedIn(t, network, 'traveller', 'GB');
    const away = await Visitor.from(t, network, 'FR');
    for (const [name, value] of home.cookies) away.cookies.set(name, value);
    t.match(await away.api('/api/me'), { status: 401, body: { error: { code: 'session_required' } } });
    t.equal((await home.api('/api/me')).status, 401);
  });

  t.test('the bare domain leads to the site, other hosts below it show nothing', async (t) => {
    const visitor = await Visitor.from(t, network);
    const answer = await visitor.page('https://social.test/feed?x=1');
    t.match(answer, { status: 301, location: 'https://www.social.test/feed?x=1' });
    t.match(await visitor.page('https://other.social.test/'), { status: 404, name: 'not-found' });
  });
});
