import t from 'tap';
import { control, ledgerOf, startedNetwork } from './fixture.js';
import { type ConversationRow, type MessageRow, signedIn } from './visitor.js';

type Sent = { data: { urn: string; conversationId: string; recipientHashIds: string[] } };

t.test('sending messages', async (t) => {
  const network = await startedNetwork(t);

  t.test('a message to a conversation stands in it, and in the ledger once', async (t) => {
    const visitor = await signedIn(t, network, 'sender.one');
    const { data } = await visitor.list<ConversationRow>('/api/conversations?count=20');
    const last = data.at(-1);
    const sent = await visitor.api<Sent>('/api/messages', { conversationId: last?.id, body: 'Hello there' });
    t.match(sent, { status: 201, body: { data: { conversationId: last?.id } } });
    const messages = await visitor.list<MessageRow>(`/api/conversations/${last?.id}/messages?count=1`);
    t.match(messages.data, [{ urn: sent.body.data.urn, body: 'Hello there' }]);
    const first = (await visitor.list<ConversationRow>('/api/conversations?count=1')).data[0];
    t.equal(first?.id, last?.id, 'its activity is the newest now');
    t.match(await ledgerOf(network, 'sender.one'), [{ kind: 'message', target: last?.id, text: 'Hello there' }]);
  });

  t.test('messages to one person share one conversation', async (t) => {
    const visitor = await signedIn(t, network, 'sender.two');
    const other = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'receiver.two' });
    const send = (body: string) => visitor.api<Sent>('/api/messages', { recipientHashId: other.hash_id, body });
    const first = (await send('one')).body.data;
    const second = (await send('two')).body.data;
    t.equal(first.conversationId, second.conversationId);
    t.same(first.recipientHashIds, [other.hash_id]);

    const receiver = await signedIn(t, network, 'receiver.two', 'DE');
    const [row] = (await receiver.list<ConversationRow>('/api/conversations?count=1')).data;
    t.match(row, { id: first.conversationId, unreadCount: 2, lastMessage: { urn: second.urn } });
    t.equal((await ledgerOf(network, 'receiver.two')).length, 0);
  });

  t.test('render content comes back as it was sent', async (t) => {
    const visitor = await signedIn(t, network, 'sender.three');
    const { data } = await visitor.list<ConversationRow>('/api/conversations?count=1');
    const renderContent = [{ card: { title: 'A card', ünïcode: [1, null, true] } }];
    await visitor.api('/api/messages', { conversationId: data[0]?.id, body: '', renderContent });
    const messages = await visitor.list(`/api/conversations/${data[0]?.id}/messages?count=1`);
    t.match(messages.data, [{ body: '', renderContent }]);
  });

  t.test('what cannot be sent leaves nothing behind', async (t) => {
    const visitor = await signedIn(t, network, 'sender.four');
    const me = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'sender.four' });
    const { data } = await visitor.list<ConversationRow>('/api/conversations?count=1');
    const conversationId = data[0]?.id;
    const cases: [number, string, unknown][] = [
      [400, 'bad_request', { conversationId, body: ' ' }],
      [400, 'bad_request', { body: 'x' }],
      [400, 'bad_request', { conversationId, recipientHashId: me.hash_id, body: 'x' }],
      [400, 'bad_request', { conversationId, body: 'x'.repeat(2001) }],
      [400, 'bad_request', { conversationId, body: 'x', more: 1 }],
      [404, 'not_found', { conversationId: '2-unknown', body: 'x' }],
      [404, 'not_found', { recipientHashId: 'ACoAAunknown', body: 'x' }],
      [422, 'self_target', { recipientHashId: me.hash_id, body: 'x' }],
    ];
    for (const [status, code, body] of cases) {
      t.match(await visitor.api('/api/messages', body), { status, body: { error: { status, code } } });
    }
    t.same(await ledgerOf(network, 'sender.four'), []);
  });
});
