import t from 'tap';
import { capabilities } from '../../actors/capabilities/catalogue.js';
import { BOUNDS } from '../actors/capabilities/bounds.js';
import { allOf } from '../fixture/all-of.js';
import type { Operation } from '../fixture/client.js';
import { tableFixture } from './table.js';

/**
 * The five tables of "Capabilities" on simulated connections: every input bound from both sides through HTTP, and the
 * exact fields of every result. "Every successful result also carries `state_revision`".
 */

interface Result {
  capability: string;
  input: Record<string, unknown>;
  /** Beside `state_revision`. */
  fields: readonly string[];
  /** Fields that the contract gives only "when supplied". */
  supplied?: readonly string[];
  like?: Record<string, unknown>;
  /** Where a list of rows stands, and the fields of each (contract: "Row shapes"). */
  rows?: { at: string; fields: readonly string[]; supplied?: readonly string[] };
  write?: true;
}

const PROFILE = [
  ['source', 'member_id', 'hash_id', 'public_id', 'first_name', 'last_name', 'headline', 'profile_picture'],
  ['industry', 'location', 'public_profile_url', 'email', 'address', 'phone_numbers', 'network_distance'],
  ['has_pending_connection_request', 'connected_at', 'about', 'experience', 'education'],
].flat();
const COMPANY = [
  ['public_id', 'company_id', 'name', 'tagline', 'description', 'url', 'website', 'phone', 'employee_count'],
  ['employee_count_range', 'founded_year', 'industries', 'industry', 'specialties', 'headquarter', 'locations'],
  ['logo_url', 'cover_image_url'],
].flat();
const PEOPLE_ROW = [
  ['member_id', 'hash_id', 'public_id', 'member_distance', 'name', 'headline', 'summary', 'location'],
  ['profile_url', 'insights', 'badgeHoverText'],
].flat();
const JOB_ROW = [
  ['job_id', 'job_title', 'job_url', 'job_company', 'job_insight', 'job_location', 'easy_apply', 'reposted_at'],
].flat();
const CONVERSATION = ['conversation_id', 'participants', 'unread_count', 'last_activity_at'];
const MESSAGE = ['message_urn', 'message_body', 'sender_hash_id', 'delivered_at'];
const ACKNOWLEDGED = ['provider_acknowledged', 'destination'];
const SENT = ['message_id', 'conversation_id', 'delivered_at'];
const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64');

