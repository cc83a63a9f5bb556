import { createHash } from 'node:crypto';
import t from 'tap';
import { control, ledger } from '../fixture/client.js';
import { GUILD_HOSTS } from '../fixture/guild.js';
import { SITES, type SiteName } from '../fixture/network.js';
import { onceEach, type Row, socialFixture } from '../fixture/social.js';
import { ids } from './expected.js';

/** Of pending invitations. */
interface Page {
  entries: Row[];
  next_start_index: number | null;
}

for (const site of SITES) {
  t.test(`conversations, sends and files, on ${site}`, async (t) => {
    const { client, connection, username, sandboxUrl, visitor, read } = await socialFixture(t, 'ada-sends', site);
    const files = site === 'guild' ? `https://${GUILD_HOSTS['files.social.test']}` : 'https://files.social.test';
    const me = (await visitor.api<{ data: Row }>('/api/me')).body.data;
    const own = String(me.hashId);

    t.test('every conversation of every category once, by either cursor', async (t) => {
      for (const category of ['PRIMARY_INBOX', 'SECONDARY_INBOX', 'INMAIL', 'ARCHIVE', 'SPAM']) {
        const all: Row[] = [];
        for (let cursor = ''; ; ) {
          const page = await visitor.list<Row>(`/api/conversations?category=${category}${cursor}`);
          all.push(...page.data);
          if (page.paging.nextCursor === null) break;
          cursor = `&cursor=${page.paging.nextCursor}`;
        }
        const seen: Row[] = [];
        for (let cursor: object = {}; ; ) {
          const page = await read<Row>('social.conversations.list', { category, count: 7, ...cursor });
          seen.push(...(page.conversations as Row[]));
          if (page.next_cursor === null) break;
          cursor = { cursor: page.next_cursor };
        }
        onceEach(t, ids(seen, 'conversation_id'), ids(all, 'id'), 'conversation');
        t.strictSame(seen, all.map(conversation), category);
        const [, second] = seen;
        if (!second) continue;
        const later = await read<Row>('social.conversations.list', {
          category,
          last_activity_at: String(second.last_activity_at),
        });
        t.strictSame(later.conversations, seen.slice(2, 22), 'older than the second');
      }
      t.match(await client.run(connection, 'social.conversations.list', { cursor: 'made up' }), {
        status: 'failed',
        error_code: 'validation_error',
      });
    });

    t.test('conversations are found by their words, each once', async (t) => {
      const all: Row[] = [];
      for (let cursor = ''; ; ) {
        const page = await visitor.list<Row>(
          `/api/conversations/search?keywords=you&categories=INBOX,SPAM,ARCHIVE${cursor}`,
        );
        all.push(...page.data);
        if (page.paging.nextCursor === null) break;
        cursor = `&cursor=${page.paging.nextCursor}`;
      }
      const seen: Row[] = [];
      for (let cursor: object = {}; ; ) {
        const page = await read<Row>('social.conversations.search', { keywords: 'you', count: 5, ...cursor });
        seen.push(...(page.conversations as Row[]));
        if (page.next_cursor === null) break;
        cursor = { cursor: page.next_cursor };
      }
      t.ok(all.length > 5);
      onceEach(t, ids(seen, 'conversation_id'), ids(all, 'id'), 'conversation');
      t.strictSame(seen, all.map(conversation));
      const { data } = await visitor.list<Row>(
        '/api/conversations/search?keywords=you&categories=INMAIL&firstDegree=true',
      );
      t.strictSame(
        await read('social.conversations.search', {
          keywords: 'you',
          categories: ['INMAIL'],
          first_degree_connections: true,
        }),
        { conversations: data.map(conversation), next_cursor: null },
      );
    });

    t.test('the thread with somebody, and every message of it once', async (t) => {
      const { data } = await visitor.list<Row>('/api/conversations');
      const lengths = await Promise.all(
        data.map(async ({ id }) => (await visitor.list<Row>(`/api/conversations/${id}/messages`)).paging.total),
      );
      const thread = data[lengths.indexOf(Math.max(...lengths))] as Row;
      const [other] = thread.participants as Row[];
      const { conversation: found } = await read<Row>('social.conversation.with_recipient', {
        recipient_actor_id: other?.hashId,
      });
      t.strictSame(found, conversation(thread));
      const stranger = (await visitor.list<Row>('/api/search/people?network=O&count=1')).data[0];
      t.strictSame(await read('social.conversation.with_recipient', { recipient_actor_id: stranger?.hashId }), {
        conversation: null,
      });

      const all: Row[] = [];
      for (let cursor = ''; ; ) {
        const page = await visitor.list<Row>(`/api/conversations/${thread.id}/messages?count=20${cursor}`);
        all.push(...page.data);
        if (page.paging.nextCursor === null) break;
        cursor = `&cursor=${page.paging.nextCursor}`;
      }
      const seen = new Map<unknown, Row>();
      for (let before: object = {}; ; ) {
        const { messages } = await read<{ messages: Row[] }>('social.messages.list', {
          conversation_id: thread.id,
          count: 8,
          ...before,
        });
        const known = seen.size;
        for (const message of messages) seen.set(message.message_urn, message);
        if (seen.size === known) break;
        before = { delivered_at: String(messages.at(-1)?.delivered_at) };
      }
      t.strictSame([...seen.values()], all.map(message));
      const page = await visitor.list<Row>(`/api/conversations/${thread.id}/messages?count=2`);
      const byUrn = {
        conversation_urn: `urn:social:conversation:(${own},${thread.id})`,
        cursor: page.paging.nextCursor,
        count: 2,
      };
      t.strictSame(await read('social.messages.list', byUrn), { messages: all.slice(2, 4).map(message) });
      const foreign = await client.submit(connection, 'social.messages.list', {
        conversation_urn: `urn:social:conversation:(${other?.hashId},${thread.id})`,
      });
      t.equal(foreign.status, 400, "another account's urn");
    });

    t.test('a message with text and content, to a person and into the thread it made', async (t) => {
      const recipient_actor_id = (await visitor.list<Row>('/api/search/people?network=S&count=1')).data[0]?.hashId;
      const render_content_unions = [{ card: { title: 'Über', lines: [1, 2] } }];
      const sent = await read<Row>('social.message.send', {
        recipient_actor_id,
        body: 'Hello\tthere\n👋',
        render_content_unions,
      });
      t.match(sent, {
        provider_acknowledged: true,
        destination: { recipient_actor_id },
        message_id: /^urn:social:message:/,
      });
      const { conversation_id } = sent;
      const second = await read<Row>('social.message.send', { conversation_id, render_content_unions });
      t.strictSame(second.destination, { conversation_id });
      const { messages } = await read<{ messages: Row[] }>('social.messages.list', { conversation_id });
      t.strictSame(
        messages.map(({ message_urn, message_body, sender_hash_id, render_content }) => [
          message_urn,
          message_body,
          sender_hash_id,
          render_content,
        ]),
        [
          [second.message_id, '', own, render_content_unions],
          [sent.message_id, 'Hello\tthere\n👋', own, render_content_unions],
        ],
      );
      t.match(await client.run(connection, 'social.message.send', { recipient_actor_id: own, body: 'me' }), {
        status: 'skipped',
        result: { reason: 'self_target' },
      });
      const written = await ledger(sandboxUrl, username);
      t.strictSame(
        written.map(({ kind, target }) => [kind, target]),
        [
          ['message', recipient_actor_id],
          ['message', conversation_id],
        ],
      );
    });

    t.test('a file, sent and read back byte by byte', async (t) => {
      const recipient_actor_id = (await visitor.list<Row>('/api/connections?count=1')).data[0]?.hashId;
      const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => (i * 7) % 256));
      const file = {
        filename: 'Angebot für 5 €.pdf',
        content_type: 'application/pdf',
        data_base64: bytes.toString('base64'),
      };
      const sent = await read<Row>('social.attachment.send', { recipient_actor_id, ...file, body: 'As promised' });
      t.match(sent, { provider_acknowledged: true, destination: { recipient_actor_id }, message_id: String });
      const { messages } = await read<{ messages: Row[] }>('social.messages.list', {
        conversation_id: sent.conversation_id,
        count: 1,
      });
      t.match(messages, [{ message_urn: sent.message_id, message_body: 'As promised' }]);
      const content = attached(messages, site);
      t.match(content, { name: file.filename, contentType: 'application/pdf', size: bytes.length });
      const url = `${files}${content.path}`;
      const { filename: _, ...read_back } = file;
      t.strictSame(await read('social.file.download', { url }), { ...read_back, size: bytes.length });
      const html = { filename: 'page.html', content_type: 'text/html', data_base64: 'PGI+' };
      const second = await read<Row>('social.attachment.send', { conversation_id: sent.conversation_id, ...html });
      const after = await read<{ messages: Row[] }>('social.messages.list', {
        conversation_id: second.conversation_id,
      });
      t.match(await read('social.file.download', { url: `${files}${attached(after.messages, site).path}` }), {
        content_type: 'text/html',
        size: 3,
      });
      const written = (await ledger(sandboxUrl, username)).filter(({ kind }) => kind === 'attachment');
      t.equal(written.length, 2);
      t.match(await client.run(connection, 'social.attachment.send', { recipient_actor_id: own, ...html }), {
        status: 'skipped',
        result: { reason: 'self_target' },
      });
    });

    t.test('files are read where the provider keeps them and nowhere else', async (t) => {
      const sample = `${files}/samples/1000001.bin`;
      const plain = await read<Row>('social.file.download', { url: sample });
      const bytes = Buffer.from(Array.from({ length: 1_000_001 }, (_, i) => i % 251));
      t.equal(plain.size, bytes.length);
      t.equal(plain.content_type, 'application/octet-stream');
      const digest = (of: Buffer) => createHash('sha256').update(of).digest('hex');
      t.equal(digest(Buffer.from(String(plain.data_base64), 'base64')), digest(bytes));
      const moved = `${files}/moved/moved/samples/10.bin`;
      t.match(await read('social.file.download', { url: moved }), { size: 10, data_base64: 'AAECAwQFBgcICQ==' });
      t.match(await client.run(connection, 'social.file.download', { url: `${files}/away` }), {
        status: 'failed',
        error_code: 'validation_error',
        error_details: { reason: 'redirect_outside_provider' },
      });
      t.match(await client.run(connection, 'social.file.download', { url: `${files}/nothing` }), {
        status: 'failed',
        error_code: 'provider_not_found',
      });
      for (const url of [`${files.replace('https', 'http')}/a`, `${files}:444/a`, 'https://example.com/a']) {
        t.equal((await client.submit(connection, 'social.file.download', { url })).status, 400, url);
      }
    });

    t.test('invitations: sent once, skipped where nothing is left to do', async (t) => {
      const strangers = (await visitor.list<Row>('/api/search/people?network=O&count=50')).data;
      const sent = site === 'guild' ? 'placed' : 'INVITATION_SENT';
      const codes = new Map<unknown, Row>();
      for (const { hashId: recipient_actor_id } of strangers) {
        const result = await read<Row>('social.invitation.send', { recipient_actor_id, message: 'Let us talk' });
        const { code, message, ...rest } = result;
        t.strictSame(rest, { recipient_actor_id, provider_acknowledged: true });
        codes.set(code, { recipient_actor_id, message });
        if (codes.size === 2) break;
      }
      t.match(codes.get(sent), { message: 'Your invitation is on its way.' });
      const invited = codes.get(sent)?.recipient_actor_id;
      const near = (await visitor.list<Row>('/api/connections?count=1')).data[0]?.hashId;
      for (const [recipient_actor_id, reason] of [
        [invited, 'invitation_pending'],
        [near, 'already_connected'],
        [own, 'self_target'],
      ]) {
        const skipped = await client.run(connection, 'social.invitation.send', { recipient_actor_id });
        t.match(skipped, { status: 'skipped', result: { reason } });
      }
      t.match(await client.run(connection, 'social.invitation.send', { recipient_actor_id: 'ACoAAnobody' }), {
        status: 'failed',
        error_code: 'provider_not_found',
      });
      const written = (await ledger(sandboxUrl, username)).filter(({ kind }) => kind === 'invitation');
      t.equal(new Set(written.map(({ target }) => target)).size, written.length, 'one each');
      const entries: Row[] = [];
      for (let start_index: number | null = 0; start_index !== null && entries.length < written.length; ) {
        const page: Page = await read<Page>('social.invitations.sent.list', { start_index });
        entries.push(...page.entries);
        start_index = page.next_start_index;
      }
      const newest = ids(entries, 'recipient_actor_id').slice(0, written.length);
      t.strictSame(newest, written.map(({ target }) => target).reverse(), 'the newest pending ones');
    });

    const { regions } = await control(sandboxUrl, 'GET', '/proxies');
    const used = (regions as { region: string; accounts: Row }[]).filter(({ accounts }) => username in accounts);
    t.strictSame(ids(used, 'region'), ['US'], "every request came through the region's own proxy, files too");
  });
}

/** The file of the newest message, as the site describes it, with its path on the host of files. */
function attached([newest]: Row[], site: SiteName): Row {
  const content = (newest?.render_content as Record<string, Row>[] | undefined)?.[0];
  const { name, contentType, size, url } = content?.attachment ?? {};
  const { label, media_type, bytes, link } = content?.upload ?? {};
  return site === 'guild'
    ? { name: label, contentType: media_type, size: bytes, path: new URL(String(link)).pathname }
    : { name, contentType, size, path: new URL(String(url)).pathname };
}

function conversation(theirs: Row): Row {
  return {
    conversation_id: theirs.id,
    participants: ids(theirs.participants as Row[], 'hashId'),
    unread_count: theirs.unreadCount,
    last_activity_at: theirs.lastActivityAt,
  };
}

function message(theirs: Row): Row {
  return {
    message_urn: theirs.urn,
    message_body: theirs.body,
    sender_hash_id: theirs.senderHashId,
    delivered_at: theirs.deliveredAt,
    ...((theirs.renderContent as Row[]).length > 0 && { render_content: theirs.renderContent }),
  };
}
