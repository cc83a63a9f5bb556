import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { control, dataDirectory, ledgerOf, startedNetwork } from './fixture.js';
import { type MessageRow, signedIn, Visitor } from './visitor.js';

type Sent = { data: { urn: string; conversationId: string } };

t.test('what was acknowledged survives a kill, at the same addresses', async (t) => {
  const directory = await dataDirectory(t);
  const before = await startedNetwork(t, directory);
  const visitor = await signedIn(t, before, 'ada');
  const other = await control<{ hash_id: string }>(before, 'POST', '/accounts', {
    username: 'grace',
    restricted: true,
  });
  const message = { recipientHashId: other.hash_id, body: 'Remember me' };
  const sent = (await visitor.api<Sent>('/api/messages', message)).body.data;
  await before.kill();
  await appendFile(join(directory, 'journal.jsonl'), '{"type":"letter","letter":{"mess');

  const after = await startedNetwork(t, directory);
  for (const kept of ['control_url', 'proxies', 'spki'] as const) t.same(after[kept], before[kept], kept);
  t.match(await ledgerOf(after, 'ada'), [{ kind: 'message', text: 'Remember me' }]);
  const returning = await Visitor.from(t, after);
  for (const [name, value] of visitor.cookies) returning.cookies.set(name, value);
  const path = `/api/conversations/${sent.conversationId}/messages`;
  t.match((await returning.list<MessageRow>(path)).data, [{ urn: sent.urn, body: 'Remember me' }]);
  t.match(await (await Visitor.from(t, after)).signIn('grace'), { location: '/checkpoint/restricted' });

  await returning.api('/api/messages', { conversationId: sent.conversationId, body: 'And me' });
  t.equal(await after.stop(), 0);
  const last = await startedNetwork(t, directory);
  t.match(await ledgerOf(last, 'ada'), [{ text: 'Remember me' }, { text: 'And me' }]);
});

t.test('it ends when its standard input closes, open streams or not', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');
  const headers = { 'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '' };
  const stream = await visitor.send('/realtime', { headers });
  stream.body.on('error', () => {});
  t.equal(await network.stop(), 0);
});

t.test('it ends on SIGTERM', async (t) => {
  const network = await startedNetwork(t);
  process.kill(network.pid, 'SIGTERM');
  t.equal(await network.exited, 0);
});