const TABLE: readonly Result[] = [
  { capability: 'social.login', input: {}, fields: ['reason'], like: { reason: 'login_succeeded', state_revision: 0 } },
  {
    capability: 'social.login',
    input: { reconnect: true },
    fields: ['reason'],
    like: { reason: 'login_succeeded', state_revision: 1 },
  },
  { capability: 'social.health.check', input: {}, fields: ['health', 'actor_id'], like: { health: 'ready' } },
  {
    capability: 'social.recruiter.switch',
    input: { contract: 'Corporate Recruiter' },
    fields: ['contract', 'recruiter_ready'],
    like: { contract: 'Corporate Recruiter', recruiter_ready: true },
  },
  {
    capability: 'social.identity.get',
    input: {},
    fields: ['actor_id', 'hash_id', 'public_id', 'member_id', 'firstName', 'lastname', 'headline'],
    supplied: ['avatar'],
  },
  {
    capability: 'social.profile.get',
    input: { profile_id: 'ada-lovelace' },
    fields: ['profile'],
    like: { profile: { source: 'full', public_id: 'ada-lovelace' } },
    rows: { at: 'profile', fields: PROFILE },
  },
  {
    capability: 'social.hash_ids.resolve',
    input: { public_ids: ['ada-lovelace', 'grace-hopper', '__proto__', 'constructor'] },
    fields: ['hash_ids'],
  },
  {
    capability: 'social.connections.list',
    input: {},
    fields: ['connections'],
    rows: {
      at: 'connections',
      fields: ['hash_id', 'public_id', 'first_name', 'last_name', 'headline', 'avatar'],
      supplied: ['connected_at'],
    },
  },
  {
    capability: 'social.company.get',
    input: { company_name: 'Acme' },
    fields: ['company'],
    rows: { at: 'company', fields: [], supplied: COMPANY },
  },
  {
    capability: 'social.invitations.sent.list',
    input: { include_total: true },
    fields: ['entries', 'count', 'start_index', 'has_more', 'next_start_index', 'total'],
    like: { start_index: 0 },
  },
  {
    capability: 'social.invitations.sent.list',
    input: { start_index: 100_000 },
    fields: ['entries', 'count', 'start_index', 'has_more', 'next_start_index'],
    like: { entries: [], count: 0, has_more: false, next_start_index: null },
  },
  {
    capability: 'social.typeahead',
    input: { kind: 'company', keyword: 'a' },
    fields: ['kind', 'items'],
    like: { kind: 'company' },
    rows: { at: 'items', fields: ['id', 'name'] },
  },
  {
    capability: 'social.people.search',
    input: { keywords: 'engineer', start: 5, count: 3 },
    fields: ['people', 'start'],
    like: { start: 5 },
    rows: { at: 'people', fields: PEOPLE_ROW },
  },
  {
    capability: 'social.jobs.search',
    input: { keywords: 'engineer', count: 3 },
    fields: ['jobs', 'start'],
    like: { start: 0 },
    rows: {
      at: 'jobs',
      fields: JOB_ROW,
      supplied: ['company', 'location', 'description', 'posting', 'application'],
    },
  },
  {
    capability: 'social.jobs.search',
    input: { keywords: 'engineer', count: 1, job_details_count: 1 },
    fields: ['jobs', 'start'],
    rows: { at: 'jobs', fields: [...JOB_ROW, 'company', 'location', 'description', 'posting', 'application'] },
  },
  {
    capability: 'social.recruiter.typeahead',
    input: { kind: 'zip', keyword: '1' },
    fields: ['kind', 'items'],
    rows: { at: 'items', fields: ['id', 'name'] },
  },
  {
    capability: 'social.recruiter.people.search',
    input: { titles: ['Engineer'], count: 2 },
    fields: ['candidates', 'paging', 'total', 'formatted_total', 'facets', 'query_summary', 'highlight_terms'],
    rows: {
      at: 'candidates',
      fields: [...PROFILE.filter((field) => field !== 'hash_id'), 'recruiting'],
      supplied: ['hash_id'],
    },
  },
  {
    capability: 'social.message.send',
    input: { recipient_actor_id: 'someone', body: 'Hello' },
    fields: ACKNOWLEDGED,
    supplied: SENT,
    like: { provider_acknowledged: true, destination: { recipient_actor_id: 'someone' } },
    write: true,
  },
  {
    capability: 'social.invitation.send',
    input: { recipient_actor_id: 'someone', message: 'Hello' },
    fields: ['recipient_actor_id', 'code', 'message', 'provider_acknowledged'],
    supplied: ['original'],
    like: { recipient_actor_id: 'someone', provider_acknowledged: true },
    write: true,
  },
  {
    capability: 'social.attachment.send',
    input: { recipient_actor_id: 'someone', filename: 'a.txt', content_type: 'text/plain', data_base64: bytes(3) },
    fields: ACKNOWLEDGED,
    supplied: SENT,
    write: true,
  },
  {
    capability: 'social.conversations.list',
    input: {},
    fields: ['conversations', 'next_cursor'],
    rows: { at: 'conversations', fields: CONVERSATION },
  },
  {
    capability: 'social.conversations.search',
    input: { keywords: 'hello' },
    fields: ['conversations', 'next_cursor'],
    rows: { at: 'conversations', fields: CONVERSATION },
  },
  {
    capability: 'social.conversation.with_recipient',
    input: { recipient_actor_id: 'someone' },
    fields: ['conversation'],
    rows: { at: 'conversation', fields: CONVERSATION },
  },
  {
    capability: 'social.messages.list',
    input: { conversation_id: '{conversation}' },
    fields: ['messages'],
    rows: { at: 'messages', fields: MESSAGE, supplied: ['render_content'] },
  },
  {
    capability: 'social.messages.list',
    input: { conversation_urn: 'urn:social:conversation:(ada,{conversation})' },
    fields: ['messages'],
  },
  {
    capability: 'social.file.download',
    input: { url: 'https://files.social.test/a.txt' },
    fields: ['content_type', 'data_base64', 'size'],
  },
];

