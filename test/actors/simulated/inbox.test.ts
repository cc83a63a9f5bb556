import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { ConversationsResult, Message, MessagesListResult } from '../../../browser-pool/contract/conversations.js';
import { wholeMoments } from '../../../browser-pool/contract/whole-moments.js';
import type { Vault } from '../../../storage/model/vault.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { type KeyRing, keyRing } from '../../../storage/secrets/encryption.js';
import { sealPlainData } from '../../../storage/secrets/seal-plain.js';
import { recorded } from '../../fixture/recorded.js';
import { network } from './connections.js';

const RING = keyRing([{ id: 'test', key: randomBytes(32) }]);
const SECRET = randomBytes(32);

function vaultOf(ring: KeyRing): DataVault {
  const vault = new DataVault(ring);
  vault.hashUnder(SECRET);
  return vault;
}

for (const [how, vault] of [
  ['stored plain', () => vaultOf(keyRing([]))],
  ['sealed', () => vaultOf(RING)],
] as const) {
  t.test(`messages are paged back to the first by delivered_at, each once, ${how}`, async (t) => {
    const { connect, send, get } = await network(t, vault());
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
    const newest = seen[0]!;
    const rows = [newest, newest, newest, ...seen.slice(1)].map((row, n) => ({ ...row, n }));
    const sameMoment = (count: number) => wholeMoments(rows, count, (row) => row.delivered_at).map(({ n }) => n);
    t.strictSame(sameMoment(1), [0, 1, 2], 'of one moment all, however few are asked for');
    t.strictSame(wholeMoments(rows.slice(2), 1, (row) => row.delivered_at).length, 1);
    const uneven = [seen[1]!, ...rows];
    t.equal(wholeMoments(uneven, 2, (row) => row.delivered_at).length, 1, 'and none is cut');
    t.equal(new Set(seen.map((message) => message.message_urn)).size, seen.length);
    await t.rejects(get(ada, 'social.messages.list', { conversation_id, cursor: 'made-up' }), /validation_error/);
  });

  t.test(`conversations are paged by cursor to an end, each once, the ones that went on first, ${how}`, async (t) => {
    const { connect, send, get } = await network(t, vault());
    const ada = await connect('ada');
    const old = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 20, category: 'ARCHIVE' });
    const revived = old.conversations[0]?.conversation_id;
    for (let i = 0; i < 12; i++) await send(ada, { recipient_actor_id: `SIM_friend-${i % 6}`, body: `message ${i}` });
    await send(ada, { conversation_id: revived, body: 'again' });
    const walk = async (capability: string, rest: Record<string, unknown>, first: Record<string, unknown> = {}) => {
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const input = { ...rest, ...(cursor === undefined ? first : { cursor }) };
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
    const unknown = { keywords: 'a', cursor: 'made-up' };
    await t.rejects(get(ada, 'social.conversations.search', unknown), /validation_error/);
    const newest = (await get<ConversationsResult>(ada, 'social.conversations.list', { count: 1 })).conversations[0];
    const earlier = await get<ConversationsResult>(ada, 'social.conversations.list', {
      count: 1,
      last_activity_at: newest?.last_activity_at,
    });
    t.equal(earlier.conversations[0]?.conversation_id, '2-SIM_friend-5');
    const long = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 20 });
    for (const at of [5, 9, 15]) {
      const from = { last_activity_at: String(long.conversations[at]?.last_activity_at) };
      const rest = await walk('social.conversations.list', { count: 4 }, from);
      t.strictSame(rest, inbox.slice(at + 1), 'a cursor goes on in the list that a time began in');
    }
  });

  t.test(`an inbox with more messages than one page looks at is still walked to its end, ${how}`, async (t) => {
    const { db, workspaceId, connect, send, get } = await network(t, vault());
    const ada = await connect('ada');
    await send(ada, { recipient_actor_id: 'SIM_old-friend', body: 'long ago' });
    const busy = Array.from({ length: 2100 }, (_, i) => ({
      connectionId: ada.id,
      providerEventId: `busy-${i}`,
      type: 'message_received' as const,
      data: { conversation_id: 'busy', message_body: `message ${i}` },
    }));
    await recorded(db, workspaceId, busy);
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
    const [last] = await db.query<{ shared: number }>(
      'testShared',
      'select count(*)::int as shared from event where connection_id = $1 group by received_at order by received_at desc limit 1',
      [ada.id],
    );
    t.equal(messages.length, Math.min(22, last!.shared), 'of a millisecond, as many as are read past a page');
  });

  t.test(`the inbox survives events of any shape, ${how}`, async (t) => {
    const { db, workspaceId, connect, get } = await network(t, vault());
    const ada = await connect('ada');
    const odd = [
      {},
      { conversation_id: 5 },
      { conversation_id: 'x'.repeat(5000) },
      { conversation_id: 'odd', delivered_at: 'soon', message_body: 3 },
    ];
    await recorded(
      db,
      workspaceId,
      odd.map((data, i) => ({ connectionId: ada.id, providerEventId: `odd-${i}`, type: 'message_received', data })),
    );
    const { conversations } = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 1 });
    t.equal(conversations[0]?.conversation_id, 'odd');
    const { messages } = await get<MessagesListResult>(ada, 'social.messages.list', { conversation_id: 'odd' });
    t.match(messages, [{ message_body: null, delivered_at: Number }]);
  });
}

