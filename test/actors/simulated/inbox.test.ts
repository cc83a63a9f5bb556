import t from 'tap';
import type { ConversationsResult, Message, MessagesListResult } from '../../../browser-pool/contract/conversations.js';
import { recordEvents } from '../../../storage/deliveries/events-record.js';
import { network } from './connections.js';

t.test('messages are paged back to the first by delivered_at, each once', async (t) => {
  const { connect, send, get } = await network(t);
  const ada = await connect('ada');
  const page = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 20 });
  const conversation_id = page.conversations[0]?.conversation_id;
  for (let i = 1; i <= 7; i++) await send(ada, { conversation_id, body: `new ${i}` });
  const seen: Message[] = [];
  for (let delivered_at: unknown; ; ) {
    const input = { conversation_id, count: 3, ...(delivered_at === undefined ? {} : { delivered_at }) };
    const { messages } = await get<MessagesListResult>(ada, 'social.messages.list', input);
    if (messages.length === 0) break;
    seen.push(...messages);
    delivered_at = String(messages.at(-1)?.delivered_at);
  }
  t.strictSame(
    seen.slice(0, 7).map((message) => message.message_body),
    [7, 6, 5, 4, 3, 2, 1].map((i) => `new ${i}`),
  );
  t.ok(seen.length > 7, 'the past follows');
  t.equal(new Set(seen.map((message) => message.message_urn)).size, seen.length);
  await t.rejects(get(ada, 'social.messages.list', { conversation_id, cursor: 'made-up' }), /validation_error/);
});

t.test('conversations are paged by cursor to an end, each once, the ones that went on first', async (t) => {
  const { connect, send, get } = await network(t);
  const ada = await connect('ada');
  const old = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 20, category: 'ARCHIVE' });
  const revived = old.conversations[0]?.conversation_id;
  for (let i = 0; i < 12; i++) await send(ada, { recipient_actor_id: `SIM_friend-${i % 6}`, body: `message ${i}` });
  await send(ada, { conversation_id: revived, body: 'again' });
  const walk = async (capability: string, rest: Record<string, unknown>) => {
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const input = { ...rest, ...(cursor === undefined ? {} : { cursor }) };
      const page = await get<ConversationsResult>(ada, capability, input);
      seen.push(...page.conversations.map((conversation) => conversation.conversation_id));
      cursor = page.next_cursor;
    }
    t.equal(new Set(seen).size, seen.length, `${capability} shows none twice`);
    return seen;
  };
  const inbox = await walk('social.conversations.list', { count: 4 });
  t.strictSame(inbox.slice(0, 4), [revived, '2-SIM_friend-5', '2-SIM_friend-4', '2-SIM_friend-3']);
  t.ok(inbox.length >= 7 + 13);
  t.notOk((await walk('social.conversations.list', { count: 4, category: 'ARCHIVE' })).includes(String(revived)));
  t.strictSame(await walk('social.conversations.search', { keywords: 'MESSAGE 1', count: 2 }), [
    '2-SIM_friend-5',
    '2-SIM_friend-4',
    '2-SIM_friend-1',
  ]);
  t.ok((await walk('social.conversations.search', { keywords: 'a', count: 3 })).length > inbox.length - 7);
  await t.rejects(get(ada, 'social.conversations.list', { cursor: 'made-up' }), /validation_error/);
  const newest = (await get<ConversationsResult>(ada, 'social.conversations.list', { count: 1 })).conversations[0];
  const earlier = await get<ConversationsResult>(ada, 'social.conversations.list', {
    count: 1,
    last_activity_at: newest?.last_activity_at,
  });
  t.equal(earlier.conversations[0]?.conversation_id, '2-SIM_friend-5');
});

t.test('an inbox with more messages than one page looks at is still walked to its end', async (t) => {
  const { db, workspaceId, connect, send, get } = await network(t);
  const ada = await connect('ada');
  await send(ada, { recipient_actor_id: 'SIM_old-friend', body: 'long ago' });
  const busy = Array.from({ length: 2100 }, (_, i) => ({
    connectionId: ada.id,
    providerEventId: `busy-${i}`,
    type: 'message_received' as const,
    data: { conversation_id: 'busy', message_body: `message ${i}` },
  }));
  await recordEvents(db, workspaceId, busy);
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const input = { count: 20, ...(cursor === undefined ? {} : { cursor }) };
    const page = await get<ConversationsResult>(ada, 'social.conversations.list', input);
    seen.push(...page.conversations.map((conversation) => conversation.conversation_id));
    cursor = page.next_cursor;
  }
  t.strictSame(seen.slice(0, 2), ['busy', '2-SIM_old-friend']);
  t.equal(new Set(seen).size, seen.length);
  const { messages } = await get<MessagesListResult>(ada, 'social.messages.list', {
    conversation_id: 'busy',
    count: 2,
  });
  t.equal(messages.length, 2, 'however many share a millisecond');
});

t.test('the inbox survives events of any shape', async (t) => {
  const { db, workspaceId, connect, get } = await network(t);
  const ada = await connect('ada');
  const odd = [
    {},
    { conversation_id: 5 },
    { conversation_id: 'x'.repeat(5000) },
    { conversation_id: 'odd', delivered_at: 'soon', message_body: 3 },
  ];
  await recordEvents(
    db,
    workspaceId,
    odd.map((data, i) => ({ connectionId: ada.id, providerEventId: `odd-${i}`, type: 'message_received', data })),
  );
  const { conversations } = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 1 });
  t.equal(conversations[0]?.conversation_id, 'odd');
  const { messages } = await get<MessagesListResult>(ada, 'social.messages.list', { conversation_id: 'odd' });
  t.match(messages, [{ message_body: null, delivered_at: Number }]);
});