/** A capability that the table leaves out is tried with its record's example. */
const RESULTS: readonly Result[] = [
  ...TABLE,
  ...capabilities
    .filter(({ name }) => !TABLE.some(({ capability }) => capability === name))
    .map(({ name, example: { input, result } }) => ({
      capability: name,
      input,
      fields: Object.keys(result).filter((field) => field !== 'state_revision'),
    })),
];

function missingAndExtra(value: object, fields: readonly string[], supplied: readonly string[] = []) {
  const given = Object.keys(value);
  return {
    missing: fields.filter((field) => !given.includes(field)),
    extra: given.filter((field) => !fields.includes(field) && !supplied.includes(field)),
  };
}
const NONE = { missing: [], extra: [] };

t.test('every capability gives the result of its row', async (t) => {
  const { service, names, db } = await tableFixture(t);
  const { client } = service;
  const ada = await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } });
  t.strictSame(
    [...new Set(RESULTS.map((row) => row.capability))].sort(),
    capabilities.map(({ name }) => name).sort(),
    'all of them',
  );
  for (const { capability, input, fields, supplied, like, rows, write } of RESULTS) {
    const filled = JSON.parse(JSON.stringify(input).replaceAll('{conversation}', names.conversation ?? ''));
    const done: Operation = await client.run(ada, capability, filled);
    const row = `${capability} ${JSON.stringify(input)}`;
    t.match(done, { status: 'succeeded', error_code: null, error_details: null }, row);
    const result = done.result ?? {};
    t.strictSame(missingAndExtra(result, [...fields, 'state_revision'], supplied), NONE, `${row} has its fields`);
    t.type(result.state_revision, 'number', row);
    if (like) t.match(result, like, row);
    if (rows) {
      const at = result[rows.at];
      const entries = (Array.isArray(at) ? at : [at]) as object[];
      t.ok(entries.length > 0, `${row} has rows`);
      for (const entry of entries) t.strictSame(missingAndExtra(entry, rows.fields, rows.supplied), NONE, row);
    }
    const phases = done.attempts.map((attempt) => attempt.phase);
    t.strictSame([phases, done.attempts[0]?.status], [['done'], 'succeeded'], `${row} is one attempt`);
    if (write && capability === 'social.message.send') names.conversation = String(result.conversation_id);
  }
  const sealed = await db.query<{ plain: string | null }>(
    'testSealed',
    `select input as plain from operation where capability in ('social.message.send', 'social.attachment.send') and workspace_id = $1`,
    [service.workspaceId],
  );
  t.ok(
    allOf(sealed, (row) => row.plain === null),
    'text and render content are encrypted in stored input',
  );
});

t.test('every capability takes and refuses through HTTP what its row bounds', async (t) => {
  const on = await tableFixture(t);
  on.names.ada = await on.service.client.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'me' },
  });
  const submit = (capability: string, input: unknown) =>
    on.call({
      send: 'POST /v1/connections/{ada}/operations',
      headers: { 'Idempotency-Key': 'bounds', Prefer: 'dry-run' },
      body: { capability, input },
    });
  let tried = 0;
  for (const [capability, { accepted, refused }] of Object.entries(BOUNDS)) {
    const wrong: unknown[] = [];
    for (const input of accepted) {
      const { status, body } = await submit(capability, input);
      if (status !== 200 || body.valid !== true) wrong.push({ input, status, body });
      tried++;
    }
    for (const [input, path] of refused) {
      const { status, body } = await submit(capability, input);
      const paths = ((body.errors ?? []) as { path: string }[]).map((error) =>
        error.path.replace(/^body\.input/, 'input'),
      );
      if (status !== 400 || body.code !== 'validation_error' || !paths.some((one) => one.startsWith(path))) {
        wrong.push({ input, status, body, path });
      }
      tried++;
    }
    const extra = await submit(capability, { ...(accepted[0] as object), surprise: 1 });
    t.match(extra, { status: 400, body: { errors: [{ path: 'input.surprise' }] } }, 'unknown top-level fields');
    t.strictSame(wrong, [], `${capability}: ${accepted.length} taken, ${refused.length} refused`);
  }
  t.comment(`${tried} inputs`);
  const [stored] = await on.db.query<{ count: number }>(
    'testCount',
    'select count(*)::int as count from operation where workspace_id = $1',
    [on.service.workspaceId],
  );
  t.equal(stored?.count, 0, 'nothing of it was stored');
});
