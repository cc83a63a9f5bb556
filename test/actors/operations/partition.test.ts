import t from 'tap';
import { LeaseCell } from '../../../actors/lease.js';
import { LIMITS } from '../../../actors/limits.js';
import { Partition, type PartitionContext } from '../../../actors/operations/partition.js';
import { createLogger } from '../../../storage/log.js';
import type { FetchedJob } from '../../../storage/operations/owner-polls.js';

/** A partition whose queue is empty, unless `fetch` has it otherwise. No operation comes out of it, so nothing else is used. */
function fixture(fetch: () => Promise<FetchedJob[]> = async () => []) {
  const lease = new LeaseCell();
  lease.renewed(LeaseCell.now(), 60_000, [7]);
  const states: string[] = [];
  const context = {
    db: { query: (name: string) => (name === 'fetchOperations' ? fetch() : Promise.resolve([])) },
    lease,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    onPartitionState: (_: number, kind: string) => states.push(kind),
  };
  return { partition: new Partition({ id: 7, epoch: 1 }, context as unknown as PartitionContext), states };
}

t.test(
  'new operations are handed over once a fetch found the queue empty, and not behind what waits in it',
  async (t) => {
    const { partition, states } = fixture();
    t.equal(partition.direct, false, 'nothing is known of the queue yet');
    await partition.fetch();
    t.equal(partition.direct, true);
    partition.queueGrew();
    t.equal(partition.direct, false);
    await partition.fetch();
    t.strictSame(states, ['fetching', 'direct', 'queued', 'fetching']);
  },
);

t.test('a fetch that fails leaves the queue as it was', async (t) => {
  const { partition, states } = fixture(() => Promise.reject(new Error('the database is gone')));
  await partition.fetch();
  t.equal(partition.direct, false);
  t.strictSame(states, ['fetching', 'queued']);
});

t.test('calls that come while a fetch is under way are answered by one more round', async (t) => {
  let rounds = 0;
  const { partition, states } = fixture(async () => {
    rounds++;
    return [];
  });
  await Promise.all([partition.fetch(), partition.fetch(), partition.fetch()]);
  t.equal(rounds, 2);
  t.strictSame(states, ['fetching', 'direct']);
});

t.test('a partition that is given up fetches nothing more, and may still be lost', async (t) => {
  const { partition, states } = fixture();
  await partition.fetch();
  await partition.quiesce();
  t.equal(partition.tenure, 'stopping');
  t.equal(partition.direct, false);
  await partition.fetch();
  partition.hand({ id: 'operation', connection_id: 'connection', workspace_id: 'workspace', place: 1 }, 1);
  t.equal(partition.size, 0, 'what is handed over is left to the next owner');
  partition.drop();
  t.equal(partition.tenure, 'dropped');
  t.strictSame(states, ['fetching', 'direct', 'stopping', 'dropped']);
  t.throws(() => partition.drop(), /no step from dropped to dropped/);
});

t.test('a partition that is lost while it fetches starts nothing of what the fetch brings', async (t) => {
  const jobs = Promise.withResolvers<FetchedJob[]>();
  const { partition, states } = fixture(() => jobs.promise);
  const fetched = partition.fetch();
  partition.drop();
  jobs.resolve(
    Array.from({ length: LIMITS.fetch_jobs }, (_, number) => ({
      id: `${number}`,
      connection_id: 'connection',
      workspace_id: 'workspace',
      place: number,
    })),
  );
  await fetched;
  t.equal(partition.size, 0);
  t.strictSame(states, ['fetching', 'dropped']);
});
