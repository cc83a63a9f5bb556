import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { readMetrics } from '../../bench/kit/metrics.js';
import { withRoom } from '../../bench/kit/with-room.js';
import { eventually } from '../fixture/eventually.js';
import { jobIds } from '../fixture/jobs.js';
import { serviceFixture, startService } from '../fixture/service.js';

/** Fewer for a look; the release's run has all of them. */
const OPERATIONS = Number(process.env.OPERATIONS ?? 250_000);
const CONNECTIONS = 64;
/** Operations of one connection between two pauses, at most. */
const BURST = 100;
const PAUSE_ms = { least: 500, most: 2_000 };
const UNDER_WAY = 16;

t.setTimeout(1_800_000);

/**
 * Mailboxes are closed about a second after their last operation: with pauses around it, what is accepted meets mailboxes that are open, that
 * are being closed, and that are gone, many thousand times each.
 */
t.test(`${OPERATIONS} operations with pauses leave nothing behind`, async (t) => {
  const fixture = await serviceFixture(t, { LOG_LEVEL: 'error' });
  const { client, metricsUrl, stderr } = await startService(t, fixture);
  const { db } = fixture;
  const connections: string[] = [];
  for (let n = 0; n < CONNECTIONS; n++)
    connections.push(
      await client.connect({ provider: 'simulated', external_actor: { kind: 'person', id: `story-${n}` } }),
    );
  let submitted = 0;
  const submit = async (connection: string) => {
    const { status, body } = await withRoom(() => client.submit(connection, 'social.identity.get'));
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  };
  const work = async (connection: string) => {
    while (submitted < OPERATIONS) {
      let left = Math.min(1 + Math.floor(Math.random() * BURST), OPERATIONS - submitted);
      submitted += left;
      const lane = async () => {
        while (left-- > 0) await submit(connection);
      };
      await Promise.all(Array.from({ length: UNDER_WAY }, lane));
      await delay(PAUSE_ms.least + Math.random() * (PAUSE_ms.most - PAUSE_ms.least));
    }
  };
  const told = setInterval(() => t.comment(`${submitted} submitted`), 15_000);
  t.teardown(() => clearInterval(told));
  await Promise.all(connections.map(work));
  const statuses = await eventually(
    'all of them have ended',
    () =>
      db.query<{ status: string; count: number }>(
        'testStatuses',
        'select status, count(*)::int as count from operation group by status',
      ),
    (rows) => rows.every(({ status }) => status === 'succeeded'),
  );
  t.strictSame(statuses, [{ status: 'succeeded', count: OPERATIONS }]);
  await eventually(
    'every job is gone',
    () => jobIds(db, 'mailbox'),
    (ids) => ids.length === 0,
  );
  const metrics = await readMetrics(metricsUrl);
  t.equal(metrics('connection_service_operation_orphans_total'), 0);
  t.equal(metrics('connection_service_partitions_reconciled_total'), 0);
  t.equal(stderr(), '');
});
