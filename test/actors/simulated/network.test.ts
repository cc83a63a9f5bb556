import t from 'tap';
import { createSimulatedProvider } from '../../../actors/providers/simulated.js';
import { hashIdOf, ownHashIdOf, publicIdOf } from '../../../actors/simulated/names.js';
import type {
  JobsSearchResult,
  PeopleSearchResult,
  TypeaheadResult,
} from '../../../browser-pool/contract/discovery.js';
import type {
  CompanyGetResult,
  ConnectionsListResult,
  ProfileGetResult,
} from '../../../browser-pool/contract/identity.js';
import type { RecruiterSearchResult } from '../../../browser-pool/contract/recruiter.js';
import { allOf } from '../../fixture/all-of.js';
import { connectionRow, NO_DATABASE, request, succeed } from './request.js';

const provider = createSimulatedProvider({ db: NO_DATABASE });
const ada = connectionRow('ada');
const get = async <Result>(capability: string, input: Record<string, unknown> = {}, connection = ada) =>
  (await succeed(provider, connection, capability, input)) as unknown as Result;

t.test('the same question has the same answer, on another thread too', async (t) => {
  const other = createSimulatedProvider({ db: NO_DATABASE });
  const questions: [string, Record<string, unknown>][] = [
    ['social.identity.get', {}],
    ['social.profile.get', { profile_id: 'anybody-at-all' }],
    ['social.connections.list', { count: 50 }],
    ['social.people.search', { filters: { title: 'manager' } }],
    ['social.jobs.search', { keywords: 'designer' }],
    ['social.recruiter.people.search', { skills: ['SQL'] }],
    ['social.file.download', { url: 'https://social.test/a' }],
  ];
  for (const [capability, input] of questions) {
    const twin = connectionRow('ada');
    t.strictSame(await succeed(other, twin, capability, input), await get(capability, input), capability);
  }
  const bob = connectionRow('bob');
  t.notSame(
    await get('social.connections.list', {}, bob),
    await get('social.connections.list'),
    'another account, another network',
  );
});

t.test('connections are paged to an end, each once', async (t) => {
  const seen: (string | null)[] = [];
  for (let start = 0; ; ) {
    const { connections } = await get<ConnectionsListResult>('social.connections.list', { start, count: 7 });
    if (connections.length === 0) break;
    seen.push(...connections.map((entry) => entry.hash_id));
    start += connections.length;
  }
  t.ok(seen.length > 30);
  t.equal(new Set(seen).size, seen.length);
  t.equal((await get<ConnectionsListResult>('social.connections.list')).connections.length, 25, 'the default page');
  t.strictSame((await get<ConnectionsListResult>('social.connections.list', { start: 10000 })).connections, []);
});

t.test('a people search is paged to an end within the reach of start, each row once', async (t) => {
  const seen: (string | null)[] = [];
  for (let start = 0; ; ) {
    const input = { filters: { network: 'F,S,O' }, start, count: 50 };
    const { people } = await get<PeopleSearchResult>('social.people.search', input);
    if (people.length === 0) break;
    seen.push(...people.map((row) => row.hash_id));
    start += people.length;
    t.ok(start <= 1000);
  }
  t.ok(seen.length > 900);
  t.equal(new Set(seen).size, seen.length);
});

