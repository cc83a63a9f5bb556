import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type {
  ConversationsResult,
  ConversationWithRecipientResult,
  Message,
  MessagesListResult,
} from '../../../actors/capabilities/conversations.js';
import type { InvitationsSentListResult } from '../../../actors/capabilities/identity.js';
import { membersThatAre, selfOf } from '../../../actors/simulated/acquaintance.js';
import { createSimulatedProvider } from '../../../actors/simulated/provider.js';
import { recordEvents } from '../../../storage/events-record.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { ask, connectionRow, perform, succeed } from './ask.js';

async function network(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  let now = Date.now();
  const provider = createSimulatedProvider({ db, clock: () => now++ });
  const connect = async (actorId: string, workspace = workspaceId) => {
    const { id } = await insertSimulated(db, workspace, actorId);
    return connectionRow(actorId, { id, workspaceId: workspace });
  };
  type Connection = Awaited<ReturnType<typeof connect>>;
  const get = async <Result>(connection: Connection, capability: string, input: Record<string, unknown> = {}) =>
    (await succeed(provider, connection, capability, input)) as unknown as Result;
  const write = (connection: Connection, capability: string, input: Record<string, unknown>, operationId?: string) =>
    perform(db, provider, connection, capability, input, operationId);
  const send = (connection: Connection, input: Record<string, unknown>, operationId?: string) =>
    write(connection, 'social.message.send', input, operationId);
  const eventsOf = (connection: Connection) =>
    db.query<{ type: string; provider_event_id: string; data: Record<string, unknown> }>(
      'testEvents',
      'select type, provider_event_id, data from event where connection_id = $1 order by id',
      [connection.id],
    );
  return { db, workspaceId, connect, get, write, send, eventsOf };
}

t.test('a message to another simulated connection is sent on one and received on the other', async (t) => {
  const { connect, send, eventsOf } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  const operationId = randomUUID();
  const outcome = await send(ada, { recipient_actor_id: 'bob', body: 'hello' }, operationId);
  t.match(outcome, {
    status: 'succeeded',
    result: { provider_acknowledged: true, destination: { recipient_actor_id: 'bob' } },
  });
  const [sent] = await eventsOf(ada);
  const [received] = await eventsOf(bob);
  t.match(sent, {
    type: 'message_sent',
    data: { message_body: 'hello', sender_hash_id: 'ada', conversation_id: '2-bob' },
  });
  t.match(received, {
    type: 'message_received',
    data: { message_body: 'hello', sender_hash_id: 'ada', conversation_id: '2-ada' },
  });
  t.equal(sent?.data.message_urn, received?.data.message_urn);
  t.equal(sent?.provider_event_id, `sim-${operationId}-sent`);
  t.equal(received?.provider_event_id, `sim-${operationId}-received`);
});

t.test('a repeat of the same operation records nothing twice', async (t) => {
  const { db, connect, eventsOf } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  const provider = createSimulatedProvider({ db });
  const operationId = randomUUID();
  for (let attempt = 0; attempt < 2; attempt++) {
    const input = { recipient_actor_id: 'bob', body: 'x' };
    const { outcome } = await ask(provider, ada, 'social.message.send', input, { operationId });
    t.match(outcome, { status: 'succeeded', effects: { events: Array } });
    if (outcome.status === 'succeeded') await recordEvents(db, ada.workspace_id, outcome.effects?.events ?? []);
  }
  t.equal((await eventsOf(ada)).length, 1);
  t.equal((await eventsOf(bob)).length, 1);
});

t.test('an answer in the conversation reaches the first sender, and both remember all of it', async (t) => {
  const { connect, send, get } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  await send(ada, { recipient_actor_id: 'bob', body: 'one' });
  const inbox = await get<ConversationsResult>(bob, 'social.conversations.list', { count: 1 });
  t.match(inbox.conversations, [{ conversation_id: '2-ada', participants: ['ada'], unread_count: 1 }]);
  await send(bob, { conversation_id: '2-ada', body: 'two' });
  const bodies = async (connection: typeof ada, conversation_id: string) =>
    (await get<MessagesListResult>(connection, 'social.messages.list', { conversation_id })).messages.map(
      (message) => `${message.sender_hash_id}: ${message.message_body}`,
    );
  t.strictSame(await bodies(ada, '2-bob'), ['bob: two', 'ada: one']);
  t.strictSame(await bodies(bob, '2-ada'), ['bob: two', 'ada: one']);
  const found = await get<ConversationWithRecipientResult>(ada, 'social.conversation.with_recipient', {
    recipient_actor_id: 'bob',
  });
  t.equal(found.conversation?.conversation_id, '2-bob');
  const none = await get<ConversationWithRecipientResult>(ada, 'social.conversation.with_recipient', {
    recipient_actor_id: 'SIM_stranger',
  });
  t.equal(none.conversation, null);
  const by = (actor: string) =>
    get(ada, 'social.messages.list', { conversation_urn: `urn:social:conversation:(${actor},2-bob)` });
  t.equal(((await by('ada')) as unknown as MessagesListResult).messages.length, 2);
  await t.rejects(by('bob'), /validation_error/, 'not in the name of another');
});

