import t from 'tap';
import { SITES } from '../fixture/network.js';
import { sized } from '../fixture/size.js';
import { Account } from './account.js';
import { poolFixture } from './fixture.js';

const FILE_HOSTS = { social: 'files.social.test', guild: 'media.guild.test' };
/** A fault of the site, and how the run fails. */
const FAULTS = [
  ['error', 422, { code: 'upstream_error', details: { upstream_status: Number, upstream_code: String } }],
  ['error', 503, { code: 'upstream_error', details: { upstream_status: 503, retry_after_seconds: 90 } }],
  ['error', 429, { code: 'provider_rate_limited', transient: false }],
  ['malformed', 0, { code: 'parsing_error', transient: false }],
  ['drop_before_commit', 0, { code: 'upstream_error', transient: true }],
  ...sized([], [
    ['error', 500, { code: 'upstream_error', details: { upstream_status: 500 }, transient: false }],
    ['error', 403, { code: 'upstream_error', details: { upstream_status: 403 }, transient: false }],
    ['error', 404, { code: 'provider_not_found', transient: false }],
    ['hang', 0, { code: 'upstream_timeout', transient: true }],
  ] as const),
] as const;
/** What an answer with this status says besides. */
const said: Record<number, object> = { 422: { code: 'unknown_attachment' }, 503: { retry_after: '90' } };

