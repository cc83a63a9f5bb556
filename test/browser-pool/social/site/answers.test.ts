import t from 'tap';
import * as answers from '../../../../browser-pool/social/site/answers.js';
import * as directory from '../../../../browser-pool/social/site/directory-answers.js';
import type { EndpointName } from '../../../../browser-pool/social/site/endpoints.js';
import { fromSite, toSite } from '../../../../browser-pool/social/site/names.js';
import * as search from '../../../../browser-pool/social/site/search-answers.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { guildSite } from '../../../fixture/guild.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const HASH = `ACoAA${'x'.repeat(34)}`;
const PROFILE = {
  hashId: HASH,
  publicId: 'ada',
  memberId: '7',
  firstName: 'Ada',
  lastName: 'Lovelace',
  headline: 'Analyst',
  pictureUrl: null,
  industry: 'Software',
  location: 'London',
  about: null,
  profileUrl: 'https://www.social.test/in/ada',
  distance: 'F',
  connectedAt: 1735689600000,
  pendingInvitation: false,
  contact: { email: null, address: null, phoneNumbers: ['+49 30 1'] },
  experience: [
    {
      title: 'Analyst',
      company: 'Engines',
      location: 'London',
      description: null,
      startedOn: { year: 2021, month: 4 },
      endedOn: null,
    },
  ],
  education: [{ school: 'Home', degree: null, fieldOfStudy: null, startYear: 2010, endYear: 2014 }],
};

/** One answer of each kind with nothing in it that nobody reads. */
const FAMILIAR: [endpoint: EndpointName, is: (answer: unknown) => boolean, answer: Json & object][] = [
  ['profile', directory.isProfile, { data: PROFILE }],
  [
    'connections',
    directory.isConnections,
    {
      data: [
        {
          hashId: HASH,
          publicId: 'ada',
          firstName: 'Ada',
          lastName: 'L',
          headline: 'A',
          pictureUrl: null,
          connectedAt: 1735689600000,
        },
      ],
      paging: { start: 0 },
    },
  ],
  [
    'companies',
    directory.isCompany,
    {
      data: {
        companyId: '1',
        publicId: 'engines',
        name: 'Engines',
        tagline: null,
        description: 'We',
        url: 'https://www.social.test/company/engines',
        websiteUrl: null,
        phone: null,
        employeeCount: 3,
        employeeCountRange: { start: 1, end: 10 },
        foundedYear: 1850,
        industries: ['Software'],
        specialties: ['Gears'],
        logoUrl: null,
        coverImageUrl: null,
        headquarter: { city: 'London', country: 'UK' },
        locations: [{ city: 'London', country: 'UK' }],
      },
    },
  ],
  [
    'sentInvitations',
    directory.isSentInvitations,
    {
      data: [
        {
          invitationId: '1',
          sentAt: 1735689600000,
          message: null,
          recipient: { hashId: HASH, publicId: 'ada', firstName: 'Ada', lastName: 'L', headline: null },
        },
      ],
      paging: { start: 0, nextStart: 10, total: null },
    },
  ],
  ['typeahead', search.isTypeahead, { data: [{ id: '1', kind: 'skill', text: 'Gears' }] }],
  [
    'jobSearch',
    search.isJobs,
    {
      data: [
        {
          jobId: '1',
          title: 'Analyst',
          url: 'https://www.social.test/jobs/view/1',
          companyName: 'Engines',
          location: 'London',
          insight: null,
          easyApply: true,
          repostedAt: null,
        },
      ],
      paging: { start: 0 },
    },
  ],
  [
    'job',
    search.isJob,
    {
      data: {
        jobId: '1',
        location: 'London',
        listedAt: 1735689600000,
        company: { companyId: '1', publicId: 'engines', name: 'Engines' },
        description: 'We',
        posting: { jobType: 'F', experience: 4, workplaceType: 2 },
        application: { url: null, applicants: 3 },
      },
    },
  ],
  [
    'recruiterSearch',
    search.isCandidates,
    {
      data: [
        {
          ...PROFILE,
          hashId: null,
          publicId: null,
          profileUrl: null,
          recruiting: { candidateId: '1', openToWork: false, yearsOfExperience: 9 },
        },
      ],
      paging: { start: 0, count: 1, total: 1 },
      formattedTotal: '1',
      facets: [{ name: 'networks', values: [{ id: 'F', text: '1st', count: 1 }] }],
      querySummary: 'all',
      highlightTerms: ['a'],
    },
  ],
  [
    'conversationWith',
    answers.isConversationWith,
    { data: { id: '2-x', participants: [{ hashId: HASH }], unreadCount: 0, lastActivityAt: 1735689600000 } },
  ],
  ['attachments', answers.isUpload, { data: { urn: 'urn:social:attachment:at-1', size: 3 } }],
  ['invitations', answers.isInvited, { data: { code: 'INVITATION_SENT', message: 'On its way', invitationId: '1' } }],
];

