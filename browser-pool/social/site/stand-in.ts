import type { GeoScope, TimeScope } from '../../contract/recruiter.js';
import type { SiteStream } from './activities.js';
import type { ConversationAnswer, ConversationsAnswer } from './answers.js';
import type { ProfileFields } from './directory-answers.js';
import type { Criterion, Keyword, Scoped, SiteEndpoints } from './endpoints.js';
import type { Names } from './names.js';
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
  checkpoint: '/checkpoint',
  recruiterContracts: '/recruiter/contracts',
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
  contractCurrent: { attribute: 'data-current', value: 'true' },
  contractSubmit: 'form.contract[data-contract-id="{id}"] button[type="submit"]',
  seat: '#recruiter-seat',
  seatContractId: { attribute: 'data-contract-id' },
};

const REFUSAL_CODES: Site['refusalCodes'] = {
  badRequest: { status: 400, code: 'bad_request' },
  accountRestricted: { status: 403, code: 'account_restricted' },
  selfTarget: { status: 422, code: 'self_target' },
  recruiterUnavailable: { status: 403, code: 'recruiter_unavailable' },
  recruiterContractRequired: { status: 403, code: 'recruiter_contract_required' },
  invalidFilter: { status: 422, code: 'invalid_filter' },
};

const DISTANCE: Names<ProfileFields>['distance'] = ['distance', { SELF: 'SELF', F: 'F', S: 'S', O: 'O' }];

const PROFILE: Names<ProfileFields> = {
  hashId: 'hashId',
  publicId: 'publicId',
  memberId: 'memberId',
  firstName: 'firstName',
  lastName: 'lastName',
  headline: 'headline',
  pictureUrl: 'pictureUrl',
  industry: 'industry',
  location: 'location',
  about: 'about',
  profileUrl: 'profileUrl',
  distance: DISTANCE,
  connectedAt: 'connectedAt',
  pendingInvitation: 'pendingInvitation',
  contact: ['contact', { email: 'email', address: 'address', phoneNumbers: 'phoneNumbers' }],
  experience: [
    'experience',
    {
      title: 'title',
      company: 'company',
      location: 'location',
      description: 'description',
      startedOn: ['startedOn', { year: 'year', month: 'month' }],
      endedOn: ['endedOn', { year: 'year', month: 'month' }],
    },
  ],
  education: [
    'education',
    {
      school: 'school',
      degree: 'degree',
      fieldOfStudy: 'fieldOfStudy',
      startYear: 'startYear',
      endYear: 'endYear',
    },
  ],
};

const SUGGESTION_KIND: Names<Keyword>['kind'] = [
  'kind',
  {
    company: 'company',
    job_function: 'job_function',
    industry: 'industry',
    location: 'location',
    people: 'people',
    school: 'school',
    skill: 'skill',
    job_title: 'job_title',
    service_category: 'service_category',
    zip: 'zip',
  },
];

const TYPEAHEAD: Omit<SiteEndpoints['typeahead'], 'path'> = {
  parameters: { kind: SUGGESTION_KIND, keyword: 'q' },
  answer: { data: ['data', { id: 'id', kind: SUGGESTION_KIND, text: 'text' }] },
};

const CONVERSATION: Names<ConversationAnswer> = {
  id: 'id',
  participants: ['participants', { hashId: 'hashId' }],
  unreadCount: 'unreadCount',
  lastActivityAt: 'lastActivityAt',
};

const CONVERSATIONS: Names<ConversationsAnswer> = {
  data: ['data', CONVERSATION],
  paging: ['paging', { nextCursor: 'nextCursor' }],
};

const FILTER: Names<Criterion>['filter'] = [
  'filter',
  { can_have: 'CAN_HAVE', must_have: 'MUST_HAVE', doesnt_have: 'DOESNT_HAVE' },
];

const TIMED: Names<Scoped<TimeScope>> = {
  id: 'id',
  filter: FILTER,
  scope: [
    'scope',
    {
      current_or_past: 'CURRENT_OR_PAST',
      current: 'CURRENT',
      past: 'PAST',
      past_not_current: 'PAST_NOT_CURRENT',
    },
  ],
};