t.test(
  'a message to anybody else is remembered by its sender alone, and another workspace is never reached',
  async (t) => {
    const { db, connect, send, eventsOf } = await network(t);
    const ada = await connect('ada');
    const foreign = await connect('bob', await insertWorkspace(db));
    await send(ada, { recipient_actor_id: 'bob', body: 'hello' });
    await send(ada, { conversation_id: 'made-up', body: 'hello' });
    t.strictSame(
      (await eventsOf(ada)).map((event) => event.type),
      ['message_sent', 'message_sent'],
    );
    t.strictSame(await eventsOf(foreign), []);
  },
);

t.test('nobody writes to or invites themselves', async (t) => {
  const { connect, write } = await network(t);
  const ada = await connect('ada');
  const file = { filename: 'a', content_type: 'a/b', data_base64: 'AA==' };
  const skipped = { status: 'skipped', reason: 'self_target' };
  t.strictSame(await write(ada, 'social.message.send', { recipient_actor_id: 'ada', body: 'me' }), skipped);
  t.strictSame(await write(ada, 'social.message.send', { conversation_id: '2-ada', body: 'me' }), skipped);
  t.strictSame(await write(ada, 'social.attachment.send', { recipient_actor_id: 'ada', ...file }), skipped);
  t.strictSame(await write(ada, 'social.invitation.send', { recipient_actor_id: 'ada' }), skipped);
});

t.test('an attachment is remembered as content with an address that downloads', async (t) => {
  const { connect, write, get } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  const input = {
    recipient_actor_id: 'bob',
    filename: 'a b.pdf',
    content_type: 'application/pdf',
    data_base64: 'aGVsbG8=',
  };
  await write(ada, 'social.attachment.send', input);
  const { messages } = await get<MessagesListResult>(bob, 'social.messages.list', { conversation_id: '2-ada' });
  t.match(messages[0]?.render_content, [{ filename: 'a b.pdf', content_type: 'application/pdf', size: 5 }]);
  const url = messages[0]?.render_content?.[0]?.url;
  t.match(await get(bob, 'social.file.download', { url }), { content_type: 'application/pdf' });
});

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

t.test('an invitation becomes pending, and a second one is skipped', async (t) => {
  const { connect, write, get } = await network(t);
  const ada = await connect('ada');
  for (let i = 0; i < 12; i++) {
    const outcome = await write(ada, 'social.invitation.send', {
      recipient_actor_id: `SIM_new-friend-${i}`,
      message: 'hi',
    });
    t.match(outcome, { status: 'succeeded', result: { code: 'INVITATION_SENT' } });
  }
  const again = await write(ada, 'social.invitation.send', { recipient_actor_id: 'SIM_new-friend-3' });
  t.strictSame(again, { status: 'skipped', reason: 'invitation_pending' });
  const seen: string[] = [];
  let start_index: number | null = 0;
  while (start_index !== null) {
    const page: InvitationsSentListResult = await get(ada, 'social.invitations.sent.list', {
      start_index,
      include_total: true,
    });
    t.equal(page.count, page.entries.length);
    seen.push(...page.entries.map((entry) => entry.invitation_id));
    t.equal(page.has_more, page.next_start_index !== null);
    if (!page.has_more) t.equal(page.total, seen.length);
    start_index = page.next_start_index;
  }
  t.ok(seen.length > 20);
  t.equal(new Set(seen).size, seen.length);
  const first = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list');
  t.equal(first.entries[0]?.recipient_actor_id, 'SIM_new-friend-11');
  t.notOk('total' in first);
  const beyond = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list', { start_index: 100000 });
  t.match(beyond, { entries: [], count: 0, has_more: false, next_start_index: null });
});

t.test('those one is connected to or has invited already are not invited', async (t) => {
  const { connect, write } = await network(t);
  const ada = await connect('ada');
  const invite = (recipient_actor_id?: string) => write(ada, 'social.invitation.send', { recipient_actor_id });
  const [connected] = membersThatAre(selfOf('ada'), 'connected');
  const [invited] = membersThatAre(selfOf('ada'), 'invited');
  t.strictSame(await invite(connected?.hashId), { status: 'skipped', reason: 'already_connected' });
  t.strictSame(await invite(invited?.hashId), { status: 'skipped', reason: 'invitation_pending' });
});

t.test('an invitation to another simulated connection is accepted at once', async (t) => {
  const { connect, write, get, eventsOf } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  t.match(await write(ada, 'social.invitation.send', { recipient_actor_id: 'bob' }), { status: 'succeeded' });
  t.match(await eventsOf(ada), [{ type: 'custom_connection_request_accepted', data: { hash_id: 'bob' } }]);
  t.strictSame(await eventsOf(bob), []);
  const again = await write(ada, 'social.invitation.send', { recipient_actor_id: 'bob' });
  t.strictSame(again, { status: 'skipped', reason: 'already_connected' });
  const { entries } = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list');
  t.notOk(
    entries.some((entry) => entry.recipient_actor_id === 'bob'),
    'it is pending no longer',
  );
});

t.test('look-ups of many operations at once are answered each with its own', async (t) => {
  const { connect, send, eventsOf } = await network(t);
  const [ada, bob, carla] = [await connect('ada'), await connect('bob'), await connect('carla')];
  await Promise.all(
    ['bob', 'carla', 'SIM_nobody', 'bob'].map((recipient_actor_id) => send(ada, { recipient_actor_id, body: 'x' })),
  );
  t.equal((await eventsOf(bob)).length, 2);
  t.equal((await eventsOf(carla)).length, 1);
  t.equal((await eventsOf(ada)).length, 4);
});
