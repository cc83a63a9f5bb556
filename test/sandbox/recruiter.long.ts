import t from 'tap';
import { allOf } from '../fixture/all-of.js';
import { control, dataDirectory, startedNetwork } from './fixture.js';
import { signedIn, Visitor } from './visitor.js';

interface Candidate {
  hashId: string | null;
  firstName: string;
  headline: string;
  location: string;
  recruiting: { yearsOfExperience: number; seniority: number; jobFunction: number };
}
type Found = { data: Candidate[]; paging: { total: number }; facets: { values: { count: number }[] }[] };

async function search(visitor: Visitor, body: object): Promise<Found> {
  const answer = await visitor.api<Found>('/api/recruiter/search', { count: 50, ...body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

t.test('the recruiter side', async (t) => {
  const directory = await dataDirectory(t);
  const network = await startedNetwork(t, directory);

  t.test('a session chooses a contract before it can read, and keeps it across a restart', async (t) => {
    const visitor = await signedIn(t, network, 'recruiter.one');
    t.match(await visitor.page('/recruiter'), { status: 302, location: '/recruiter/contracts' });
    t.match(await visitor.api('/api/recruiter/seat'), {
      status: 403,
      body: { error: { code: 'recruiter_contract_required' } },
    });
    const contracts = await visitor.page('/recruiter/contracts');
    t.equal(contracts.name, 'recruiter-contracts');
    const ids = [...contracts.text.matchAll(/data-contract-id="(\d+)" data-contract-name="([^"]+)"/g)];
    t.equal(ids.length, 2);
    const [, id = '', name] = ids[1] ?? [];
    t.match(await visitor.page('/recruiter/contracts', { contract: id }), { status: 303, location: '/recruiter' });
    t.match((await visitor.page('/recruiter')).text, `data-contract-name="${name}"`);
    t.match(await visitor.api('/api/recruiter/seat'), { body: { data: { contractId: id, contractName: name } } });
    t.equal((await visitor.page('/recruiter/contracts', { contract: '1' })).status, 404);
    await network.kill();

    const again = await startedNetwork(t, directory);
    const returning = await Visitor.from(t, again);
    for (const [cookie, value] of visitor.cookies) returning.cookies.set(cookie, value);
    t.match(await returning.api('/api/recruiter/seat'), { body: { data: { contractId: id } } });
  });
});

t.test('recruiter accounts', async (t) => {
  const network = await startedNetwork(t);

  t.test('without a seat there is nothing to choose', async (t) => {
    const visitor = await signedIn(t, network, 'reader+norecruiter');
    t.match(await visitor.page('/recruiter'), { status: 200, name: 'recruiter-unavailable' });
    t.match(await visitor.page('/recruiter/contracts'), { status: 200, name: 'recruiter-unavailable' });
    t.match(await visitor.api('/api/recruiter/search', { keywords: 'x' }), {
      status: 403,
      body: { error: { code: 'recruiter_unavailable' } },
    });
  });

  t.test('a challenge can stand before the contract', async (t) => {
    const visitor = await signedIn(t, network, 'careful+switch-sms');
    const challenge = (await visitor.page('/recruiter/contracts', { contract: '4001' })).location ?? '';
    t.match((await visitor.page(challenge)).text, /data-challenge-kind="sms"/);
    const second = (await visitor.page(challenge, { code: '1' })).location ?? '';
    t.match(await visitor.page(second, { code: '000000' }), { status: 303, location: '/recruiter' });
    t.equal((await visitor.page('/recruiter')).name, 'recruiter');
  });

  t.test('the first search after a choice belongs to it, later ones do not', async (t) => {
    const visitor = await signedIn(t, network, 'faulty');
    await visitor.page('/recruiter/contracts', { contract: '4001' });
    const capability = 'social.recruiter.people.search';
    await control(network, 'POST', '/faults', { mode: 'error', capability, account: 'faulty' });
    t.equal((await visitor.api('/api/recruiter/search', { keywords: 'engineer' })).status, 200);
    t.equal((await visitor.api('/api/recruiter/search', { keywords: 'engineer' })).status, 500);
  });
});

t.test('searching candidates', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'recruiter.two');
  await visitor.page('/recruiter/contracts', { contract: '4001' });
  const idOf = async (kind: string, q: string): Promise<string> => {
    const path = `/api/recruiter/typeahead?kind=${kind}&q=${encodeURIComponent(q)}`;
    return (await visitor.list<{ id: string }>(path)).data[0]?.id ?? '';
  };

  t.test('keywords find candidates, of whom some cannot be written to', async (t) => {
    const found = await search(visitor, { keywords: 'engineer' });
    t.equal(found.data.length, 50);
    t.ok(found.data.every((candidate) => /engineer/i.test(candidate.headline)));
    t.ok(found.data.some((candidate) => candidate.hashId === null));
    const counts = found.facets[0]?.values.map(({ count }) => count) ?? [];
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      found.paging.total,
    );
    t.match(await search(visitor, { keywords: 'zzzzz' }), { data: [], paging: { total: 0 }, formattedTotal: '0' });
  });

  t.test('filters can have, must have and must not have', async (t) => {
    const [rust, sql] = [await idOf('skill', 'Rust'), await idOf('skill', 'SQL')];
    const total = async (skills: object[]) => (await search(visitor, { skills })).paging.total;
    const either = await total([{ id: rust }, { id: sql }]);
    const both = await total([
      { id: rust, filter: 'MUST_HAVE' },
      { id: sql, filter: 'MUST_HAVE' },
    ]);
    const only = await total([{ id: rust }, { id: sql, filter: 'DOESNT_HAVE' }]);
    const one = await total([{ id: rust }]);
    t.ok(both > 0 && either > one && one > only);
    t.equal(one, both + only);
  });

  t.test('titles and places are looked at in the time and sense asked for', async (t) => {
    const title = await idOf('job_title', 'Data Engineer');
    const titles = (scope: string) => search(visitor, { titles: [{ id: title, scope }] });
    const [current, past, either] = [
      await titles('CURRENT'),
      await titles('PAST_NOT_CURRENT'),
      await titles('CURRENT_OR_PAST'),
    ];
    t.ok(allOf(current.data, (candidate) => candidate.headline.includes('Data Engineer at')));
    t.equal(either.paging.total, current.paging.total + past.paging.total);
    const [place, zip] = [await idOf('location', 'Berlin'), await idOf('zip', '10548')];
    const near = await search(visitor, { locations: [{ id: place }], distance: 25 });
    t.ok(allOf(near.data, (candidate) => candidate.location === 'Berlin, Germany'));
    t.equal((await search(visitor, { zipCodes: [zip] })).paging.total, near.paging.total);
  });

  t.test('numbers, codes and names narrow the search', async (t) => {
    const narrow = { yearsOfExperience: { min: 3, max: 9 }, seniorities: [4], jobFunctions: [8], networks: ['S', 'O'] };
    const { data } = await search(visitor, narrow);
    t.ok(data.length > 0);
    for (const { recruiting } of data) {
      t.match(recruiting, { seniority: 4, jobFunction: 8 });
      t.ok(recruiting.yearsOfExperience >= 3 && recruiting.yearsOfExperience <= 9);
    }
    const named = await search(visitor, { firstNames: ['Ada', 'Alan'] });
    t.ok(named.data.length > 0 && named.data.every(({ firstName }) => ['Ada', 'Alan'].includes(firstName)));
    for (const filter of [
      { companySizes: ['I'] },
      { veteran: true },
      { recentlyJoined: 2 },
      { profileLanguages: ['de'] },
      { graduationYear: { min: 2020 } },
    ]) {
      t.ok((await search(visitor, filter)).data.length > 0, JSON.stringify(filter));
    }
  });

  t.test('malformed searches are refused, and so are senseless ones', async (t) => {
    const cases: [number, string, object][] = [
      [400, 'bad_request', {}],
      [400, 'bad_request', { start: 1001, keywords: 'x' }],
      [400, 'bad_request', { skills: [] }],
      [400, 'bad_request', { skills: ['Rust'] }],
      [400, 'bad_request', { shoes: ['A'] }],
      [422, 'invalid_filter', { yearsOfExperience: { min: 9, max: 3 } }],
      [422, 'invalid_filter', { graduationYear: {} }],
      [422, 'invalid_filter', { distance: 25, keywords: 'x' }],
      [422, 'invalid_filter', { jobFunctions: [27] }],
      [422, 'invalid_filter', { profileLanguages: ['xx'] }],
    ];
    for (const [status, code, body] of cases) {
      t.match(
        await visitor.api('/api/recruiter/search', body),
        { status, body: { error: { code } } },
        JSON.stringify(body),
      );
    }
  });
});