t.test('people filters filter, by the ids that typeahead gives as well', async (t) => {
  const rows = async (filters: object, keywords = '') =>
    (await get<PeopleSearchResult>('social.people.search', { keywords, filters, count: 50 })).people;
  const { items } = await get<TypeaheadResult>('social.typeahead', { kind: 'location', keyword: 'berlin' });
  t.equal(items.length, 1);
  const inBerlin = await rows({ location_id: items[0]?.id });
  t.ok(inBerlin.length > 10);
  t.ok(allOf(inBerlin, (row) => row.location === 'Berlin, Germany'));
  t.strictSame(await rows({ location_name: 'Berlin' }), inBerlin);
  const idOf = async (kind: string, keyword: string) =>
    (await get<TypeaheadResult>('social.typeahead', { kind, keyword })).items[0]?.id;
  const ofFirst = await rows({ current_company_id: await idOf('company', 'a') });
  t.ok(ofFirst.length > 0);
  t.strictSame(await rows({ current_company_name: 'a' }), ofFirst, 'a name is the first that is suggested for it');
  for (const filter of ['location_name', 'past_company_name', 'school_name', 'connection_of_name'])
    await t.rejects(rows({ [filter]: 'no such name' }), /validation_error/, `${filter} that nothing has`);
  t.ok(allOf(await rows({ network: 'F' }), (row) => row.member_distance === 1));
  t.ok(allOf(await rows({ title: 'nurse', location_name: 'london' }), (row) => row.headline?.startsWith('Nurse')));
  t.ok(allOf(await rows({ open_to_volunteer: true }), (row) => row.badgeHoverText !== null));
  t.strictSame(await rows({ company: 'no such company' }), []);
  const [first] = await rows({ network: 'F' });
  const known = await rows({ connection_of: first?.hash_id });
  t.ok(known.length > 0 && known.length < 200);
  const [firstName] = (first?.name ?? '').split(' ');
  t.ok((await rows({ first_name: firstName })).some((row) => row.hash_id === first?.hash_id));
  t.ok(
    (await rows({}, `${first?.name}`)).some((row) => row.hash_id === first?.hash_id),
    'keywords look at names',
  );
});

t.test('a row of a search leads to the profile it names', async (t) => {
  const { people } = await get<PeopleSearchResult>('social.people.search', { filters: { network: 'F' }, count: 5 });
  t.equal(people.length, 5);
  for (const row of people) {
    const { profile } = await get<ProfileGetResult>('social.profile.get', { profile_id: row.public_id });
    t.equal(profile.hash_id, row.hash_id);
    t.equal(`${profile.first_name} ${profile.last_name}`, row.name);
    t.equal(profile.network_distance, 1);
    t.type(profile.connected_at, 'string');
    const resolved = await get<{ hash_ids: object }>('social.hash_ids.resolve', { public_ids: [row.public_id] });
    t.strictSame(resolved.hash_ids, { [String(row.public_id)]: row.hash_id });
  }
});

t.test('job filters filter, details come for as many rows as asked, the newest can come first', async (t) => {
  const rows = async (input: object) =>
    (await get<JobsSearchResult>('social.jobs.search', { count: 50, ...input })).jobs;
  const remote = await rows({ filters: { workplace_type: '2', company_name: 'acme' }, job_details_count: 50 });
  t.ok(remote.length > 0);
  t.ok(
    remote.every(
      (job) => job.posting?.workplace_type === '2' && job.job_company === 'Acme Robotics' && job.description,
    ),
  );
  t.ok(allOf(await rows({ filters: { apply_with_linkedin: true } }), (job) => job.easy_apply));
  const { items } = await get<TypeaheadResult>('social.typeahead', { kind: 'job_title', keyword: 'er' });
  const named = await rows({ filters: { title_name: 'er' } });
  t.strictSame(named, await rows({ filters: { title_id: items[0]?.id } }), 'a name is the id that it stands for');
  for (const filter of ['company_name', 'function_name', 'industry_name', 'populated_place_name', 'title_name'])
    await t.rejects(rows({ filters: { [filter]: 'no such name' } }), /validation_error/, `${filter} that nothing has`);
  const some = await rows({ keywords: 'engineer', job_details_count: 2, job_posting_detail_description_start: 1 });
  t.strictSame(
    some.slice(0, 4).map((job) => [job.posting !== undefined, job.description !== undefined]),
    [
      [true, false],
      [true, true],
      [false, true],
      [false, false],
    ],
  );
  const posted = (await rows({ filters: { sort_by: 'DD' } })).map((job) => String(job.reposted_at));
  t.strictSame(posted, posted.toSorted().reverse());
  const week = await rows({ filters: { time_posted_range: 'r604800' } });
  t.ok(week.length > 0 && week.length < 50);
});

