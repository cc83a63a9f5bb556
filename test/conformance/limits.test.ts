import { randomUUID } from 'node:crypto';
import t from 'tap';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { insertDeliveries } from '../server/rows.js';
import { type TableFixture, tableFixture, work } from './table.js';

/**
 * The table "Limits", row by row and from both sides. Lengths count Unicode code points (HTTP-17), so each bound of
 * free text is tried with a character of two UTF-16 units.
 */

const long = (length: number, character = '😀') => character.repeat(length);
const ascii = (length: number) => long(length, 'a');
const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64');

/** One thing that has a bound: how it is sent, what is taken (with which status), what is refused. */
interface Bound {
  /** The row of the table. */
  limit: string;
  send(on: TableFixture, value: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  takes: unknown[];
  taken: number;
  refuses: unknown[];
}

/** A field of an input, validated and not stored. */
function input(
  limit: string,
  capability: string,
  field: string,
  takes: unknown[],
  refuses: unknown[],
  rest = {},
): Bound {
  return {
    limit,
    send: (on, value) =>
      on.call({
        send: 'POST /v1/connections/{ada}/operations',
        headers: { 'Idempotency-Key': 'limits', Prefer: 'dry-run' },
        body: work(capability, { ...rest, [field]: value }),
      }),
    takes,
    taken: 200,
    refuses,
  };
}

const create = (field: string) => (on: TableFixture, value: unknown) =>
  on.call({
    send: 'POST /v1/connections',
    body: { provider: 'social', username: randomUUID(), password: 'p', region: 'US', [field]: value },
  });
const subscribe = (field: string) => (on: TableFixture, value: unknown) =>
  on.call({
    send: 'POST /v1/connections/{ada}/subscriptions',
    body: { event_types: ['message_sent'], callback_url: on.names.callback, [field]: value },
  });
const page = (path: string) => (on: TableFixture, value: unknown) => on.call({ send: `GET ${path}?offset=${value}` });

const CALLBACK = '{callback}';
const search = (capability: string, rest: object): Bound[] => [
  input('people.search, jobs.search, recruiter.people.search: start', capability, 'start', [0, 1000], [-1, 1001], rest),
  input('people.search, jobs.search, recruiter.people.search: count', capability, 'count', [1, 50], [0, 51, 1.5], rest),
];
const inbox = (capability: string, rest: object): Bound[] => [
  input('Conversation list, conversation search, messages list: count', capability, 'count', [1, 20], [0, 21], rest),
  input('Cursor', capability, 'cursor', ['x', long(512)], [long(513), ''], rest),
];
const ID = [ascii(1), ascii(255), 'A_+=-9'];
const NO_ID = ['', ascii(256), 'a b', 'a.b', 'é'];
const FILE = { conversation_id: 'a', filename: 'a', content_type: 'text/plain', data_base64: bytes(1) };

const BOUNDS: readonly Bound[] = [
  {
    limit: 'Idempotency-Key: 1–128 printable characters',
    send: (on, value) =>
      on.call({
        send: 'POST /v1/connections/{ada}/operations',
        headers: { 'Idempotency-Key': String(value) },
        body: work('social.identity.get'),
      }),
    takes: ['k', long(128, '~'), 'with spaces and "quotes"'],
    taken: 202,
    refuses: ['', '   ', ascii(129), '\u00e4', 'k\u00e4y'],
  },
  {
    limit: 'Connection username: nonblank, at most 255 characters',
    send: create('username'),
    takes: ['u', long(255)],
    taken: 201,
    refuses: ['', ' \u2003', long(256), 'a\u0000', 'a\n', '\ud800', 5, null],
  },
  {
    limit: 'Connection password: nonblank, at most 1024 characters',
    send: create('password'),
    takes: ['p', long(1024)],
    taken: 201,
    refuses: ['', '  ', long(1025), '\u0000', 5, null],
  },
  {
    limit: 'Region: two-letter code',
    send: create('region'),
    takes: ['de', 'US', 'zZ'],
    taken: 201,
    refuses: ['', 'D', 'DEU', 'D1', 'ÄÖ', null],
  },
  {
    limit: 'external_actor.id: 1–255 printable characters (CONN-13)',
    send: (on, id) =>
      on.call({
        send: 'POST /v1/connections',
        body: { provider: 'simulated', external_actor: { kind: 'person', id } },
      }),
    takes: ['x', ascii(255), 'a b'],
    taken: 201,
    refuses: ['', ' ', ascii(256), 'ä', 'a\t'],
  },
  {
    limit: 'Challenge code: 1–32 printable characters (409: nothing waits for it)',
    send: (on, code) =>
      on.call({ send: 'POST /v1/operations/{operation}/challenge', body: { challenge_id: 'c', code } }),
    takes: ['1', long(32, '~')],
    taken: 409,
    refuses: ['', ' ', ascii(33), 'ä', 123456],
  },
  {
    limit: 'Subscription secret: 32–255 characters',
    send: subscribe('secret'),
    takes: [long(32), long(255)],
    taken: 201,
    refuses: [long(31), long(256), '', `${long(40)}\n`],
  },
  {
    limit: 'Subscription callback: public HTTPS, no query, no fragment (EVT-2)',
    send: subscribe('callback_url'),
    takes: [CALLBACK],
    taken: 201,
    refuses: [
      `${CALLBACK}?`,
      `${CALLBACK}?a=b`,
      `${CALLBACK}#`,
      `${CALLBACK}#a`,
      'http://93.184.216.34/',
      'https://user@93.184.216.34/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://0x7f.1/',
      'https://169.254.169.254/',
      'ftp://93.184.216.34/',
      'https://',
      'not an address',
      ' ',
    ],
  },
  {
    limit: 'Subscription event types: a nonempty list of distinct supported types',
    send: subscribe('event_types'),
    takes: [
      ['message_received'],
      [
        ...['message_received', 'message_sent', 'sponsored_inmail_received', 'custom_connection_request_accepted'],
        ...['connection.stream_degraded', 'connection.stream_restored'],
        ...['connection.needs_login', 'connection.invalid', 'connection.ready'],
        ...['operation.waiting_user', 'operation.finished', 'delivery.exhausted'],
      ],
    ],
    taken: 201,
    refuses: [[], ['message_sent', 'message_sent'], ['message_read'], 'message_sent', [null]],
  },
  {
    limit: 'Events list: offset 0–100000',
    send: page('/v1/connections/{ada}/events'),
    takes: [0, 100_000],
    taken: 200,
    refuses: [-1, 100_001, '1.0', '1e2', '', '0x1', '99999999999999999999'],
  },
  {
    limit: 'Deliveries list: offset 0–100000',
    send: page('/v1/subscriptions/{subscription}/deliveries'),
    takes: [0, 100_000],
    taken: 200,
    refuses: [-1, 100_001, '1.0', '1e2', '', '0&offset=0'],
  },
  input('Profile slug: 1–255', 'social.profile.get', 'profile_id', [ascii(1), ascii(255)], ['', ascii(256), 'a b']),
  input('Recipient: 1–255', 'social.conversation.with_recipient', 'recipient_actor_id', ID, NO_ID),
  input('Conversation ID: 1–255', 'social.messages.list', 'conversation_id', ID, NO_ID),
  input(
    'hash_ids.resolve: 1–25 public IDs',
    'social.hash_ids.resolve',
    'public_ids',
    [['a'], Array(25).fill('a')],
    [[], Array(26).fill('a')],
  ),
  input('connections.list: count 1–50', 'social.connections.list', 'count', [1, 50], [0, 51]),
  input('connections.list: start 0–10000', 'social.connections.list', 'start', [0, 10_000], [-1, 10_001]),
  input(
    'invitations.sent.list: start_index a multiple of 10, 0–100000',
    'social.invitations.sent.list',
    'start_index',
    [0, 10, 100_000],
    [-10, 5, 99_999, 100_010],
  ),
  input('typeahead keyword: 1–100', 'social.typeahead', 'keyword', ['a', long(100)], ['', long(101), 'a\n'], {
    kind: 'skill',
  }),
  input('typeahead keyword: 1–100', 'social.recruiter.typeahead', 'keyword', ['a', long(100)], ['', long(101)], {
    kind: 'zip',
  }),
  ...search('social.people.search', { keywords: 'a' }),
  ...search('social.jobs.search', { keywords: 'a' }),
  ...search('social.recruiter.people.search', { keywords: 'a' }),
  input('people.search: keywords up to 200', 'social.people.search', 'keywords', ['a', long(200)], [long(201), '']),
  input(
    'people.search: filter strings up to 100',
    'social.people.search',
    'filters',
    [{ title: long(100) }, { open_to_volunteer: true }],
    [{ title: long(101) }, { title: 5 }, {}],
  ),
  input(
    'jobs.search: filter strings up to 100',
    'social.jobs.search',
    'filters',
    [{ company_name: long(100) }, { apply_with_linkedin: false }],
    [{ company_name: long(101) }, { apply_with_linkedin: 'no' }],
  ),
  input(
    'jobs.search extras: decoration_id up to 255',
    'social.jobs.search',
    'decoration_id',
    [long(255)],
    [long(256)],
    { keywords: 'a' },
  ),
  ...['job_details_count', 'job_posting_detail_description_start', 'job_posting_detail_description_count'].map(
    (field) =>
      input('jobs.search extras: detail integers 0–1000', 'social.jobs.search', field, [0, 1000], [-1, 1001, 0.5], {
        keywords: 'a',
      }),
  ),
  input(
    'Recruiter titles: up to 10',
    'social.recruiter.people.search',
    'titles',
    [Array(10).fill('a'), [{ name: 'a', title_id: 1 }]],
    [Array(11).fill('a'), []],
  ),
  input(
    'Recruiter switch contract: up to 100',
    'social.recruiter.switch',
    'contract',
    ['a', long(100)],
    ['', long(101)],
  ),
  ...inbox('social.conversations.list', {}),
  ...inbox('social.conversations.search', { keywords: 'a' }),
  ...inbox('social.messages.list', { conversation_id: 'a' }),
  input(
    'Conversation search keyword: 1–100',
    'social.conversations.search',
    'keywords',
    ['a', long(100)],
    ['', long(101)],
  ),
  input(
    'Message body: up to 2000',
    'social.message.send',
    'body',
    ['a', long(2000), 'a\n\tb'],
    ['', ' \n', long(2001), 'a\u0000'],
    { conversation_id: 'a' },
  ),
  input(
    'Render content: up to 5 nonempty objects, 16 KB in all',
    'social.message.send',
    'render_content_unions',
    // [{"a":"…"}] is ten bytes and the text.
    [[{ a: 1 }], Array(5).fill({ a: 1 }), [{ a: ascii(16 * 1024 - 10) }]],
    [[], Array(6).fill({ a: 1 }), [{}], [{ a: ascii(16 * 1024 - 9) }]],
    { conversation_id: 'a' },
  ),
  input('Invitation note: 1–300', 'social.invitation.send', 'message', ['a', long(300)], ['', long(301)], {
    recipient_actor_id: 'a',
  }),
  input(
    'Attachment: 1–1,000,000 decoded bytes',
    'social.attachment.send',
    'data_base64',
    [bytes(1), bytes(1_000_000)],
    ['', bytes(1_000_001), 'A', '****'],
    FILE,
  ),
  input(
    'Attachment: filename 1–255',
    'social.attachment.send',
    'filename',
    ['a', long(255)],
    ['', long(256), 'a/b'],
    FILE,
  ),
  {
    limit: 'Body of a submission: 2 MiB, then 413 (HTTP-10)',
    send: async (on, size) => {
      const text = JSON.stringify(work('social.identity.get'));
      return on.call({
        send: 'POST /v1/connections/{ada}/operations',
        headers: { 'Idempotency-Key': 'large', Prefer: 'dry-run' },
        body: text + ' '.repeat(Number(size) - text.length),
      });
    },
    takes: [2 * 1024 * 1024],
    taken: 200,
    refuses: [],
  },
];

t.test('every limit of the table holds from both sides', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t);
  const { client } = on.service;
  on.names.callback = callbacks.url;
  on.names.ada = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  on.names.operation = String((await client.submit(on.names.ada, 'social.identity.get')).body.id);
  const subscription = await subscribe('secret')(on, ascii(32));
  on.names.subscription = String(subscription.body.id);
  for (const { limit, send, takes, taken, refuses } of BOUNDS) {
    const wrong: unknown[] = [];
    const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 60);
    for (const value of takes) {
      const { status, body } = await send(on, value);
      if (status !== taken) wrong.push({ takes: shown(value), status, body });
    }
    for (const value of refuses) {
      const { status, body } = await send(on, value);
      if (status !== 400 || body.code !== 'validation_error') wrong.push({ refuses: shown(value), status, body });
    }
    t.strictSame(wrong, [], `${limit} (${takes.length} taken, ${refuses.length} refused)`);
  }
  const tooLarge = await on.call({
    send: 'POST /v1/connections/{ada}/operations',
    headers: { 'Idempotency-Key': 'large' },
    body: ' '.repeat(2 * 1024 * 1024 + 1),
  });
  t.match(tooLarge, { status: 413, body: { code: 'body_too_large' } }, 'past 2 MiB');
  const elsewhere = await on.call({ send: 'POST /v1/connections', body: ' '.repeat(64 * 1024 + 1) });
  t.match(elsewhere, { status: 413, body: { code: 'body_too_large' } }, 'elsewhere past 64 KiB');
});

