import type { Site } from './site.js';

/** The stand-in network's own domains. */
export const STAND_IN_DOMAINS: readonly string[] = ['social.test'];

/** What is known only when the service starts. */
export interface SiteAccess {
  origin: string;
  ca?: string;
  spki?: string;
}

const PAGES: Site['pages'] = {
  login: 'login',
  challenge: 'challenge',
  challengeExpired: 'challenge-expired',
  restricted: 'restricted',
  feed: 'feed',
  recruiter: 'recruiter',
  recruiterContracts: 'recruiter-contracts',
  recruiterUnavailable: 'recruiter-unavailable',
  forbidden: 'forbidden',
  notFound: 'not-found',
  error: 'error',
};

const PATHS: Site['paths'] = {
  login: '/login',
  feed: '/feed',
  restricted: '/checkpoint/restricted',
  recruiterContracts: '/recruiter/contracts',
  me: '/api/me',
  resolve: '/api/members/resolve',
  profile: '/api/profiles/{id}',
  companies: '/api/companies',
  connections: '/api/connections',
  invitations: '/api/invitations',
  sentInvitations: '/api/invitations/sent',
  typeahead: '/api/typeahead',
  peopleSearch: '/api/search/people',
  jobSearch: '/api/search/jobs',
  job: '/api/jobs/{id}',
  recruiterTypeahead: '/api/recruiter/typeahead',
  recruiterSearch: '/api/recruiter/search',
  conversations: '/api/conversations',
  conversationMessages: '/api/conversations/{id}/messages',
  conversationSearch: '/api/conversations/search',
  conversationWith: '/api/conversations/with/{id}',
  messages: '/api/messages',
  attachments: '/api/attachments',
  stream: '/realtime',
};

const SELECTORS: Site['selectors'] = {
  username: '#username',
  password: '#password',
  loginSubmit: '#login-submit',
  loginRefused: '#login-error',
  challenge: '#challenge',
  challengeKind: { attribute: 'data-challenge-kind' },
  code: '#code',
  codeSubmit: '#challenge-submit',
  identity: '#identity',
  identityHashId: { attribute: 'data-hash-id' },
  contract: 'form.contract',
  contractId: { attribute: 'data-contract-id' },
  contractName: { attribute: 'data-contract-name' },
  contractCurrent: { attribute: 'data-current' },
  contractSubmit: 'form.contract[data-contract-id="{id}"] button[type="submit"]',
  seat: '#recruiter-seat',
};

/** The professional network as the stand-in plays it, at the given place. */
export function socialSite(access: SiteAccess): Site {
  return {
    ...access,
    domains: [...STAND_IN_DOMAINS],
    csrf: { cookie: 'sn_csrf', header: 'X-Csrf-Token' },
    fileNameHeader: 'X-File-Name',
    pageMark: { selector: 'body', attribute: 'data-page' },
    pages: PAGES,
    paths: PATHS,
    selectors: SELECTORS,
  };
}
