import t from 'tap';
import { SITES } from '../fixture/network.js';
import { iso, onceEach, type Row, socialFixture } from '../fixture/social.js';
import { ids, STEPS } from './expected.js';

for (const site of SITES) {
  t.test(`searches find what the network finds, by every filter, on ${site}`, async (t) => {
    const { client, connection, visitor, read } = await socialFixture(t, 'ada-searches', site);
    const suggest = async (kind: string, q: string) =>
      (await visitor.list<Row>(`/api/typeahead?kind=${kind}&q=${encodeURIComponent(q)}`)).data;
    const first = async (kind: string, q: string) => (await suggest(kind, q))[0] as Row;

    t.test('typeahead of every kind', async (t) => {
      for (const kind of 'company job_function industry location people school skill job_title'.split(' ')) {
        const items = (await suggest(kind, 'a')).map(({ id, text }) => ({ id, name: text }));
        t.ok(items.length > 0, kind);
        t.strictSame(await read('social.typeahead', { kind, keyword: 'a' }), { kind, items });
      }
      t.strictSame(await read('social.typeahead', { kind: 'skill', keyword: 'zzz' }), { kind: 'skill', items: [] });
    });

    t.test('every person once, page by page', async (t) => {
      const all: Row[] = [];
      for (;;) {
        const { data } = await visitor.list<Row>(`/api/search/people?network=F&count=50&start=${all.length}`);
        if (data.length === 0) break;
        all.push(...data);
      }
      const seen: Row[] = [];
      for (;;) {
        const start = seen.length;
        const page = await read<Row>('social.people.search', { filters: { network: 'F' }, count: 50, start });
        t.equal(page.start, start);
        if ((page.people as Row[]).length === 0) break;
        seen.push(...(page.people as Row[]));
      }
      onceEach(t, ids(seen, 'hash_id'), ids(all, 'hashId'), 'person');
      t.strictSame(seen, all.map(person));
    });

    t.test('people by each filter, by id and by name', async (t) => {
      const place = await first('location', 'berlin');
      const company = await first('company', 'a');
      const industry = await first('industry', 'a');
      const school = await first('school', 'a');
      const service = await first('service_category', 'a');
      const somebody = (await visitor.list<Row>('/api/connections?count=1')).data[0] as Row;
      const named = await first('people', `${somebody.firstName} ${somebody.lastName}`);
      const lists: [filters: Row, query: Row][] = [
        [{ location_id: place.id }, { locationId: place.id }],
        [{ location_name: 'berlin' }, { locationId: place.id }],
        [{ current_company_id: company.id }, { currentCompanyId: company.id }],
        [{ current_company_name: company.text }, { currentCompanyId: company.id }],
        [{ past_company_id: company.id }, { pastCompanyId: company.id }],
        [{ past_company_name: company.text }, { pastCompanyId: company.id }],
        [{ industry_id: industry.id }, { industryId: industry.id }],
        [{ industry_name: industry.text }, { industryId: industry.id }],
        [{ school_id: school.id }, { schoolId: school.id }],
        [{ school_name: school.text }, { schoolId: school.id }],
        [{ service_category_id: service.id }, { serviceCategoryId: service.id }],
        [{ service_category_name: service.text }, { serviceCategoryId: service.id }],
        [{ network: 'S,O' }, { network: 'S,O' }],
        [{ connection_of: somebody.hashId }, { connectionOf: somebody.hashId }],
        [{ connection_of_name: named.text }, { connectionOf: named.id }],
        [{ follower_of: somebody.hashId }, { followerOf: somebody.hashId }],
        [{ follower_of_name: named.text }, { followerOf: named.id }],
        [{ profile_language: 'de' }, { profileLanguage: 'de' }],
        [{ first_name: somebody.firstName }, { firstName: somebody.firstName }],
        [{ last_name: somebody.lastName }, { lastName: somebody.lastName }],
        [{ title: 'engineer' }, { title: 'engineer' }],
        [{ company: company.text }, { company: company.text }],
        [{ school: school.text }, { school: school.text }],
        [
          { open_to_volunteer: true, network: 'F' },
          { openToVolunteer: 'true', network: 'F' },
        ],
      ];
      for (const [filters, query] of lists) {
        const { data } = await visitor.list<Row>(`/api/search/people?${asked(query)}&count=10`);
        const { people } = await read<Row>('social.people.search', { filters });
        t.strictSame(people, data.map(person), Object.keys(filters).join());
        t.ok(data.length > 0, 'somebody');
      }
      const both = { location_id: (await first('location', 'paris')).id, location_name: 'berlin' };
      const { data } = await visitor.list<Row>(
        `/api/search/people?locationId=${both.location_id},${place.id}&count=10`,
      );
      const { people } = await read<Row>('social.people.search', { filters: both });
      t.strictSame(people, data.map(person), 'an id and a name: either fits');
      const twice = { connection_of: somebody.hashId, connection_of_name: named.text };
      t.match(await client.run(connection, 'social.people.search', { filters: twice }), {
        status: 'failed',
        error_code: 'validation_error',
        error_details: { reason: 'filter_given_twice' },
      });
      const unknown = await client.run(connection, 'social.people.search', { filters: { location_name: 'Atlantis' } });
      t.match(unknown, {
        status: 'failed',
        error_code: 'validation_error',
        error_details: { reason: 'name_not_found', errors: [{ path: 'input.filters.location_name' }] },
      });
      t.match(await client.run(connection, 'social.people.search', { filters: { network: 'X' } }), {
        status: 'failed',
        error_code: 'validation_error',
      });
      t.strictSame(await read('social.people.search', { keywords: 'zzzz' }), { people: [], start: 0 });
    });

    t.test('every job once, with details as far as they are asked for', async (t) => {
      const all: Row[] = [];
      for (;;) {
        const { data } = await visitor.list<Row>(`/api/search/jobs?keywords=engineer&count=50&start=${all.length}`);
        all.push(...data);
        if (data.length < 50) break;
      }
      const seen: Row[] = [];
      for (;;) {
        const page = await read<Row>('social.jobs.search', { keywords: 'engineer', count: 50, start: seen.length });
        if ((page.jobs as Row[]).length === 0) break;
        seen.push(...(page.jobs as Row[]));
      }
      onceEach(t, ids(seen, 'job_id'), ids(all, 'jobId'), 'job');
      t.strictSame(seen, all.map(job));

      const detailed = await read<{ jobs: Row[] }>('social.jobs.search', {
        keywords: 'engineer',
        count: 25,
        job_details_count: 20,
        job_posting_detail_description_start: 2,
        job_posting_detail_description_count: 3,
      });
      let gone = 0;
      for (const [place, row] of detailed.jobs.entries()) {
        const { status, body } = await visitor.api<{ data: Row }>(`/api/jobs/${row.job_id}`);
        if (status === 404) gone++;
        const details = place < 20 && status === 200 ? detailsOf(body.data) : {};
        const described = place >= 2 && place < 5 && status === 200 ? { description: body.data.description } : {};
        t.strictSame(row, { ...job(all[place] as Row), ...details, ...described }, `row ${place}`);
      }
      t.ok(gone < 25);
    });

    t.test('jobs by each filter, by id and by name', async (t) => {
      const place = await first('location', 'berlin');
      const company = await first('company', 'a');
      const industry = await first('industry', 'a');
      const duty = await first('job_function', 'e');
      const title = await first('job_title', 'engineer');
      const lists: [filters: Row, query: Row][] = [
        [{ location_id: place.id }, { locationId: place.id }],
        [{ location_name: 'Berlin' }, { locationId: place.id }],
        [{ populated_place_geo_id: place.id }, { populatedPlaceId: place.id }],
        [{ populated_place_name: place.text }, { populatedPlaceId: place.id }],
        [{ company_id: company.id }, { companyId: company.id }],
        [{ company_name: company.text }, { companyId: company.id }],
        [{ industry_id: industry.id }, { industryId: industry.id }],
        [{ industry_name: industry.text }, { industryId: industry.id }],
        [{ function_id: duty.id }, { functionId: duty.id }],
        [{ function_name: duty.text }, { functionId: duty.id }],
        [{ title_id: title.id }, { titleId: title.id }],
        [{ title_name: title.text }, { titleId: title.id }],
        [{ time_posted_range: 'r604800' }, { timePosted: 'r604800' }],
        [{ job_type: 'F,C' }, { jobType: 'F,C' }],
        [
          { sort_by: 'DD', job_type: 'P' },
          { sortBy: 'DD', jobType: 'P' },
        ],
        [{ commitment: '2' }, { commitment: '2' }],
        [
          { distance: '50', workplace_type: '2' },
          { distance: '50', workplaceType: '2' },
        ],
        [{ experience_level: '3,4' }, { experience: '3,4' }],
        [{ salary_bucket: '6' }, { salaryBucket: '6' }],
        [{ workplace_type: '3' }, { workplaceType: '3' }],
        [{ apply_with_linkedin: true }, { easyApply: 'true' }],
        [{ early_applicant: false }, { earlyApplicant: 'false' }],
        [{ in_your_network: true }, { inYourNetwork: 'true' }],
      ];
      for (const [filters, query] of lists) {
        const { data } = await visitor.list<Row>(`/api/search/jobs?${asked(query)}&count=10`);
        const { jobs } = await read<Row>('social.jobs.search', { filters, decoration_id: 'any' });
        t.strictSame(jobs, data.map(job), Object.keys(filters).join());
      }
    });
  });
}

