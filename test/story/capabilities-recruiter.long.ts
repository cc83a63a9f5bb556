import t from 'tap';
import { control, faultsSpent } from '../fixture/client.js';
import { SITES } from '../fixture/network.js';
import { onceEach, type Row, socialFixture } from '../fixture/social.js';
import { profileOf } from './expected.js';

for (const site of SITES) {
  t.test(`the recruiter side, from the choice of a contract to candidates, on ${site}`, async (t) => {
    const { client, connection, sandboxUrl, visitor, read } = await socialFixture(t, 'ada-recruits', site);
    const shown = async () => (await client.send('GET', `/v1/connections/${connection}`)).body;
    const search = async (body: Row) =>
      (await visitor.api<{ data: Row[]; paging: Row } & Row>('/api/recruiter/search', body)).body;

    t.match(await client.run(connection, 'social.recruiter.people.search', { keywords: 'engineer' }), {
      status: 'failed',
      error_code: 'recruiter_not_ready',
    });
    t.match(await shown(), { recruiter: { health: 'not_verified' }, state_revision: 1 });
    t.match(await client.run(connection, 'social.recruiter.switch', { contract: 'Southwind' }), {
      status: 'failed',
      error_code: 'provider_not_found',
      error_details: { reason: 'contract_not_found' },
    });
    t.match(await client.run(connection, 'social.recruiter.switch', { contract: 'northwind' }), {
      status: 'failed',
      error_code: 'validation_error',
      error_details: { reason: 'contract_ambiguous' },
    });
    t.match(await shown(), { recruiter: { health: 'not_verified' }, state_revision: 1 }, 'nothing was published');

    const contract = 'Northwind Executive Search';
    t.strictSame(await read('social.recruiter.switch', { contract: 'executive' }), { contract, recruiter_ready: true });
    t.match(await shown(), {
      health: 'ready',
      state_revision: 2,
      recruiter: { health: 'ready', reason: null, contract, verified_session_revision: 2, verified_at: String },
    });
    t.strictSame(await read('social.recruiter.switch'), { contract, recruiter_ready: true }, 'the one in use');
    await visitor.page('/recruiter/contracts', { contract: '4002' });

    await t.test('a switch that is not proven leaves the connection without a contract', async (t) => {
      // The page of contracts, the choice and the page behind it pass; the search that proves it is hit.
      const atProof = async (fault: object) => {
        const common = { account: 'ada-recruits', capability: 'social.recruiter.switch' };
        for (const one of [
          { mode: 'delay', ms: 1, times: 3 },
          { ...fault, times: 1 },
        ]) {
          await control(sandboxUrl, 'POST', '/faults', { ...common, ...one });
        }
      };
      const choose = { contract: 'hiring' };
      const unverified = { recruiter: { health: 'not_verified', reason: 'switch_not_proven', contract: null } };
      const refusedRead = async () =>
        t.match(await client.run(connection, 'social.recruiter.typeahead', { kind: 'skill', keyword: 'a' }), {
          error_code: 'recruiter_not_ready',
        });
      await atProof({ mode: 'error', status: 500 });
      t.match(await client.run(connection, 'social.recruiter.switch', choose), { error_code: 'upstream_error' });
      t.match(await shown(), { health: 'ready', state_revision: 3, ...unverified }, 'although the site works under it');
      await refusedRead();
      t.strictSame(await read('social.recruiter.switch', { contract: 'executive' }), {
        contract,
        recruiter_ready: true,
      });

      await atProof({ mode: 'hang' });
      const canceled = await client.submit(connection, 'social.recruiter.switch', choose);
      await faultsSpent(sandboxUrl);
      await client.send('POST', `/v1/operations/${canceled.body.id}/cancel`);
      t.match(await client.settled(canceled.body.id), { status: 'canceled' });
      t.match(await shown(), { state_revision: 4, ...unverified });
      await refusedRead();
      t.strictSame(await read('social.recruiter.switch', { contract: 'executive' }), {
        contract,
        recruiter_ready: true,
      });
      const wrong = { contract: 'Southwind' };
      t.match(await client.run(connection, 'social.recruiter.switch', wrong), { error_code: 'provider_not_found' });
      t.match(
        await shown(),
        { recruiter: { health: 'ready', contract } },
        'what fails before the choice changes nothing',
      );
    });

    t.test('typeahead of every kind', async (t) => {
      for (const kind of 'company industry job_title location school skill zip'.split(' ')) {
        const q = kind === 'zip' ? '1' : 'a';
        const { data } = await visitor.list<Row>(`/api/recruiter/typeahead?kind=${kind}&q=${q}`);
        t.ok(data.length > 0, kind);
        const items = data.map(({ id, text }) => ({ id, name: text }));
        t.strictSame(await read('social.recruiter.typeahead', { kind, keyword: q }), { kind, items });
      }
    });

    t.test('every candidate once, page by page', async (t) => {
      const all: Row[] = [];
      for (;;) {
        const { data } = await search({ networks: ['F'], start: all.length, count: 50 });
        all.push(...data);
        if (data.length < 50) break;
      }
      const seen: Row[] = [];
      for (;;) {
        const start = seen.length;
        const page = await read<Row>('social.recruiter.people.search', { networks: ['F'], start, count: 50 });
        const candidates = page.candidates as Row[];
        t.strictSame(page.paging, { start, count: candidates.length, total: all.length });
        if (candidates.length === 0) break;
        seen.push(...candidates);
      }
      const of = (row: Row, id: string) => String((row.recruiting as Row)[id]);
      onceEach(
        t,
        seen.map((row) => of(row, 'candidate_id')),
        all.map((row) => of(row, 'candidateId')),
        'candidate',
      );
      t.strictSame(seen, all.map(candidate));
      t.ok(
        seen.some((row) => !('hash_id' in row)),
        'some keep their hash id to themselves',
      );
      const theirs = await search({ keywords: 'engineer', count: 3 });
      const { candidates, ...rest } = await read<Row>('social.recruiter.people.search', {
        keywords: 'engineer',
        count: 3,
      });
      t.strictSame(candidates, theirs.data.map(candidate));
      t.strictSame(rest, {
        paging: { start: 0, count: 3, total: theirs.paging.total },
        total: theirs.paging.total,
        formatted_total: theirs.formattedTotal,
        facets: (theirs.facets as { name: string; values: Row[] }[]).map(({ name, values }) => ({
          name,
          values: values.map(({ text, count }) => ({ value: text, count })),
        })),
        query_summary: theirs.querySummary,
        highlight_terms: theirs.highlightTerms,
      });
    });

    t.test('candidates by each filter', async (t) => {
      const id = async (kind: string, q: string) =>
        (await visitor.list<Row>(`/api/recruiter/typeahead?kind=${kind}&q=${q}`)).data[0]?.id;
      const [title, company, place, skill, school, industry] = await Promise.all(
        [
          ['job_title', 'engineer'],
          ['company', 'a'],
          ['location', 'berlin'],
          ['skill', 'a'],
          ['school', 'a'],
          ['industry', 'a'],
        ].map(([kind = '', q = '']) => id(kind, q)),
      );
      const zip = (await visitor.list<Row>('/api/recruiter/typeahead?kind=zip&q=1')).data[0]?.id;
      const lists: [input: Row, body: Row][] = [
        [{ titles: ['engineer'] }, { titles: [{ id: title }] }],
        [
          {
            titles: [
              { name: 'x', title_id: Number(title), filter_type: 'doesnt_have', time_scope: 'past_not_current' },
            ],
          },
          { titles: [{ id: title, filter: 'DOESNT_HAVE', scope: 'PAST_NOT_CURRENT' }] },
        ],
        [
          { companies: [{ name: 'a', filter_type: 'must_have', time_scope: 'current' }] },
          { companies: [{ id: company, filter: 'MUST_HAVE', scope: 'CURRENT' }] },
        ],
        [
          { locations: [{ name: 'berlin', geo_scope: 'current_or_preferred' }], distance: 25 },
          { locations: [{ id: place, scope: 'CURRENT_OR_PREFERRED' }], distance: 25 },
        ],
        [{ skills: ['a'] }, { skills: [{ id: skill }] }],
        [{ schools: ['a'] }, { schools: [{ id: school }] }],
        [
          { industries: [{ name: 'a', filter_type: 'can_have' }] },
          { industries: [{ id: industry, filter: 'CAN_HAVE' }] },
        ],
        [{ current_companies: ['a'] }, { currentCompanies: [{ id: company }] }],
        [{ past_companies: ['a'] }, { pastCompanies: [{ id: company }] }],
        [{ first_names: ['Ada', 'Maria'] }, { firstNames: ['Ada', 'Maria'] }],
        [{ last_names: ['Silva'] }, { lastNames: ['Silva'] }],
        [{ zip_codes: [zip] }, { zipCodes: [zip] }],
        [{ company_sizes: ['D', 'E'] }, { companySizes: ['D', 'E'] }],
        [{ job_functions: [8, '9'] }, { jobFunctions: [8, 9] }],
        [{ seniorities: ['4', 10] }, { seniorities: [4, 10] }],
        [{ networks: ['S'] }, { networks: ['S'] }],
        [{ profile_languages: ['de', 'fr'] }, { profileLanguages: ['de', 'fr'] }],
        [{ recently_joined: 2 }, { recentlyJoined: 2 }],
        [{ graduation_years: { min: 2010, max: 2012 } }, { graduationYear: { min: 2010, max: 2012 } }],
        [{ yoe: { min: 20 } }, { yearsOfExperience: { min: 20 } }],
        [{ is_veteran: true }, { veteran: true }],
        [{ keywords: 'berlin', networks: [] }, { keywords: 'berlin' }],
      ];
      for (const [input, body] of lists) {
        const theirs = await search({ ...body, count: 4 });
        const { candidates, total } = await read<Row>('social.recruiter.people.search', { ...input, count: 4 });
        t.strictSame([candidates, total], [theirs.data.map(candidate), theirs.paging.total], Object.keys(input).join());
      }
      t.match(await read('social.recruiter.people.search', { keywords: 'zzzz' }), { candidates: [], total: 0 });
      for (const [input, path] of [
        [{ titles: [{ name: 'engineer', time_scope: 'sometimes' }] }, 'input.titles[0]'],
        [{ company_sizes: ['Z'] }, 'input.company_sizes[0]'],
        [{ distance: 3 }, 'input.distance'],
        [{ skills: ['Zzzz'] }, 'input.skills[0]'],
      ] as const) {
        const refused = await client.run(connection, 'social.recruiter.people.search', input);
        t.match(refused, { status: 'failed', error_code: 'validation_error' }, path);
        t.match(JSON.stringify(refused.error_details), path);
      }
    });

    t.test('a new login ends the contract', async (t) => {
      await read('social.login', { reconnect: true });
      t.match(await shown(), { health: 'ready', recruiter: { health: 'not_verified' } });
      t.match(await client.run(connection, 'social.recruiter.typeahead', { kind: 'skill', keyword: 'a' }), {
        status: 'failed',
        error_code: 'recruiter_not_ready',
      });
    });

    t.test('a challenge of the switch is passed on; without a seat there is none', async (t) => {
      const asked = await client.connect({
        provider: 'social',
        username: 'grace+switch-sms',
        password: 'sandbox',
        region: 'us',
      });
      t.match(await client.run(asked, 'social.login'), { status: 'succeeded' });
      const switching = await client.submit(asked, 'social.recruiter.switch', { contract: '4001' });
      let waiting = await client.settled(switching.body.id);
      for (const code of ['111111', '000000']) {
        t.match(waiting, { status: 'waiting_user', challenge: { kind: 'sms', accepts_code: true } });
        const challenge_id = waiting.challenge?.id ?? '';
        await client.send('POST', `/v1/operations/${waiting.id}/challenge`, { challenge_id, code });
        waiting = await client.answered(waiting.id, challenge_id);
      }
      t.match(waiting, { status: 'succeeded', result: { contract: 'Northwind Hiring', state_revision: 2 } });
      t.match(await client.run(asked, 'social.recruiter.people.search', { networks: ['F'] }), { status: 'succeeded' });

      const seatless = await client.connect({
        provider: 'social',
        username: 'alan+norecruiter',
        password: 'sandbox',
        region: 'us',
      });
      await client.run(seatless, 'social.login');
      t.match(await client.run(seatless, 'social.recruiter.switch'), {
        status: 'failed',
        error_code: 'recruiter_not_ready',
        error_details: { reason: 'no_seat' },
      });
      const { body } = await client.send('GET', `/v1/connections/${seatless}`);
      t.match(body, { health: 'ready', state_revision: 1, recruiter: { health: 'not_verified', reason: 'no_seat' } });
    });
  });
}

function candidate(theirs: Row): Row {
  const { candidateId, openToWork, yearsOfExperience } = theirs.recruiting as Row;
  return {
    source: 'recruiter',
    ...(theirs.hashId !== null && { hash_id: theirs.hashId }),
    ...profileOf(theirs),
    email: null,
    address: null,
    phone_numbers: [],
    recruiting: { candidate_id: candidateId, open_to_work: openToWork, years_of_experience: yearsOfExperience },
  };
}
