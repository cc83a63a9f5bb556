import { capabilities } from '../../../actors/capabilities/catalogue.js';

/** Both sides of every bound and rule of the contract's capability tables. */
export interface Bounds {
  accepted: unknown[];
  /** With the path that is refused. */
  refused: [input: unknown, path: string][];
}

const long = (length: number, character = 'a') => character.repeat(length);
const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64');
const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
const slugs = times(25, 'ada.b-c_1');

const nothing: Bounds = {
  accepted: [{}],
  refused: [
    [{ extra: 1 }, 'input.extra'],
    [[], 'input'],
    [null, 'input'],
    ['{}', 'input'],
    [undefined, 'input'],
  ],
};

/** A field of a fixed range of integers. */
function integer(field: string, low: number, high: number, rest: object = {}): Bounds {
  const refused = [low - 1, high + 1, low + 0.5, String(low), null];
  return {
    accepted: [low, high].map((value) => ({ ...rest, [field]: value })),
    refused: refused.map((value) => [{ ...rest, [field]: value }, `input.${field}`]),
  };
}

/** A field of so many characters of free text, counted in code points. */
function text(field: string, low: number, high: number, rest: object = {}): Bounds {
  const refused = [long(high + 1), long(high + 1, '😀'), 'a\u0007', 'a\u0000', '\ud800', 5];
  if (low > 0) refused.push('');
  return {
    accepted: ['x', long(high), long(high, '😀'), 'Ünï ✓ text'].map((value) => ({ ...rest, [field]: value })),
    refused: refused.map((value) => [{ ...rest, [field]: value }, `input.${field}`]),
  };
}

/** A field that names a person or a conversation. */
function providerId(field: string, rest: object = {}): Bounds {
  const refused = ['', 'a b', 'a.b', 'a/b', 'é', long(256), 'a\n', 7];
  return {
    accepted: ['A', 'ACo_+=-9', long(255)].map((value) => ({ ...rest, [field]: value })),
    refused: refused.map((value) => [{ ...rest, [field]: value }, `input.${field}`]),
  };
}

function both(...all: Bounds[]): Bounds {
  return { accepted: all.flatMap((b) => b.accepted), refused: all.flatMap((b) => b.refused) };
}

const search = (rest: object): Bounds =>
  both(
    integer('start', 0, 1000, rest),
    integer('count', 1, 50, rest),
    text('keywords', 0, 200, { ...rest, filters: { location_name: 'x' } }),
  );

const urn = (actor: string, id: string) => `urn:social:conversation:(${actor},${id})`;
const file = { conversation_id: '2-a', filename: 'a.txt', content_type: 'text/plain', data_base64: bytes(1) };