const asked = (query: Row) => new URLSearchParams(query as Record<string, string>).toString();
function person(theirs: Row): Row {
  return {
    member_id: theirs.memberId,
    hash_id: theirs.hashId,
    public_id: theirs.publicId,
    member_distance: STEPS[String(theirs.distance)],
    name: theirs.name,
    headline: theirs.headline,
    summary: theirs.summary,
    location: theirs.location,
    profile_url: theirs.profileUrl,
    insights: theirs.insights,
    badgeHoverText: theirs.badgeHoverText,
  };
}

function job(theirs: Row): Row {
  return {
    job_id: theirs.jobId,
    job_title: theirs.title,
    job_url: theirs.url,
    job_company: theirs.companyName,
    job_insight: theirs.insight,
    job_location: theirs.location,
    easy_apply: theirs.easyApply,
    reposted_at: iso(theirs.repostedAt),
  };
}

function detailsOf(theirs: Row): Row {
  const company = theirs.company as Row;
  const posting = theirs.posting as Row;
  const application = theirs.application as Row;
  return {
    company: { company_id: company.companyId, public_id: company.publicId, name: company.name },
    location: theirs.location,
    posting: {
      listed_at: iso(theirs.listedAt),
      employment_type: posting.jobType,
      experience_level: String(posting.experience),
      workplace_type: String(posting.workplaceType),
    },
    application: { apply_url: application.url, applicants: application.applicants, closed: null },
  };
}
