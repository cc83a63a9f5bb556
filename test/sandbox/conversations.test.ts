import t from 'tap';
import { allOf } from '../fixture/all-of.js';
import { startedNetwork } from './fixture.js';
import { type ConversationRow, type MessageRow, type Person, signedIn, type Visitor } from './visitor.js';

async function allConversations(visitor: Visitor, query: string): Promise<ConversationRow[]> {
  const rows: ConversationRow[] = [];
  for (let cursor = ''; ; ) {
    const { data, paging } = await visitor.list<ConversationRow>(`/api/conversations?${query}${cursor}`);
    rows.push(...data);
    if (paging.nextCursor === null) return rows;
    cursor = `&cursor=${paging.nextCursor}`;
  }
}

t.test('conversations', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');
  const { data: me } = (await visitor.api<{ data: Person }>('/api/me')).body;

  t.test('every category pages through by cursor, newest activity first, each conversation once', async (t) => {
    for (const category of ['PRIMARY_INBOX', 'SECONDARY_INBOX', 'INMAIL', 'ARCHIVE', 'SPAM']) {
      const rows = await allConversations(visitor, `category=${category}&count=3`);
      const { paging } = await visitor.list(`/api/conversations?category=${category}&count=1`);
      t.equal(rows.length, paging.total, category);
      t.equal(new Set(rows.map((row) => row.id)).size, rows.length);
      t.ok(allOf(rows, (row) => row.category === category));
      const times = rows.map((row) => row.lastActivityAt);
      t.same(
        times,
        times.toSorted((a, b) => b - a),
      );
    }
  });

  t.test('the primary inbox comes by itself, and names the account and the other side', async (t) => {
    const { data } = await visitor.list<ConversationRow>('/api/conversations');
    t.equal(data.length, 20);
    for (const row of data) {
      t.equal(row.urn, `urn:social:conversation:(${me.hashId},${row.id})`);
      t.equal(row.participants.length, 1);
      t.not(row.participants[0]?.hashId, me.hashId);
      t.equal(row.lastActivityAt, row.lastMessage?.deliveredAt);
    }
  });

  t.test('a time leads to older conversations only', async (t) => {
    const { data } = await visitor.list<ConversationRow>('/api/conversations?count=10');
    const oldest = data.at(-1)?.lastActivityAt ?? 0;
    const older = await visitor.list<ConversationRow>(`/api/conversations?count=10&lastActivityBefore=${oldest}`);
    t.ok(older.data.length > 0 && older.data.every((row) => row.lastActivityAt < oldest));
  });

  t.test('a foreign cursor, and two ways of paging at once, are refused', async (t) => {
    const { paging } = await visitor.list('/api/conversations?count=1');
    for (const query of [
      'cursor=made-up',
      `category=ARCHIVE&cursor=${paging.nextCursor}`,
      `cursor=${paging.nextCursor}&lastActivityBefore=1`,
      'category=OTHER',
      'count=21',
    ]) {
      t.equal((await visitor.api(`/api/conversations?${query}`)).status, 400, query);
    }
  });

  t.test('messages page backwards by cursor, each once', async (t) => {
    const [row] = await longConversation(visitor);
    const seen: MessageRow[] = [];
    for (let cursor = ''; ; ) {
      const path = `/api/conversations/${row?.id}/messages?count=7${cursor}`;
      const { data, paging } = await visitor.list<MessageRow>(path);
      seen.push(...data);
      if (paging.nextCursor === null) {
        t.equal(seen.length, paging.total);
        break;
      }
      cursor = `&cursor=${paging.nextCursor}`;
    }
    t.equal(new Set(seen.map((message) => message.urn)).size, seen.length);
    t.equal(seen[0]?.deliveredAt, row?.lastActivityAt);
  });

  t.test('messages page backwards by time, where the boundary repeats', async (t) => {
    const [row] = await longConversation(visitor);
    const urns = new Set<string>();
    let repeated = 0;
    let total = 0;
    for (let before = ''; ; ) {
      const path = `/api/conversations/${row?.id}/messages?count=10${before}`;
      const { data, paging } = await visitor.list<MessageRow>(path);
      const fresh = data.filter((message) => !urns.has(message.urn));
      total = paging.total;
      if (fresh.length === 0) break;
      repeated += data.length - fresh.length;
      for (const message of fresh) urns.add(message.urn);
      before = `&deliveredBefore=${data.at(-1)?.deliveredAt}`;
    }
    t.equal(urns.size, total);
    t.ok(repeated > 0);
  });

  t.test('a search finds conversations by name and by message, page by page', async (t) => {
    const [row] = (await visitor.list<ConversationRow>('/api/conversations?count=1')).data;
    const name = encodeURIComponent(row?.participants[0]?.name ?? '');
    const named = await visitor.list<ConversationRow>(`/api/conversations/search?keywords=${name}`);
    t.ok(named.data.some((found) => found.id === row?.id));

    const path = '/api/conversations/search?keywords=pricing&categories=INBOX,ARCHIVE&count=2';
    const first = await visitor.list<ConversationRow>(path);
    const second = await visitor.list<ConversationRow>(`${path}&cursor=${first.paging.nextCursor}`);
    t.equal(first.data.length, 2);
    t.ok(first.paging.total > 2);
    const both = [...first.data, ...second.data];
    t.equal(new Set(both.map((found) => found.id)).size, both.length);
    t.notOk(both.some((found) => ['SPAM', 'INMAIL'].includes(found.category)));

    const known = await visitor.list<ConversationRow>('/api/conversations/search?keywords=pricing&firstDegree=true');
    t.ok(allOf(known.data, (found) => found.participants[0]?.distance === 'F'));
    t.equal(
      (await visitor.api(`/api/conversations/search?keywords=other&cursor=${first.paging.nextCursor}`)).status,
      400,
    );
    t.equal((await visitor.api('/api/conversations/search?keywords=a&categories=TRASH')).status, 400);
  });

  t.test('the conversation with a person is found, or there is none', async (t) => {
    const [row] = (await visitor.list<ConversationRow>('/api/conversations?count=1')).data;
    t.same((await visitor.api(`/api/conversations/with/${row?.participants[0]?.hashId}`)).body, { data: row });
    t.same((await visitor.api(`/api/conversations/with/${me.hashId}`)).body, { data: null });
    t.equal((await visitor.api('/api/conversations/with/ACoAAunknown')).status, 404);
  });

  t.test('one conversation can be read by its id, by its own people only', async (t) => {
    const { data } = await visitor.list<ConversationRow>('/api/conversations?count=1');
    const path = `/api/conversations/${data[0]?.id}`;
    t.same((await visitor.api(path)).body, { data: data[0] });
    const other = await signedIn(t, network, 'mallory');
    t.match(await other.api(path), { status: 404, body: { error: { code: 'not_found' } } });
    t.equal((await other.api(`${path}/messages`)).status, 404);
  });
});

/** The conversations with more messages than one page holds. */
async function longConversation(visitor: Visitor): Promise<ConversationRow[]> {
  const long: ConversationRow[] = [];
  for (const row of await allConversations(visitor, 'count=20')) {
    const { paging } = await visitor.list(`/api/conversations/${row.id}/messages?count=1`);
    if (paging.total > 25) long.push(row);
  }
  return long;
}