t.test('lists page by 100, and say where the next page begins', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const on = await tableFixture(t);
  on.names.callback = callbacks.url;
  on.names.ada = await on.service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'ada' },
  });
  const { body } = await subscribe('secret')(on, ascii(32));
  const stored = await insertDeliveries(on.db, String(body.id), Array(201).fill('delivered'));
  for (const [path, list, newestFirst] of [
    ['/v1/connections/{ada}/events', 'events', stored.events.toReversed()],
    [`/v1/subscriptions/${body.id}/deliveries`, 'deliveries', stored.deliveries.toReversed()],
    [`/v1/subscriptions/${body.id}/deliveries?status=delivered`, 'deliveries', stored.deliveries.toReversed()],
  ] as const) {
    const seen: string[] = [];
    const next: unknown[] = [];
    for (let offset: unknown = 0; offset !== null; offset = next.at(-1)) {
      const page = await on.call({ send: `GET ${path}${path.includes('?') ? '&' : '?'}offset=${offset}` });
      seen.push(...(page.body[list] as { id: string }[]).map((one) => one.id));
      next.push(page.body.next_offset);
    }
    t.strictSame(next, [100, 200, null], `${path}: next_offset`);
    t.strictSame(seen, newestFirst, `${path}: newest first, each once`);
  }
  await on.db.query(
    'testGaps',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at)
     select gen_random_uuid(), $1, 'dropped', now() - n * interval '1 minute', now() from generate_series(1, 51) n`,
    [on.names.ada],
  );
  const listener = await on.call({ send: 'GET /v1/connections/{ada}/listener' });
  const gaps = listener.body.gaps as Record<string, unknown>[];
  t.equal(gaps.length, 50, 'Listener gaps: up to 50 returned');
  t.strictSame(Object.keys(gaps[0] ?? {}), ['id', 'reason', 'last_event_id', 'started_at', 'closed_at']);
});
