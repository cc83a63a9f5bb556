import t from 'tap';
import { startedNetwork } from './fixture.js';
import { type Person, signedIn } from './visitor.js';

interface Item {
  id: string;
  kind: string;
  text: string;
}

interface Company {
  companyId: string;
  publicId: string;
  name: string;
  employeeCountRange: { start: number; end: number | null };
}

interface Profile extends Person {
  connectedAt: number | null;
  contact: { email: string | null };
  experience: { companyId: string; endedOn: unknown }[];
  education: { schoolId: string }[];
}

t.test('members, companies and the lists that searches filter by', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');

  t.test('a profile shows more to a connection than to others', async (t) => {
    for (const distance of ['F', 'O']) {
      const [row] = (await visitor.list<Person>(`/api/search/people?network=${distance}&count=1`)).data;
      const { data } = (await visitor.api<{ data: Profile }>(`/api/profiles/${row?.publicId}`)).body;
      t.match(data, { hashId: row?.hashId, publicId: row?.publicId, distance, pendingInvitation: false });
      t.equal(data.contact.email !== null, distance === 'F');
      t.equal(data.connectedAt !== null, distance === 'F');
      t.equal(data.experience[0]?.endedOn, null);
      t.ok(data.education.length > 0);
      const page = await visitor.page(`/in/${row?.publicId}`);
      t.match(page, { status: 200, name: 'profile' });
      t.match(page.text, `data-hash-id="${row?.hashId}"`);
    }
    t.match(await visitor.api('/api/profiles/nobody'), { status: 404, body: { error: { code: 'not_found' } } });
    t.match(await visitor.page('/in/nobody'), { status: 404, name: 'not-found' });
  });

  t.test('a company is found by public id, id and name alike', async (t) => {
    const [item] = (await visitor.list<Item>('/api/typeahead?kind=company&q=labs&count=1')).data;
    const byId = (await visitor.api<{ data: Company }>(`/api/companies?companyId=${item?.id}`)).body;
    const byName = `/api/companies?name=${encodeURIComponent(byId.data.name.toUpperCase())}`;
    t.equal(byId.data.name, item?.text);
    t.same((await visitor.api(byName)).body, byId);
    t.same((await visitor.api(`/api/companies?publicId=${byId.data.publicId}`)).body, byId);
    t.match(await visitor.page(`/company/${byId.data.publicId}`), { status: 200, name: 'company' });
    t.equal((await visitor.api('/api/companies?companyId=1')).status, 404);
    t.equal((await visitor.api(`/api/companies?companyId=${item?.id}&name=x`)).status, 400);
    t.equal((await visitor.api('/api/companies')).status, 400);
  });

  t.test('every kind of typeahead suggests what begins with the words asked for', async (t) => {
    const asked = {
      company: 'lab',
      job_function: 'eng',
      industry: 'soft dev',
      location: 'berl',
      people: 'ada',
      school: 'univ',
      skill: 'type',
      job_title: 'engineer',
      service_category: 'consult',
    };
    for (const [kind, q] of Object.entries(asked)) {
      const { data } = await visitor.list<Item>(`/api/typeahead?kind=${kind}&q=${encodeURIComponent(q)}`);
      t.ok(data.length > 0 && data.length <= 10, kind);
      t.ok(data.every((item) => item.kind === kind && item.id !== ''));
    }
    t.equal((await visitor.api('/api/typeahead?kind=shoe&q=a')).status, 400);
    t.equal((await visitor.api('/api/typeahead?kind=skill')).status, 400);
  });

  t.test('the ids of a typeahead filter a search', async (t) => {
    const facets = [
      ['location', 'Berlin', 'locationId', { location: 'Berlin, Germany' }],
      ['company', 'Labs', 'currentCompanyId', { headline: / at / }],
      ['service_category', 'Training', 'serviceCategoryId', {}],
      ['school', 'Meridian', 'schoolId', {}],
    ] as const;
    for (const [kind, q, facet, shape] of facets) {
      const [item] = (await visitor.list<Item>(`/api/typeahead?kind=${kind}&q=${q}`)).data;
      const { data } = await visitor.list<Person>(`/api/search/people?${facet}=${item?.id}&count=5`);
      t.ok(data.length > 0, facet);
      for (const row of data) t.match(row, shape);
    }
  });

  t.test('connections page through by start, newest first, each once', async (t) => {
    const seen: Profile[] = [];
    for (let start = 0; ; start += 50) {
      const { data, paging } = await visitor.list<Profile>(`/api/connections?start=${start}&count=50`);
      seen.push(...data);
      if (data.length === 0) {
        t.equal(seen.length, paging.total);
        break;
      }
    }
    t.equal(new Set(seen.map((row) => row.hashId)).size, seen.length);
    const times = seen.map((row) => row.connectedAt ?? 0);
    t.same(
      times,
      times.toSorted((a, b) => b - a),
    );
    t.equal((await visitor.list('/api/connections')).data.length, 25);
    t.equal((await visitor.api('/api/connections?start=10001')).status, 400);
  });
});