t.test('conversations that began before there was a key go on, and are sealed by a rotation', async (t) => {
  const [plain, sealing] = [vaultOf(keyRing([])), vaultOf(RING)];
  let stores = plain;
  const vault: Vault = {
    store: (text, context) => stores.store(text, context),
    storeBytes: (bytes, context) => stores.storeBytes(bytes, context),
    openText: (stored, context) => sealing.openText(stored, context),
    openValue: (stored, context) => sealing.openValue(stored, context),
    openBytes: (stored, context) => sealing.openBytes(stored, context),
    hash: (text) => sealing.hash(text),
  };
  const { db, connect, send, get } = await network(t, vault);
  const ada = await connect('ada');
  const to = (n: number) => ({ recipient_actor_id: `SIM_friend-${n}` });
  for (const n of [1, 2]) await send(ada, { ...to(n), body: `before ${n}` });
  stores = sealing;
  await send(ada, { ...to(1), body: 'after 1' });
  await send(ada, { ...to(3), body: 'after 3' });
  const seen = async () => {
    const page = await get<ConversationsResult>(ada, 'social.conversations.list', { count: 4 });
    const search = await get<ConversationsResult>(ada, 'social.conversations.search', { keywords: 'BEFORE' });
    const bodies = [];
    for (const n of [1, 2, 3]) {
      const { messages } = await get<MessagesListResult>(ada, 'social.messages.list', {
        conversation_id: `2-SIM_friend-${n}`,
        count: 2,
      });
      bodies.push(messages.map(({ message_body }) => message_body).filter((body) => /before|after/.test(`${body}`)));
    }
    const ids = ({ conversations }: ConversationsResult) => conversations.map(({ conversation_id }) => conversation_id);
    return { newest: ids(page).slice(0, 3), found: ids(search).slice(0, 2), bodies };
  };
  const expected = {
    newest: ['2-SIM_friend-3', '2-SIM_friend-1', '2-SIM_friend-2'],
    found: ['2-SIM_friend-2', '2-SIM_friend-1'],
    bodies: [['after 1', 'before 1'], ['before 2'], ['after 3']],
  };
  t.strictSame(await seen(), expected);
  t.match(await sealPlainData(db, RING, SECRET), { 'event.data_sealed': 2 });
  t.strictSame(await db.query('testPlain', 'select id from event where data is not null'), []);
  t.strictSame(await seen(), expected);
});