for (const name of SITES) {
  t.test(`reads, on ${name}`, async (t) => {
    const { network, channel, shortTimeouts } = await poolFixture(t, {}, name);
    const account = new Account(network, 'ada');
    await account.login(channel);

    async function read(capability: string, input: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
      return (await account.run(channel, capability, input).expect('result')).result;
    }

    t.test('identity names the authenticated account', async (t) => {
      const identity = await read('social.identity.get');
      t.match(identity, {
        actor_id: account.actorId,
        hash_id: account.actorId,
        public_id: String,
        member_id: /^\d+$/,
        firstName: 'Ada',
        lastname: String,
        headline: String,
      });
    });

    t.test('hash ids are resolved, unknown people to null', async (t) => {
      const { public_id, hash_id } = await read('social.identity.get');
      const { hash_ids } = await read('social.hash_ids.resolve', {
        public_ids: [public_id, 'nobody-at-all', public_id],
      });
      t.same(hash_ids, { [String(public_id)]: hash_id, 'nobody-at-all': null });
    });

    t.test('people are found by keyword and filter, page after page', async (t) => {
      const first = await read('social.people.search', { keywords: 'berlin', count: 5 });
      const people = first.people as Record<string, unknown>[];
      t.equal(first.start, 0);
      t.ok(people.length > 0 && people.length <= 5);
      t.match(people[0], {
        member_id: /^\d+$/,
        hash_id: /^ACoAA/,
        public_id: String,
        member_distance: Number,
        name: String,
        location: /Berlin/,
        profile_url: /^https:/,
        insights: Array,
      });
      const next = await read('social.people.search', { keywords: 'berlin', count: 5, start: people.length });
      const later = next.people as Record<string, unknown>[];
      t.notOk(later.some((person) => people.some((earlier) => earlier.hash_id === person.hash_id)));
      const named = await read('social.people.search', {
        filters: { first_name: String(people[0]?.name).split(' ')[0] },
      });
      t.ok((named.people as unknown[]).length > 0);
      t.same(await read('social.people.search', { keywords: 'zzzz-nobody' }), { people: [], start: 0 });
    });

    t.test('conversations are listed by either cursor, and their messages', async (t) => {
      const page = await read('social.conversations.list', { count: 2 });
      const conversations = page.conversations as Record<string, unknown>[];
      t.match(conversations, [
        { conversation_id: /^2-/, participants: [/^ACoAA/], unread_count: Number, last_activity_at: Number },
        { conversation_id: /^2-/ },
      ]);
      const byCursor = await read('social.conversations.list', { count: 2, cursor: page.next_cursor });
      const byTime = await read('social.conversations.list', {
        count: 2,
        last_activity_at: String(conversations[1]?.last_activity_at),
      });
      t.same(byCursor.conversations, byTime.conversations);

      const conversation_id = String(conversations[0]?.conversation_id);
      const { messages } = await read('social.messages.list', { conversation_id, count: 3 });
      t.match((messages as unknown[])[0], {
        message_urn: /^urn:social:message:/,
        message_body: String,
        sender_hash_id: /^ACoAA/,
        delivered_at: Number,
      });
      const conversation_urn = `urn:social:conversation:(${account.actorId},${conversation_id})`;
      t.same((await read('social.messages.list', { conversation_urn, count: 3 })).messages, messages);
      const paged = async (count: number) => {
        const seen: unknown[] = [];
        for (let from = {}; ; ) {
          const page = await read('social.messages.list', { conversation_id, count, ...from });
          const rows = page.messages as { message_urn: string; delivered_at: number }[];
          if (rows.length === 0) return seen;
          seen.push(...rows.map(({ message_urn }) => message_urn));
          from = { delivered_at: String(rows.at(-1)?.delivered_at) };
        }
      };
      const whole = await paged(20);
      t.ok(whole.length > 3);
      t.equal(new Set(whole).size, whole.length, 'each once');
      for (const count of [1, 2, 3]) t.strictSame(await paged(count), whole, `${count} at a time`);
      const foreign = { conversation_urn: `urn:social:conversation:(ACoAAsomebody,${conversation_id})` };
      t.match(await account.run(channel, 'social.messages.list', foreign).expect('failure'), {
        code: 'validation_error',
      });
    });

    for (const [mode, status, expected] of FAULTS) {
      t.test(`${mode}${status || ''} is ${expected.code}`, async (t) => {
        await network.fault({
          capability: 'social.people.search',
          mode,
          ...(status && { status }),
          ...said[status],
          times: 1,
        });
        // Only what never answers is given little time: a slow machine must not look like it.
        const asked = mode === 'hang' ? shortTimeouts() : channel;
        const run = account.run(asked, 'social.people.search', { keywords: 'berlin' });
        const failure = await run.expect('failure');
        t.match(failure, expected);
        t.equal(failure.effects, undefined, 'the health stays');
        await read('social.identity.get');
      });
    }

    t.test('a session that its site renews is reported before the end of the run, and goes on', async (t) => {
      const renewed = new Account(network, 'grace');
      await renewed.login(channel);
      await network.account({ username: 'grace', renew_session_every: 1 });
      for (const number of [1, 2]) {
        const before = channel.renewed.length;
        await renewed.run(channel, 'social.identity.get').expect('result');
        t.equal(channel.renewed.length, before + 1, `number ${number}`);
        renewed.session = channel.renewed.at(-1)?.session ?? null;
      }
    });

    t.test('a file comes whole, through the pinned proxy or not at all', async (t) => {
      const file = { url: `https://${FILE_HOSTS[name]}/samples/4.bin` };
      const run = account.run(channel, 'social.file.download', file);
      t.same([...new Uint8Array((await run.expect('file')).bytes)], [0, 1, 2, 3]);
      run.stored();
      const size = { content_type: 'application/octet-stream', size: 4 };
      t.strictSame((await run.expect('result')).result, size);
      const proxy = { id: 'gone', server: 'http://127.0.0.1:1' };
      t.match(await account.run(channel, 'social.file.download', file, { proxy }).expect('failure'), {
        code: 'proxy_error',
        details: { reason: 'unreachable' },
        transient: true,
      });
    });

    t.test('a session the site has ended needs a login', async (t) => {
      await network.fault({ account: 'ada', capability: 'social.identity.get', mode: 'logged_out', times: 1 });
      t.match(await account.run(channel, 'social.identity.get').expect('failure'), {
        code: 'authentication_failed',
        transient: false,
        effects: { health: 'needs_login' },
      });
    });
  });
}