const SITES = [socialSite({ origin: 'https://www.social.test' }), guildSite({})];

/** What no answer may lack: without it there is nothing to go on with. All else is null where the site has none (CONN-18). */
const NEEDED: Partial<Record<EndpointName, string[]>> = {
  connections: ['paging', 'paging.start'],
  sentInvitations: ['data.0.invitationId', 'paging', 'paging.start'],
  typeahead: ['data.0.id', 'data.0.kind', 'data.0.text'],
  jobSearch: ['data.0.jobId', 'paging', 'paging.start'],
  job: ['data.jobId'],
  recruiterSearch: [
    ...['paging', 'paging.start', 'paging.count', 'paging.total', 'formattedTotal', 'facets', 'facets.0.name'],
    ...['facets.0.values', 'facets.0.values.0.id', 'facets.0.values.0.text', 'facets.0.values.0.count'],
    ...['querySummary', 'highlightTerms'],
  ],
  conversationWith: ['data.id'],
  attachments: ['data.urn', 'data.size'],
  invitations: ['data.code', 'data.message'],
};

for (const { origin, endpoints } of SITES) {
  t.test(`an answer of ${origin} may lack what a row may lack, and nothing else`, async (t) => {
    for (const [endpoint, is, answer] of FAMILIAR) {
      const names = endpoints[endpoint].answer;
      const understood = (said: unknown) => is(fromSite(said, names));
      t.ok(understood(toSite(answer, names)), `${endpoint} is familiar`);
      const needed = without(answer).filter(([, changed]) => !understood(toSite(changed as object, names)));
      const wanted = ['data', ...(NEEDED[endpoint] ?? [])];
      t.strictSame(needed.map(([where]) => where).sort(), wanted.sort(), `${endpoint}: what it needs`);
      for (const strange of [null, [], {}, 'page', { elements: '[]', v: 2 }, { data: '[]' }, { result: '[]' }]) {
        t.notOk(understood(strange), endpoint);
      }
      t.notOk(understood(toSite({ ...answer, data: { strange: 1 } }, names)), `${endpoint}: strange data`);
      for (const other of SITES) {
        if (other.origin !== origin)
          t.notOk(understood(toSite(answer, other.endpoints[endpoint].answer)), 'of another site');
      }
    }
  });
}

t.test('times in other units, numbers in other types and words of no kind are not understood', async (t) => {
  const row = { urn: 'urn:1', body: 'x', senderHashId: HASH, deliveredAt: 1735689600000, renderContent: [] };
  const answer = (changed: object) => ({ data: [{ ...row, ...changed }], paging: { nextCursor: null } });
  t.ok(answers.isMessages(answer({})));
  for (const deliveredAt of [1735689600, 1735689600000000, '1735689600000', -1, 1.5, 9e15, true])
    t.notOk(answers.isMessages(answer({ deliveredAt })), String(deliveredAt));
  t.notOk(directory.isProfile({ data: { ...PROFILE, distance: false } }));
  t.notOk(directory.isProfile({ data: { ...PROFILE, education: [{ startYear: 21, school: 'x' }] } }));
});

/** Every way to leave one field out. */
function without(value: Json): [where: string, changed: Json][] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  const inner = entries.flatMap(([key, field]) =>
    without(field).map(([where, changed]): [string, Json] => [`${key}.${where}`, replaced(value, key, changed)]),
  );
  if (Array.isArray(value)) return inner;
  const left = entries.map(([key]): [string, Json] => {
    const { [key]: _, ...rest } = value;
    return [key, rest];
  });
  return [...left, ...inner];
}

function replaced(value: Json[] | { [key: string]: Json }, key: string, by: Json): Json {
  return Array.isArray(value) ? value.with(Number(key), by) : { ...value, [key]: by };
}