const PLACED: Names<Scoped<GeoScope>> = {
  id: 'id',
  filter: FILTER,
  scope: [
    'scope',
    {
      current: 'CURRENT',
      preferred_not_current: 'PREFERRED_NOT_CURRENT',
      current_or_preferred: 'CURRENT_OR_PREFERRED',
    },
  ],
};

const LISTED: Names<Criterion> = { id: 'id', filter: FILTER };

const ENDPOINTS: SiteEndpoints = {
  me: {
    path: '/api/me',
    parameters: {},
    answer: {
      data: [
        'data',
        {
          hashId: 'hashId',
          publicId: 'publicId',
          memberId: 'memberId',
          firstName: 'firstName',
          lastName: 'lastName',
          headline: 'headline',
          pictureUrl: 'pictureUrl',
        },
      ],
    },
  },
  resolve: {
    path: '/api/members/resolve',
    parameters: { publicIds: 'publicIds' },
    answer: { data: ['data', { publicId: 'publicId', hashId: 'hashId' }], missing: 'missing' },
  },
  profile: { path: '/api/profiles/{id}', parameters: {}, answer: { data: ['data', PROFILE] } },
  companies: {
    path: '/api/companies',
    parameters: { publicId: 'publicId', companyId: 'companyId', name: 'name' },
    answer: {
      data: [
        'data',
        {
          companyId: 'companyId',
          publicId: 'publicId',
          name: 'name',
          tagline: 'tagline',
          description: 'description',
          url: 'url',
          websiteUrl: 'websiteUrl',
          phone: 'phone',
          employeeCount: 'employeeCount',
          employeeCountRange: ['employeeCountRange', { start: 'start', end: 'end' }],
          foundedYear: 'foundedYear',
          industries: 'industries',
          specialties: 'specialties',
          logoUrl: 'logoUrl',
          coverImageUrl: 'coverImageUrl',
          headquarter: ['headquarter', { city: 'city', country: 'country' }],
          locations: ['locations', { city: 'city', country: 'country' }],
        },
      ],
    },
  },
  connections: {
    path: '/api/connections',
    parameters: { start: 'start', count: 'count' },
    answer: {
      data: [
        'data',
        {
          hashId: 'hashId',
          publicId: 'publicId',
          firstName: 'firstName',
          lastName: 'lastName',
          headline: 'headline',
          pictureUrl: 'pictureUrl',
          connectedAt: 'connectedAt',
        },
      ],
      paging: ['paging', { start: 'start' }],
    },
  },
  invitations: {
    path: '/api/invitations',
    parameters: { recipientHashId: 'recipientHashId', message: 'message' },
    answer: { data: ['data', { code: 'code', message: 'message', invitationId: 'invitationId' }] },
  },
  sentInvitations: {
    path: '/api/invitations/sent',
    parameters: { start: 'start', includeTotal: 'includeTotal' },
    answer: {
      data: [
        'data',
        {
          invitationId: 'invitationId',
          sentAt: 'sentAt',
          message: 'message',
          recipient: [
            'recipient',
            {
              hashId: 'hashId',
              publicId: 'publicId',
              firstName: 'firstName',
              lastName: 'lastName',
              headline: 'headline',
            },
          ],
        },
      ],
      paging: ['paging', { start: 'start', nextStart: 'nextStart', total: 'total' }],
    },
  },
  typeahead: { path: '/api/typeahead', ...TYPEAHEAD },
  peopleSearch: {
    path: '/api/search/people',
    parameters: {
      keywords: 'keywords',
      start: 'start',
      count: 'count',
      location_id: 'locationId',
      current_company_id: 'currentCompanyId',
      past_company_id: 'pastCompanyId',
      industry_id: 'industryId',
      network: 'network',
      connection_of: 'connectionOf',
      follower_of: 'followerOf',
      profile_language: 'profileLanguage',
      school_id: 'schoolId',
      service_category_id: 'serviceCategoryId',
      first_name: 'firstName',
      last_name: 'lastName',
      title: 'title',
      company: 'company',
      school: 'school',
      open_to_volunteer: 'openToVolunteer',
    },
    answer: {
      data: [
        'data',
        {
          memberId: 'memberId',
          hashId: 'hashId',
          publicId: 'publicId',
          distance: DISTANCE,
          name: 'name',
          headline: 'headline',
          summary: 'summary',
          location: 'location',
          profileUrl: 'profileUrl',
          insights: 'insights',
          badgeHoverText: 'badgeHoverText',
        },
      ],
      paging: ['paging', { start: 'start' }],
    },
  },
  jobSearch: {
    path: '/api/search/jobs',
    parameters: {
      keywords: 'keywords',
      start: 'start',
      count: 'count',
      decorationId: 'decorationId',
      location_id: 'locationId',
      company_id: 'companyId',
      time_posted_range: 'timePosted',
      job_type: 'jobType',
      sort_by: 'sortBy',
      commitment: 'commitment',
      distance: 'distance',
      experience_level: 'experience',
      function_id: 'functionId',
      industry_id: 'industryId',
      populated_place_geo_id: 'populatedPlaceId',
      salary_bucket: 'salaryBucket',
      title_id: 'titleId',
      workplace_type: 'workplaceType',
      apply_with_linkedin: 'easyApply',
      early_applicant: 'earlyApplicant',
      in_your_network: 'inYourNetwork',
    },
    answer: {
      data: [
        'data',
        {
          jobId: 'jobId',
          title: 'title',
          url: 'url',
          companyName: 'companyName',
          location: 'location',
          insight: 'insight',
          easyApply: 'easyApply',
          repostedAt: 'repostedAt',
        },
      ],
      paging: ['paging', { start: 'start' }],
    },
  },
  job: {
    path: '/api/jobs/{id}',
    parameters: {},
    answer: {
      data: [
        'data',
        {
          jobId: 'jobId',
          location: 'location',
          listedAt: 'listedAt',
          company: ['company', { companyId: 'companyId', publicId: 'publicId', name: 'name' }],
          description: 'description',
          posting: ['posting', { jobType: 'jobType', experience: 'experience', workplaceType: 'workplaceType' }],
          application: ['application', { url: 'url', applicants: 'applicants' }],
        },
      ],
    },
  },
  recruiterTypeahead: { path: '/api/recruiter/typeahead', ...TYPEAHEAD },
  recruiterSearch: {
    path: '/api/recruiter/search',
    parameters: {
      start: 'start',
      count: 'count',
      keywords: 'keywords',
      titles: ['titles', TIMED],
      companies: ['companies', TIMED],
      locations: ['locations', PLACED],
      skills: ['skills', LISTED],
      schools: ['schools', LISTED],
      industries: ['industries', LISTED],
      currentCompanies: ['currentCompanies', LISTED],
      pastCompanies: ['pastCompanies', LISTED],
      firstNames: 'firstNames',
      lastNames: 'lastNames',
      zipCodes: 'zipCodes',
      companySizes: ['companySizes', { A: 'A', B: 'B', C: 'C', D: 'D', E: 'E', F: 'F', G: 'G', H: 'H', I: 'I' }],
      jobFunctions: 'jobFunctions',
      seniorities: 'seniorities',
      networks: ['networks', { F: 'F', S: 'S', A: 'A', O: 'O' }],
      profileLanguages: 'profileLanguages',
      recentlyJoined: 'recentlyJoined',
      graduationYear: ['graduationYear', { min: 'min', max: 'max' }],
      yearsOfExperience: ['yearsOfExperience', { min: 'min', max: 'max' }],
      veteran: 'veteran',
      distance: 'distance',
    },
    answer: {
      data: [
        'data',
        {
          ...PROFILE,
          recruiting: [
            'recruiting',
            { candidateId: 'candidateId', openToWork: 'openToWork', yearsOfExperience: 'yearsOfExperience' },
          ],
        },
      ],
      paging: ['paging', { start: 'start', count: 'count', total: 'total' }],
      formattedTotal: 'formattedTotal',
      facets: ['facets', { name: 'name', values: ['values', { id: 'id', text: 'text', count: 'count' }] }],
      querySummary: 'querySummary',
      highlightTerms: 'highlightTerms',
    },
  },
  conversations: {
    path: '/api/conversations',
    parameters: {
      category: [
        'category',
        {
          PRIMARY_INBOX: 'PRIMARY_INBOX',
          SECONDARY_INBOX: 'SECONDARY_INBOX',
          INMAIL: 'INMAIL',
          ARCHIVE: 'ARCHIVE',
          SPAM: 'SPAM',
        },
      ],
      count: 'count',
      cursor: 'cursor',
      lastActivityBefore: 'lastActivityBefore',
    },
    answer: CONVERSATIONS,
  },
  conversationSearch: {
    path: '/api/conversations/search',
    parameters: {
      keywords: 'keywords',
      categories: ['categories', { INBOX: 'INBOX', SPAM: 'SPAM', ARCHIVE: 'ARCHIVE', INMAIL: 'INMAIL' }],
      firstDegree: 'firstDegree',
      count: 'count',
      cursor: 'cursor',
    },
    answer: CONVERSATIONS,
  },
  conversationMessages: {
    path: '/api/conversations/{id}/messages',
    parameters: { count: 'count', cursor: 'cursor', deliveredBefore: 'deliveredBefore' },
    answer: {
      data: [
        'data',
        {
          urn: 'urn',
          body: 'body',
          senderHashId: 'senderHashId',
          deliveredAt: 'deliveredAt',
          renderContent: 'renderContent',
        },
      ],
      paging: ['paging', { nextCursor: 'nextCursor' }],
    },
  },
  conversationWith: {
    path: '/api/conversations/with/{id}',
    parameters: {},
    answer: { data: ['data', CONVERSATION] },
  },
  messages: {
    path: '/api/messages',
    parameters: {
      conversationId: 'conversationId',
      recipientHashId: 'recipientHashId',
      body: 'body',
      renderContent: 'renderContent',
      attachments: 'attachments',
    },
    answer: { data: ['data', { urn: 'urn', conversationId: 'conversationId', deliveredAt: 'deliveredAt' }] },
  },
  attachments: {
    path: '/api/attachments',
    parameters: {},
    answer: { data: ['data', { urn: 'urn', size: 'size' }] },
  },
};

