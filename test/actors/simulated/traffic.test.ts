import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createSimulatedProvider } from '../../../actors/providers/simulated.js';
import type {
  ConversationsResult,
  ConversationWithRecipientResult,
  MessagesListResult,
} from '../../../browser-pool/contract/conversations.js';
import { recorded } from '../../fixture/recorded.js';
import { insertWorkspace } from '../../fixture/rows.js';
import { network } from './connections.js';
import { request } from './request.js';

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
    const { outcome } = await request(provider, ada, 'social.message.send', input, { operationId });
    t.match(outcome, { status: 'succeeded', effects: { events: Array } });
    if (outcome.status === 'succeeded') await recorded(db, ada.workspace_id, outcome.effects?.events ?? []);
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