t.test('recruiter filters filter, and wrong ones fail when their turn comes', async (t) => {
  const search = (input: object) =>
    get<RecruiterSearchResult>('social.recruiter.people.search', { count: 50, ...input });
  const nurses = await search({ titles: [{ name: 'Nurse', time_scope: 'current' }] });
  t.ok(nurses.total > 0);
  t.ok(allOf(nurses.candidates, (candidate) => candidate.headline?.startsWith('Nurse')));
  const elsewhere = await search({
    titles: [{ name: 'Nurse', time_scope: 'current' }],
    locations: [{ name: 'Berlin', filter_type: 'doesnt_have' }],
  });
  t.ok(elsewhere.total < nurses.total && allOf(elsewhere.candidates, ({ location }) => location !== 'Berlin, Germany'));
  const experienced = await search({ yoe: { min: 30 }, networks: ['F', 'S'] });
  t.ok(allOf(experienced.candidates, ({ recruiting }) => (recruiting.years_of_experience ?? 0) >= 30));
  const joined = await Promise.all([1, 2, 3, 4, 5].map((bucket) => search({ recently_joined: bucket, count: 1 })));
  const all = await search({ networks: ['F', 'S', 'O'], count: 1 });
  t.equal(
    joined.reduce((sum, { total }) => sum + total, 0),
    all.total,
    'everybody joined in one bucket of time',
  );
  const none = await search({ first_names: ['Nobody'] });
  t.match(none, { candidates: [], total: 0, formatted_total: '0' });
  const everybody = await search({ keywords: '', networks: ['F', 'S', 'O'], start: 50 });
  t.ok(
    everybody.candidates.some((candidate) => candidate.hash_id === undefined),
    'some cannot be messaged at once',
  );
  t.equal(everybody.paging.start, 50);
  const { outcome } = await request(provider, ada, 'social.recruiter.people.search', { distance: 5 });
  t.match(outcome, {
    status: 'failed',
    failure: { code: 'validation_error', details: { errors: [{ path: 'input.distance' }] } },
  });
});

t.test('a company is found by slug, number and name alike', async (t) => {
  const byName = await get<CompanyGetResult>('social.company.get', { company_name: 'Acme Robotics' });
  const { public_id, company_id } = byName.company;
  t.strictSame(await get('social.company.get', { public_id }), byName);
  t.strictSame(await get('social.company.get', { company_id }), byName);
  t.match(await get('social.company.get', { public_id: 'some-other' }), { company: { name: 'Some Other' } });
});

t.test('ids lead back to what they name', async (t) => {
  for (const slug of ['jane-doe', 'a.b_c', 'x'.repeat(200)]) t.equal(publicIdOf(hashIdOf(slug)), slug);
  t.equal(hashIdOf(publicIdOf('bob')), 'bob', 'a simulated peer keeps its own');
  t.equal(ownHashIdOf('bob'), 'bob');
  t.match(ownHashIdOf('not a recipient'), /^[A-Za-z0-9_+=-]{1,255}$/);
  t.match(hashIdOf('y'.repeat(255)), /^[A-Za-z0-9_+=-]{255}$/);
});

t.test('a download has the size and type it says', async (t) => {
  const file = await get<{ data_base64: string; size: number }>('social.file.download', {
    url: 'https://social.test/a/b.PDF?x',
  });
  t.match(file, { content_type: 'application/pdf' });
  t.equal(Buffer.from(file.data_base64, 'base64').length, file.size);
  t.match(await get('social.file.download', { url: 'https://social.test/a.constructor' }), {
    content_type: 'application/octet-stream',
  });
});

t.test('a reconnect makes a session and a switch publishes the recruiter', async (t) => {
  t.match((await request(provider, ada, 'social.login', { reconnect: true })).outcome, {
    effects: { newSession: true },
  });
  t.notOk('effects' in (await request(provider, ada, 'social.login')).outcome, 'a live session is only verified');
  t.match((await request(provider, ada, 'social.recruiter.switch', { contract: 'talent' })).outcome, {
    result: { contract: 'Talent Partners', recruiter_ready: true },
    effects: { newSession: true, recruiter: { health: 'ready', contract: 'Talent Partners' } },
  });
});
