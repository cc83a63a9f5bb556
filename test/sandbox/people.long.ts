import t from 'tap';
import { startedNetwork } from './fixture.js';
import { type Person, signedIn } from './visitor.js';

t.test('people', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');
  const me = (await visitor.api<{ data: Person }>('/api/me')).body.data;

  t.test('public ids resolve to hash ids, unknown ones are named', async (t) => {
    const found = (await visitor.list<Person>('/api/search/people?keywords=engineer&count=2')).data;
    const ids = [me.publicId, found[0]?.publicId, 'nobody-at-all'].join(',');
    const { body } = await visitor.api(`/api/members/resolve?publicIds=${ids}`);
    t.match(body, { data: [{ hashId: me.hashId }, { hashId: found[0]?.hashId }], missing: ['nobody-at-all'] });
    t.equal((await visitor.api('/api/members/resolve')).status, 400);
  });

  t.test('paging by the number of rows returned finds every row once, though pages may be short', async (t) => {
    const seen = new Set<string>();
    let short = 0;
    let total = 0;
    for (let start = 0; ; ) {
      const body = await visitor.list<Person>(`/api/search/people?keywords=software+engineer&count=10&start=${start}`);
      const rows = body.data;
      total = body.paging.total;
      if (rows.length === 0) break;
      if (rows.length < 10) short += 1;
      for (const row of rows) seen.add(row.hashId);
      start += rows.length;
    }
    t.ok(total > 50);
    t.equal(seen.size, total);
    t.ok(short > 1, 'some pages before the last were short');
  });

  t.test('every keyword has to occur', async (t) => {
    const body = await visitor.list<Person>('/api/search/people?keywords=engineer%20Berlin&count=50');
    const rows = body.data;
    t.ok(rows.length > 0);
    for (const row of rows) {
      t.match(row, {
        headline: /engineer/i,
        location: 'Berlin, Germany',
        profileUrl: /^https:\/\/www\.social\.test\/in\//,
      });
    }
  });

  t.test('facets narrow the search', async (t) => {
    const first = (await visitor.list<Person>('/api/search/people?network=F&count=50')).data;
    t.ok(first.length > 10);
    t.ok(first.every((row) => row.distance === 'F'));
    const named = (await visitor.list<Person>('/api/search/people?firstName=ada&openToVolunteer=true')).data;
    t.ok(named.length > 0 && named.every((row) => row.name.startsWith('Ada ')));
    t.same((await visitor.api('/api/search/people?keywords=zzzzz')).body, {
      data: [],
      paging: { start: 0, count: 10, total: 0 },
    });
  });

  t.test('what the search does not know is refused', async (t) => {
    for (const query of [
      '',
      'start=0',
      'keywords=a&start=1001',
      'keywords=a&count=51',
      'keywords=a&shoe=1',
      'network=X',
    ]) {
      const answer = await visitor.api(`/api/search/people?${query}`);
      t.match(answer, { status: 400, body: { error: { code: 'bad_request' } } }, query);
    }
  });

  t.test('the data set is the same in every network of the same seed', async (t) => {
    const other = await signedIn(t, await startedNetwork(t), 'ada', 'FR');
    const path = '/api/search/people?keywords=designer&count=50';
    t.same((await other.api(path)).body, (await visitor.api(path)).body);
    t.same((await other.api('/api/conversations')).body, (await visitor.api('/api/conversations')).body);
  });
});