const MESSAGE: SiteStream['activities']['message_received']['payload'] = {
  conversationId: 'conversationId',
  messageUrn: 'messageUrn',
  senderHashId: 'senderHashId',
  senderName: 'senderName',
  recipientHashIds: 'recipientHashIds',
  body: 'body',
  deliveredAt: 'deliveredAt',
  renderContent: 'renderContent',
};

const STREAM: SiteStream = {
  path: '/realtime',
  frames: { connected: 'connected', heartbeat: 'heartbeat', goodbye: 'goodbye', activity: 'activity' },
  goodbye: { reason: 'reason' },
  activity: { id: 'id', type: 'type', payload: 'payload' },
  activities: {
    message_received: { type: 'message_received', payload: MESSAGE },
    message_sent: { type: 'message_sent', payload: MESSAGE },
    sponsored_inmail_received: {
      type: 'sponsored_inmail_received',
      payload: {
        conversationId: 'conversationId',
        messageUrn: 'messageUrn',
        sponsor: 'sponsor',
        subject: 'subject',
        body: 'body',
        deliveredAt: 'deliveredAt',
      },
    },
    custom_connection_request_accepted: {
      type: 'custom_connection_request_accepted',
      payload: { hashId: 'hashId', publicId: 'publicId', name: 'name', acceptedAt: 'acceptedAt' },
    },
  },
};

/** The professional network as the stand-in plays it, at the given place. */
export function socialSite(access: SiteAccess): Site {
  return {
    ...access,
    domains: [...STAND_IN_DOMAINS],
    refusals: [400, 401, 403, 404, 409, 413, 422, 429],
    refusal: { error: ['error', { code: 'code' }] },
    refusalCodes: REFUSAL_CODES,
    invitationSkips: { already_connected: 'ALREADY_CONNECTED', invitation_pending: 'INVITATION_PENDING' },
    csrf: { cookie: 'sn_csrf', header: 'X-Csrf-Token' },
    fileNameHeader: 'X-File-Name',
    messageFile: { attachment: ['attachment', { name: 'name', size: 'size' }] },
    pageMark: { selector: 'body', attribute: 'data-page' },
    pages: PAGES,
    paths: PATHS,
    selectors: SELECTORS,
    challenges: {
      email: 'email',
      sms: 'sms',
      authenticator: 'authenticator',
      approval: 'approval',
      captcha: 'captcha',
    },
    endpoints: ENDPOINTS,
    singleFacets: { people: ['connection_of', 'follower_of'], jobs: [] },
    stream: STREAM,
  };
}