const TABLE: Record<string, Bounds> = {
  'social.login': {
    accepted: [{}, { reconnect: true }],
    refused: [
      [{ reconnect: false }, 'input.reconnect'],
      [{ reconnect: 'true' }, 'input.reconnect'],
      [{ password: 'x' }, 'input.password'],
    ],
  },
  'social.health.check': nothing,
  'social.recruiter.switch': both({ accepted: [{}], refused: [] }, text('contract', 1, 100)),
  'social.identity.get': nothing,
  'social.profile.get': {
    accepted: [{ profile_id: 'ada' }, { profile_id: 'A_b.c-9' }, { profile_id: long(255) }],
    refused: [
      ...['', 'a b', 'a+b', 'é', long(256), 3].map((profile_id): [unknown, string] => [
        { profile_id },
        'input.profile_id',
      ]),
      [{}, 'input.profile_id'],
    ],
  },
  'social.hash_ids.resolve': {
    accepted: [{ public_ids: ['a'] }, { public_ids: slugs }],
    refused: [
      [{}, 'input.public_ids'],
      [{ public_ids: [] }, 'input.public_ids'],
      [{ public_ids: [...slugs, 'a'] }, 'input.public_ids'],
      [{ public_ids: 'a' }, 'input.public_ids'],
      [{ public_ids: ['a', 'b c'] }, 'input.public_ids[1]'],
    ],
  },
  'social.connections.list': both({ accepted: [{}], refused: [] }, integer('count', 1, 50), integer('start', 0, 10000)),
  'social.company.get': both(text('company_name', 1, 255), {
    accepted: [{ public_id: 'acme' }, { company_id: '1' }, { company_id: long(20, '9') }],
    refused: [
      [{}, 'input'],
      [{ public_id: 'a', company_id: '1' }, 'input'],
      [{ company_id: '1', company_name: 'a' }, 'input'],
      [{ company_id: long(21, '9') }, 'input.company_id'],
      [{ company_id: 'a' }, 'input.company_id'],
      [{ company_id: '' }, 'input.company_id'],
      [{ company_id: 5 }, 'input.company_id'],
      [{ public_id: 'a b' }, 'input.public_id'],
    ],
  }),
  'social.invitations.sent.list': {
    accepted: [{}, { start_index: 0 }, { start_index: 100000 }, { start_index: 10, include_total: true }],
    refused: [
      [{ start_index: -10 }, 'input.start_index'],
      [{ start_index: 5 }, 'input.start_index'],
      [{ start_index: 100010 }, 'input.start_index'],
      [{ include_total: 'true' }, 'input.include_total'],
    ],
  },
  'social.typeahead': both(text('keyword', 1, 100, { kind: 'skill' }), {
    accepted: ['company', 'job_function', 'industry', 'location', 'people', 'school', 'skill', 'job_title'].map(
      (kind) => ({ kind, keyword: 'a' }),
    ),
    refused: [
      [{ kind: 'zip', keyword: 'a' }, 'input.kind'],
      [{ kind: 'people' }, 'input.keyword'],
      [{ kind: 'people', keyword: ' ' }, 'input.keyword'],
      [{ keyword: 'a' }, 'input.kind'],
    ],
  }),
  'social.people.search': both(search({ keywords: 'x' }), {
    accepted: [
      { filters: { open_to_volunteer: false } },
      { filters: { location_id: long(100, '😀') } },
      { keywords: 'x', filters: {} },
      { filters: { title: 'a', school_name: 'b' } },
    ],
    refused: [
      [{}, 'input'],
      [{ start: 0, count: 1 }, 'input'],
      [{ keywords: '  ' }, 'input'],
      [{ keywords: '  ', filters: { location_id: ' ' } }, 'input'],
      [{ filters: {} }, 'input'],
      [{ filters: { title: '' } }, 'input'],
      [{ filters: { title: long(101) } }, 'input.filters.title'],
      [{ filters: { open_to_volunteer: 'yes' } }, 'input.filters.open_to_volunteer'],
      [{ filters: { city: 'a' } }, 'input.filters.city'],
      [{ keywords: 'x', filters: 'a' }, 'input.filters'],
    ],
  }),
  'social.jobs.search': both(
    search({ keywords: 'x' }),
    text('decoration_id', 0, 255, { keywords: 'x' }),
    integer('job_details_count', 0, 1000, { keywords: 'x' }),
    integer('job_posting_detail_description_start', 0, 1000, { keywords: 'x' }),
    integer('job_posting_detail_description_count', 0, 1000, { keywords: 'x' }),
    {
      accepted: [{ filters: { apply_with_linkedin: true } }, { filters: { job_type: 'F' } }],
      refused: [
        [{}, 'input'],
        [{ job_details_count: 5 }, 'input'],
        [{ filters: { sort_by: 'DD' } }, 'input'],
        [{ filters: { early_applicant: 1 } }, 'input.filters.early_applicant'],
        [{ filters: { apply: true } }, 'input.filters.apply'],
      ],
    },
  ),
  'social.recruiter.typeahead': both(text('keyword', 1, 100, { kind: 'zip' }), {
    accepted: ['company', 'industry', 'job_title', 'location', 'school', 'skill', 'zip'].map((kind) => ({
      kind,
      keyword: 'a',
    })),
    refused: [[{ kind: 'people', keyword: 'a' }, 'input.kind']],
  }),
  'social.recruiter.people.search': both(
    integer('start', 0, 1000, { keywords: 'x' }),
    integer('count', 1, 50, { keywords: 'x' }),
    text('keywords', 0, 200, { titles: ['x'] }),
    {
      accepted: [
        { titles: times(10, 'a') },
        { skills: times(100, 'a') },
        { is_veteran: false },
        { distance: 5 },
        { networks: ['nonsense'] },
        { locations: 'not a list, which its turn will find' },
      ],
      refused: [
        [{}, 'input'],
        [{ start: 0 }, 'input'],
        [{ titles: [] }, 'input'],
        [{ titles: [], skills: [], keywords: '', yoe: {}, is_veteran: null }, 'input'],
        [{ titles: times(11, 'a') }, 'input.titles'],
        [{ titles: 'a' }, 'input.titles'],
        [{ skills: times(101, 'a') }, 'input.skills'],
        [{ first_names: ['a\u0000'] }, 'input.first_names'],
        [{ hobbies: ['chess'] }, 'input.hobbies'],
        [{ keywords: 'x', yoe: JSON.parse(`${long(40, '[')}${long(40, ']')}`) }, 'input.yoe'],
      ],
    },
  ),
  'social.conversations.list': both({ accepted: [{}], refused: [] }, integer('count', 1, 20), text('cursor', 1, 512), {
    accepted: [
      ...['PRIMARY_INBOX', 'SECONDARY_INBOX', 'INMAIL', 'ARCHIVE', 'SPAM'].map((category) => ({ category })),
      { last_activity_at: 0 },
      { last_activity_at: 1735689600000 },
      { last_activity_at: '1735689600000' },
      { last_activity_at: '8640000000000000' },
    ],
    refused: [
      [{ category: 'INBOX' }, 'input.category'],
      [{ last_activity_at: '' }, 'input.last_activity_at'],
      [{ last_activity_at: long(17, '9') }, 'input.last_activity_at'],
      [{ last_activity_at: long(16, '9') }, 'input.last_activity_at'],
      [{ last_activity_at: 8640000000000001 }, 'input.last_activity_at'],
      [{ last_activity_at: '12.5' }, 'input.last_activity_at'],
      [{ last_activity_at: -1 }, 'input.last_activity_at'],
      [{ cursor: 'a', last_activity_at: 1 }, 'input'],
    ],
  }),
  'social.conversations.search': both(
    text('keywords', 1, 100),
    integer('count', 1, 20, { keywords: 'a' }),
    text('cursor', 1, 512, { keywords: 'a' }),
    {
      accepted: [
        { keywords: 'a', categories: ['INBOX', 'SPAM', 'ARCHIVE', 'INMAIL'] },
        { keywords: 'a', first_degree_connections: false },
      ],
      refused: [
        [{}, 'input.keywords'],
        [{ keywords: ' \u00a0' }, 'input.keywords'],
        [{ keywords: 'a', categories: [] }, 'input.categories'],
        [{ keywords: 'a', categories: ['SPAM', 'SPAM'] }, 'input.categories'],
        [{ keywords: 'a', categories: ['PRIMARY_INBOX'] }, 'input.categories[0]'],
        [{ keywords: 'a', first_degree_connections: 1 }, 'input.first_degree_connections'],
      ],
    },
  ),
  'social.conversation.with_recipient': both(providerId('recipient_actor_id'), {
    accepted: [],
    refused: [[{}, 'input.recipient_actor_id']],
  }),
  'social.messages.list': both(
    providerId('conversation_id'),
    integer('count', 1, 20, { conversation_id: 'a' }),
    text('cursor', 1, 512, { conversation_id: 'a' }),
    {
      accepted: [
        { conversation_urn: urn('me', '2-a') },
        { conversation_id: '2-a', conversation_urn: urn('me', '2-a') },
        { conversation_id: '2-a', delivered_at: '1' },
      ],
      refused: [
        [{}, 'input'],
        [{ conversation_id: 'a', cursor: 'a', delivered_at: 1 }, 'input'],
        [{ conversation_id: '2-b', conversation_urn: urn('me', '2-a') }, 'input.conversation_urn'],
        [{ conversation_urn: 'urn:social:conversation:me,2-a' }, 'input.conversation_urn'],
        [{ conversation_urn: urn('me', '2-a,3') }, 'input.conversation_urn'],
        [{ conversation_id: 'a', delivered_at: 1.5 }, 'input.delivered_at'],
        [{ conversation_id: 'a', delivered_at: long(16, '9') }, 'input.delivered_at'],
      ],
    },
  ),
  'social.message.send': both(
    providerId('conversation_id', { body: 'a' }),
    providerId('recipient_actor_id', { body: 'a' }),
    {
      accepted: [
        { conversation_id: 'a', body: long(2000, '😀') },
        { conversation_id: 'a', body: 'line\nline\ttab' },
        { conversation_id: 'a', render_content_unions: [{ a: 1 }] },
        { conversation_id: 'a', body: '  ', render_content_unions: times(5, { a: 1 }) },
        { conversation_id: 'a', body: 'b', render_content_unions: [] },
        { conversation_id: 'a', render_content_unions: [{ a: 'line\r\nline' }] },
        // [{"a":"…"}] is ten bytes and the text.
        { conversation_id: 'a', render_content_unions: [{ a: long(16 * 1024 - 10) }] },
      ],
      refused: [
        [{ body: 'a' }, 'input'],
        [{ conversation_id: 'a', recipient_actor_id: 'b', body: 'a' }, 'input'],
        [{ conversation_id: 'a' }, 'input.body'],
        [{ conversation_id: 'a', body: ' \n' }, 'input.body'],
        [{ conversation_id: 'a', body: ' ', render_content_unions: [] }, 'input.body'],
        [{ conversation_id: 'a', body: long(2001) }, 'input.body'],
        [{ conversation_id: 'a', body: 'a\u0000' }, 'input.body'],
        [{ conversation_id: 'a', render_content_unions: times(6, { a: 1 }) }, 'input.render_content_unions'],
        [{ conversation_id: 'a', render_content_unions: [{ a: ['b\u0000'] }] }, 'input.render_content_unions'],
        [{ conversation_id: 'a', render_content_unions: [{ '\ud800': 1 }] }, 'input.render_content_unions'],
        [{ conversation_id: 'a', render_content_unions: [{ a: 1 }, {}] }, 'input.render_content_unions[1]'],
        [{ conversation_id: 'a', render_content_unions: ['a'] }, 'input.render_content_unions[0]'],
        [{ conversation_id: 'a', render_content_unions: [[1]] }, 'input.render_content_unions[0]'],
        [{ conversation_id: 'a', render_content_unions: [{ a: long(16 * 1024 - 9) }] }, 'input.render_content_unions'],
        [{ conversation_id: 'a', render_content_unions: [{ a: long(8 * 1024, 'é') }] }, 'input.render_content_unions'],
        [
          { conversation_id: 'a', render_content_unions: [{ a: JSON.parse(`${long(40, '[')}${long(40, ']')}`) }] },
          'input.render_content_unions',
        ],
      ],
    },
  ),
  'social.invitation.send': both(providerId('recipient_actor_id'), {
    accepted: [
      { recipient_actor_id: 'a', message: 'x' },
      { recipient_actor_id: 'a', message: long(300, '😀') },
    ],
    refused: [
      [{ message: 'x' }, 'input.recipient_actor_id'],
      [{ recipient_actor_id: 'a', message: '' }, 'input.message'],
      [{ recipient_actor_id: 'a', message: long(301) }, 'input.message'],
      [{ recipient_actor_id: 'a', return_original: true }, 'input.return_original'],
    ],
  }),
  'social.attachment.send': {
    accepted: [
      file,
      { ...file, data_base64: bytes(2), body: 'see file' },
      { ...file, data_base64: bytes(1_000_000) },
      { ...file, filename: long(255, '😀') },
      { ...file, content_type: 'image/svg+xml' },
      { ...file, content_type: 'text/plain; charset=utf-8' },
      { ...file, content_type: 'application/vnd.ms-excel;a="b c"' },
      { ...file, body: '' },
    ],
    refused: [
      [{ ...file, recipient_actor_id: 'b' }, 'input'],
      [{ ...file, conversation_id: undefined }, 'input'],
      ...['', 'a/b', 'a\\b', 'a\nb', long(256)].map((filename): [unknown, string] => [
        { ...file, filename },
        'input.filename',
      ]),
      ...[
        '',
        'text',
        'text/',
        '/plain',
        'text plain',
        'text/plain;',
        'text/plain; charset',
        '*/*',
        `a/${long(200)}`,
      ].map((content_type): [unknown, string] => [{ ...file, content_type }, 'input.content_type']),
      ...['', 'A', 'AA', 'AAA', 'A===', 'AAA*', 'AA=A', 'AAAA\n', '-_-_', bytes(1_000_001)].map(
        (data_base64): [unknown, string] => [{ ...file, data_base64 }, 'input.data_base64'],
      ),
      [{ ...file, body: long(2001) }, 'input.body'],
      [{ conversation_id: 'a', filename: 'a', content_type: 'a/b' }, 'input.data_base64'],
    ],
  },
  'social.file.download': {
    accepted: [
      { url: 'https://social.test/a.txt' },
      { url: 'https://files.eu.social.test/a?b=c#d' },
      { url: 'https://social.test:443/' },
      { url: 'HTTPS://SOCIAL.TEST/a' },
    ],
    refused: [
      [{}, 'input.url'],
      ...[
        '',
        'http://social.test/',
        'ftp://social.test/',
        'https://social.test:8443/',
        'https://social.test.evil.example/',
        'https://antisocial.test/',
        'https://evil.example/social.test',
        'https://user@social.test/',
        'https://user:pass@social.test/',
        'https://social.test@evil.example/',
        'https://127.0.0.1/',
        'https://social.test /a',
        '//social.test/a',
        'social.test/a',
      ].map((url): [unknown, string] => [{ url }, 'input.url']),
    ],
  },
};

/** By capability: what the table says, and the record's own example. */
export const BOUNDS: Record<string, Bounds> = Object.fromEntries(
  capabilities.map(({ name, example }) => {
    const { accepted, refused } = TABLE[name] ?? { accepted: [], refused: [] };
    return [name, { accepted: [...accepted, example.input], refused }];
  }),
);
