import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { ProxyAgent, request } from 'undici';
import { type RunningNetwork, startedNetwork } from './fixture.js';
import { signedIn } from './visitor.js';

/** Sends requests to the guild with this account's session, which was opened at the network's own hosts. */
async function guildVisitor(t: Test, network: RunningNetwork, username: string) {
  const visitor = await signedIn(t, network, username);
  const { cookies } = visitor;
  const [proxy] = network.proxies;
  const token = `Basic ${Buffer.from(`${proxy?.username}:${proxy?.password}`).toString('base64')}`;
  const ca = await readFile(network.ca_file, 'utf8');
  const agent = new ProxyAgent({ uri: proxy?.url ?? '', token, requestTls: { ca } });
  t.teardown(() => agent.destroy());
  const own = {
    cookie: `gd_pass=${cookies.get('sn_session')}; gd_token=${cookies.get('sn_csrf')}`,
    'x-guild-token': cookies.get('sn_csrf') ?? '',
  };
  const call = async (path: string, body?: object, headers: Record<string, string> = own) => {
    const answer = await request(`https://app.guild.test${path}`, {
      dispatcher: agent,
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.body.text();
    const json = answer.headers['content-type']?.toString().startsWith('application/json') ?? false;
    return { status: answer.statusCode, headers: answer.headers, body: json ? JSON.parse(text) : text };
  };
  return { call, visitor };
}

t.test('as the guild the network answers in other words, and understands no word of its own', async (t) => {
  const network = await startedNetwork(t);
  const { call, visitor } = await guildVisitor(t, network, 'ada');

  t.match(await call('/rpc/self'), { status: 200, body: { result: { given: 'Ada', key: /^ACoAA/ } } });
  t.match((await call('/hall')).body, /<i id="room" data-room="hall">.*<header id="whoami" data-key="ACoAA/s);
  const people = await call('/rpc/find/persons?circle=F&take=1');
  t.match(people.body, { result: [{ degree: 'near', sheet_link: /^https:\/\/app\.guild\.test\/in\// }] });
  t.match(await call('/rpc/desk/find', { circles: ['near'] }), {
    status: 412,
    body: { fault: { reason_code: 'e_no_deal' } },
  });

  t.match(await call('/api/me'), { status: 404 });
  t.match(await call('/login'), { status: 404 });
  t.match(await call('/rpc/api/me'), { status: 404, body: { fault: { reason_code: 'e_none' } } });
  for (const query of ['network=F', 'circle=F&count=1', 'circle=F&foreign=1']) {
    const refused = await call(`/rpc/find/persons?${query}`);
    t.match(refused, { status: 422, body: { fault: { http: 422, reason_code: 'e_input' } } }, query);
  }
  for (const kind of ['company', 'constructor'])
    t.equal((await call(`/rpc/suggest?class=${kind}&begins=a`)).status, 422);
  t.equal((await call('/rpc/suggest?class=firm&begins=a')).status, 200);
  await visitor.page('/recruiter/contracts', { contract: '4001' });
  t.equal((await call('/rpc/desk/find', { circles: ['near'] })).status, 200);
  for (const body of [{ circles: ['F'] }, { networks: ['near'] }]) {
    t.equal((await call('/rpc/desk/find', body)).status, 422);
  }
  for (const body of [
    { body: 'Hello', to_key: 'A' },
    { words: 'Hello', recipientHashId: 'A' },
  ]) {
    t.equal((await call('/rpc/letters', body)).status, 422);
  }
  const own = { cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  t.equal((await call('/rpc/self', undefined, own)).status, 401);
  t.match((await call('/hall', undefined, own)).headers, { location: '/enter?then=%2Fhall' });
});
