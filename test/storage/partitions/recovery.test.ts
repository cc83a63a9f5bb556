import { randomUUID } from 'node:crypto';
import t from 'tap';
import { claimPartitions } from '../../../storage/partitions/partitions.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../fixture/database.js';
import { JOBS } from '../../fixture/jobs.js';

t.test('a partition whose owner held a large backlog is taken, each statement within its limit', async (t) => {
  const { db, url } = await freshDatabase(t);
  const jobs = 40_000;
  await db.query(
    'testBacklog',
    `insert into pgboss.job_common (id, name, state, started_on)
     select gen_random_uuid(), 'operation-7', 'active', now() from generate_series(1, $1::integer)`,
    [jobs],
  );
  const control = openDatabase({ url, maxConnections: 1, applicationName: 'test', limits: TIME_LIMITS.control });
  t.teardown(() => control.close());
  const [taken] = await control.transaction((tx) => claimPartitions(tx, randomUUID(), 1, 8_000, [7]));
  t.equal(taken?.id, 7);
  const states = await db.query<{ state: string; jobs: number }>(
    'testStates',
    `select state, count(*)::int as jobs from ${JOBS} j group by state`,
  );
  t.strictSame(states, [{ state: 'created', jobs }]);
});
