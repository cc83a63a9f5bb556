import t from 'tap';
import { startedNetwork } from './fixture.js';
import { signedIn } from './visitor.js';

interface Job {
  jobId: string;
  title: string;
  companyName: string;
  location: string;
  listedAt: number;
}

t.test('jobs', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');

  t.test('a search pages through by start, each job once', async (t) => {
    const seen = new Set<string>();
    for (let start = 0; ; start += 20) {
      const path = `/api/search/jobs?keywords=engineer&start=${start}&count=20`;
      const { data, paging } = await visitor.list<Job>(path);
      for (const job of data) {
        t.match(job.title, /Engineer/);
        seen.add(job.jobId);
      }
      if (data.length === 0) {
        t.equal(seen.size, paging.total);
        break;
      }
    }
    t.ok(seen.size > 100);
  });

  t.test('facets narrow it and the order can be asked for', async (t) => {
    const [place] = (await visitor.list<{ id: string }>('/api/typeahead?kind=location&q=berlin')).data;
    const { data } = await visitor.list<Job>(`/api/search/jobs?locationId=${place?.id}&sortBy=DD&decorationId=x`);
    t.ok(data.length > 1 && data.every((job) => job.location === 'Berlin, Germany'));
    const times = data.map((job) => job.listedAt);
    t.same(
      times,
      times.toSorted((a, b) => b - a),
    );
    const counted = async (query: string) => (await visitor.list(`/api/search/jobs?count=1&${query}`)).paging.total;
    const all = await counted('distance=500');
    for (const query of [
      'jobType=F',
      'experience=1,2',
      'workplaceType=2',
      'timePosted=r604800',
      'salaryBucket=5',
      'easyApply=true',
    ]) {
      const total = await counted(query);
      t.ok(total > 0 && total < all, query);
    }
    for (const query of ['', 'jobType=Z', 'timePosted=yesterday', 'sortBy=X', 'decorationId=x']) {
      t.equal((await visitor.api(`/api/search/jobs?${query}`)).status, 400, query);
    }
  });

  t.test('most jobs can be read in full, some are gone', async (t) => {
    const { data } = await visitor.list<Job>('/api/search/jobs?keywords=engineer&count=50');
    const statuses = new Map<number, number>();
    for (const job of data) {
      const answer = await visitor.api<{ data: object }>(`/api/jobs/${job.jobId}`);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) t.match(answer.body.data, { ...job, company: { name: job.companyName } });
    }
    t.same([...statuses.keys()].toSorted(), [200, 404]);
    t.equal((await visitor.api('/api/jobs/1')).status, 404);
    t.equal((await visitor.api('/api/jobs/none')).status, 404);
    t.match(await visitor.page('/jobs/view/3900000000'), { status: 200, name: 'job' });
  });
});
