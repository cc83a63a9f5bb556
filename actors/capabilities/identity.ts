import typia from 'typia';
import type { NoInput } from '../../browser-pool/contract/fields.js';
import type * as contract from '../../browser-pool/contract/identity.js';
import { getCompany, getIdentity, getProfile, listConnections, resolveHashIds } from '../simulated/identity.js';
import { listSentInvitations } from '../simulated/invitations.js';
import { defineCapability } from './capability.js';
import { HASH_ID, PERSON } from './example-values.js';
import { exactlyOne, refuse } from './rules.js';

const identityGet = defineCapability<contract.GetIdentity>({
  name: 'social.identity.get',
  summary: 'Who the authenticated account is.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<NoInput>(),
  schemas: typia.json.schemas<[NoInput, contract.IdentityResult]>(),
  example: {
    input: {},
    result: {
      actor_id: 'ACoAAAda1',
      hash_id: 'ACoAAAda1',
      public_id: 'ada-lovelace',
      member_id: '1815',
      firstName: 'Ada',
      lastname: 'Lovelace',
      headline: 'Analyst',
      avatar: 'https://media.social.test/ada-lovelace.jpg',
      state_revision: 1,
    },
  },
  simulated: getIdentity,
});

const profileGet = defineCapability<contract.GetProfile>({
  name: 'social.profile.get',
  summary: 'A profile by its public id.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.ProfileGetInput>(),
  schemas: typia.json.schemas<[contract.ProfileGetInput, contract.ProfileGetResult]>(),
  example: {
    input: { profile_id: 'grace-hopper' },
    result: { profile: { source: 'full', hash_id: HASH_ID, ...PERSON }, state_revision: 1 },
  },
  simulated: getProfile,
});

const hashIdsResolve = defineCapability<contract.ResolveHashIds>({
  name: 'social.hash_ids.resolve',
  summary: 'Hash ids of profiles, by their public ids.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.HashIdsResolveInput>(),
  schemas: typia.json.schemas<[contract.HashIdsResolveInput, contract.HashIdsResolveResult]>(),
  example: {
    input: { public_ids: ['grace-hopper', 'nobody'] },
    result: { hash_ids: { 'grace-hopper': HASH_ID, nobody: null }, state_revision: 1 },
  },
  simulated: resolveHashIds,
});

const connectionsList = defineCapability<contract.ListConnections>({
  name: 'social.connections.list',
  summary: "A page of the account's own connections; raise `start` for the next.",
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.ConnectionsListInput>(),
  schemas: typia.json.schemas<[contract.ConnectionsListInput, contract.ConnectionsListResult]>(),
  example: {
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
  simulated: listConnections,
});

const companyGet = defineCapability<contract.GetCompany>({
  name: 'social.company.get',
  summary: 'A company by exactly one of `public_id`, `company_id` and `company_name`.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.CompanyGetInput>(),
  refine: (input) => exactlyOne(input, ['public_id', 'company_id', 'company_name']),
  schemas: typia.json.schemas<[contract.CompanyGetInput, contract.CompanyGetResult]>(),
  example: {
    input: { public_id: 'analytical-engines' },
    result: {
      company: {
        public_id: 'analytical-engines',
        company_id: '42',
        name: 'Analytical Engines',
        tagline: 'We calculate',
        description: 'Makers of engines that calculate.',
        url: 'https://www.social.test/company/analytical-engines',
        website: 'https://engines.example.com',
        phone: '+44 20 7946 0000',
        employee_count: 12,
        employee_count_range: '11-50',
        founded_year: 1837,
        industries: ['Computing'],
        industry: 'Computing',
        specialties: ['Arithmetic'],
        headquarter: 'London',
        locations: ['London'],
        logo_url: 'https://media.social.test/analytical-engines.png',
        cover_image_url: 'https://media.social.test/analytical-engines-cover.png',
      },
      state_revision: 1,
    },
  },
  simulated: getCompany,
});

const sentInvitationsList = defineCapability<contract.ListSentInvitations>({
  name: 'social.invitations.sent.list',
  summary:
    'Pending outgoing invitations. Follow `next_start_index` until `has_more` is false and dedupe by `invitation_id`; `start_index` is a multiple of 10.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.InvitationsSentListInput>(),
  refine: ({ start_index = 0 }) => (start_index % 10 === 0 ? [] : refuse('$input.start_index', 'a multiple of 10')),
  schemas: typia.json.schemas<[contract.InvitationsSentListInput, contract.InvitationsSentListResult]>(),
  example: {
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
  simulated: listSentInvitations,
});

/** Contract: "Identity, profile, connections, organizations". */
export const identity = [
  identityGet,
  profileGet,
  hashIdsResolve,
  connectionsList,
  companyGet,
  sentInvitationsList,
] as const;
