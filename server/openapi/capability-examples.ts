import type { CapabilityName, Signatures } from '../../actors/capabilities/signatures.js';
import { ATTACHMENT_BYTES, RENDER_CONTENT_BYTES } from '../../browser-pool/contract/fields.js';

/** What a capability does, in a line or two, with an input it takes and a result it may give. */
export type CapabilityExamples = {
  [Name in CapabilityName]: {
    summary: string;
    input: Signatures[Name]['input'];
    result: Signatures[Name]['result'];
  };
};

const HASH_ID = 'ACoAAGrace1';
const CONVERSATION_ID = '2-Y29udmVyc2F0aW9u';
const CONVERSATION = {
  conversation_id: CONVERSATION_ID,
  participants: [HASH_ID],
  unread_count: 1,
  last_activity_at: 1_790_000_000_000,
};
const EXPERIENCE = {
  title: 'Rear Admiral',
  company: 'Navy',
  location: 'Arlington',
  start_date: '1943-12',
  end_date: null,
  description: null,
};
const EDUCATION = { school: 'Yale', degree: 'PhD', major: 'Mathematics', start_date: '1930', end_date: '1934' };
const PERSON = {
  member_id: '1906',
  public_id: 'grace-hopper',
  first_name: 'Grace',
  last_name: 'Hopper',
  headline: 'Compiler author',
  profile_picture: null,
  industry: 'Computing',
  location: 'New York',
  public_profile_url: 'https://www.social.test/in/grace-hopper',
  email: null,
  address: null,
  phone_numbers: [],
  network_distance: 2,
  has_pending_connection_request: false,
  connected_at: null,
  about: null,
  experience: [EXPERIENCE],
  education: [EDUCATION],
};

export const CAPABILITY_EXAMPLES: CapabilityExamples = {
  'social.login': {
    summary:
      'Signs in with the stored credentials; on a live session it verifies that one, unless `reconnect` is given. May wait for the user.',
    input: { reconnect: true },
    result: { reason: 'login_succeeded', state_revision: 1 },
  },
  'social.health.check': {
    summary: 'Opens the saved session and checks the feed and whose session it is.',
    input: {},
    result: { health: 'ready', actor_id: 'ACoAAAda1', state_revision: 1 },
  },
  'social.recruiter.switch': {
    summary: 'Switches to the matching recruiter contract and verifies it with a search. May wait for the user.',
    input: { contract: 'Talent Europe' },
    result: { contract: 'Talent Europe', recruiter_ready: true, state_revision: 2 },
  },
  'social.identity.get': {
    summary: 'Who the authenticated account is.',
    input: {},
    result: {
      actor_id: 'ACoAAAda1',
      hash_id: 'ACoAAAda1',
      public_id: 'ada-lovelace',
      member_id: '1815',
      firstName: 'Ada',
      lastname: 'Lovelace',
      headline: 'Analyst',
      state_revision: 1,
    },
  },
  'social.profile.get': {
    summary: 'A profile by its public id.',
    input: { profile_id: 'grace-hopper' },
    result: { profile: { source: 'full', hash_id: HASH_ID, ...PERSON }, state_revision: 1 },
  },
  'social.hash_ids.resolve': {
    summary: 'Hash ids of profiles, by their public ids.',
    input: { public_ids: ['grace-hopper', 'nobody'] },
    result: { hash_ids: { 'grace-hopper': HASH_ID, nobody: null }, state_revision: 1 },
  },
  'social.connections.list': {
    summary: "A page of the account's own connections; raise `start` for the next.",
    input: { count: 25, start: 0 },
    result: {
      connections: [
        {
          hash_id: HASH_ID,
          public_id: 'grace-hopper',
          first_name: 'Grace',
          last_name: 'Hopper',
          headline: 'Compiler author',
          avatar: null,
          connected_at: '2026-01-01T00:00:00.000Z',
        },
      ],
      state_revision: 1,
    },
  },
  'social.company.get': {
    summary: 'A company by exactly one of `public_id`, `company_id` and `company_name`.',
    input: { public_id: 'analytical-engines' },
    result: { company: { public_id: 'analytical-engines', name: 'Analytical Engines' }, state_revision: 1 },
  },
  'social.invitations.sent.list': {
    summary:
      'Pending outgoing invitations. Follow `next_start_index` until `has_more` is false and dedupe by `invitation_id`; `start_index` is a multiple of 10.',
    input: { start_index: 0, include_total: true },
    result: {
      entries: [
        {
          invitation_id: '7001',
          recipient_actor_id: HASH_ID,
          public_id: 'grace-hopper',
          name: 'Grace Hopper',
          headline: 'Compiler author',
          message: 'Hello',
          sent_at: '2026-01-01T00:00:00.000Z',
        },
      ],
      count: 1,
      start_index: 0,
      has_more: false,
      next_start_index: null,
      total: 1,
      state_revision: 1,
    },
  },
  'social.typeahead': {
    summary: 'Ids for search filters, by the beginning of a name.',
    input: { kind: 'company', keyword: 'analytical' },
    result: { kind: 'company', items: [{ id: '42', name: 'Analytical Engines' }], state_revision: 1 },
  },
  'social.people.search': {
    summary: 'People, by at least one keyword or filter; advance `start` by the number of rows returned.',
    input: { keywords: 'engineer', filters: { network: 'F' }, start: 0, count: 10 },
    result: {
      people: [
        {
          member_id: '1906',
          hash_id: HASH_ID,
          public_id: 'grace-hopper',
          member_distance: 2,
          name: 'Grace Hopper',
          headline: 'Compiler author',
          summary: null,
          location: 'New York',
          profile_url: 'https://www.social.test/in/grace-hopper',
          insights: [],
          badgeHoverText: null,
        },
      ],
      start: 0,
      state_revision: 1,
    },
  },
  'social.jobs.search': {
    summary: 'Jobs, by at least one keyword or filter; details of the first `job_details_count` rows.',
    input: { keywords: 'compiler', count: 10 },
    result: {
      jobs: [
        {
          job_id: '9',
          job_title: 'Compiler engineer',
          job_url: 'https://www.social.test/jobs/9',
          job_company: 'Analytical Engines',
          job_insight: null,
          job_location: 'London',
          easy_apply: true,
          reposted_at: null,
        },
      ],
      start: 0,
      state_revision: 1,
    },
  },
  'social.recruiter.typeahead': {
    summary: 'Ids for recruiter filters, by the beginning of a name.',
    input: { kind: 'skill', keyword: 'compil' },
    result: { kind: 'skill', items: [{ id: '7', name: 'Compilers' }], state_revision: 2 },
  },
  'social.recruiter.people.search': {
    summary:
      'Candidates, by at least one keyword, title or other filter. What a filter holds is checked when its turn comes and can then fail with `validation_error`.',
    input: { titles: [{ name: 'Engineer', time_scope: 'current' }], networks: ['F', 'S'], count: 10 },
    result: {
      candidates: [
        {
          source: 'recruiter',
          hash_id: HASH_ID,
          recruiting: { candidate_id: 'c1', open_to_work: false, years_of_experience: 40 },
          ...PERSON,
        },
      ],
      paging: { start: 0, count: 10, total: 1 },
      total: 1,
      formatted_total: '1',
      facets: [{ name: 'location', values: [{ value: 'New York', count: 1 }] }],
      query_summary: 'Engineer',
      highlight_terms: ['engineer'],
      state_revision: 2,
    },
  },
  'social.conversations.list': {
    summary: 'Conversations of an inbox category, newest first; one cursor form at a time.',
    input: { category: 'PRIMARY_INBOX', count: 20 },
    result: { conversations: [CONVERSATION], next_cursor: null, state_revision: 1 },
  },
  'social.conversations.search': {
    summary: 'Conversations that hold the keywords.',
    input: { keywords: 'compiler', categories: ['INBOX'] },
    result: { conversations: [CONVERSATION], next_cursor: null, state_revision: 1 },
  },
  'social.conversation.with_recipient': {
    summary: 'The thread with a person, if there is one.',
    input: { recipient_actor_id: HASH_ID },
    result: { conversation: CONVERSATION, state_revision: 1 },
  },
  'social.messages.list': {
    summary:
      'Messages of a conversation, named by id or urn. `delivered_at` of the oldest asks for earlier ones; dedupe by `message_urn`; one cursor form at a time.',
    input: { conversation_id: CONVERSATION_ID, count: 20 },
    result: {
      messages: [
        {
          message_urn: 'urn:social:message:1',
          message_body: 'Hello',
          sender_hash_id: HASH_ID,
          delivered_at: 1_790_000_000_000,
        },
      ],
      state_revision: 1,
    },
  },
  'social.message.send': {
    summary: `Sends a message to exactly one of \`conversation_id\` and \`recipient_actor_id\`: nonblank text, render content (${RENDER_CONTENT_BYTES} bytes in all), or both.`,
    input: { recipient_actor_id: HASH_ID, body: 'Hello Grace' },
    result: {
      provider_acknowledged: true,
      destination: { recipient_actor_id: HASH_ID },
      message_id: 'urn:social:message:2',
      state_revision: 1,
    },
  },
  'social.invitation.send': {
    summary: 'Invites a person to connect. An acknowledgement is not always a sent invitation: look at `code`.',
    input: { recipient_actor_id: HASH_ID, message: 'Shall we connect?' },
    result: {
      recipient_actor_id: HASH_ID,
      code: 'sent',
      message: 'Invitation sent',
      provider_acknowledged: true,
      state_revision: 1,
    },
  },
  'social.attachment.send': {
    summary: `Sends a file of up to ${ATTACHMENT_BYTES} bytes to exactly one of \`conversation_id\` and \`recipient_actor_id\`.`,
    input: {
      conversation_id: CONVERSATION_ID,
      filename: 'notes.txt',
      content_type: 'text/plain',
      data_base64: 'SGVsbG8=',
    },
    result: {
      provider_acknowledged: true,
      destination: { conversation_id: CONVERSATION_ID },
      message_id: 'urn:social:message:3',
      state_revision: 1,
    },
  },
  'social.file.download': {
    summary: "Fetches a file over HTTPS from the provider's own domains.",
    input: { url: 'https://files.social.test/notes.txt' },
    result: { content_type: 'text/plain', data_base64: 'SGVsbG8=', size: 5, state_revision: 1 },
  },
};
