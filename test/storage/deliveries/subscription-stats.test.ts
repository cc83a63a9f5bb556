import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { subscriptionStats } from '../../../storage/deliveries/subscription-stats.js';
import { freshDatabase } from '../../fixture/database.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** A subscription with one delivery for each of `statuses`, oldest first, whose attempts are added one by one. */
async function fixture(t: Test, statuses: string[]) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const id = uuidv7();
  await db.query(
    'testSubscribe',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://receiver.test/', true, '')`,
    [id, workspaceId, connection.id, connection.partition],
  );
  for (const status of statuses) {
    const event = { connectionId: connection.id, providerEventId: randomUUID(), type: 'message_received' as const };
    await recorded(db, workspaceId, [{ ...event, data: {} }]);
    await db.query(
      'testStatus',
      `update delivery set status = $1, epoch = 1, next_attempt_at = null,
         delivered_at = case when $1 = 'delivered' then now() end
       where rank = (select max(rank) from delivery)`,
      [status],
    );
  }
  return {
    db,
    id,
    connectionId: connection.id,
    /** An attempt of the `rank`th delivery that ended `ago_s` ago and took so long. */
    async attempt(rank: number, sequence: number, outcome: string, error: string | null, ago_s: number, took_ms = 10) {
      await db.query(
        'testAttempt',
        `with over as (select now() - $5 * interval '1 second' as at)
         insert into delivery_attempt (id, delivery_id, sequence, outcome, error, started_at, completed_at)
         select $1, d.id, $3, $4, $6, o.at - $7 * interval '1 millisecond', case when $4 <> 'sending' then o.at end
         from delivery d, over o where d.rank = $2`,
        [uuidv7(), rank, sequence, outcome, ago_s, error, took_ms],
      );
      await db.query('testCount', 'update delivery set attempt_count = $2 where rank = $1', [rank, sequence]);
    },
  };
}

t.test('a subscription without deliveries has empty stats', async (t) => {
  const { db, id, connectionId } = await fixture(t, []);
  t.strictSame(await subscriptionStats(db, id), {
    connection_id: connectionId,
    active: true,
    oldest_pending_s: null,
    last_delivered_at: null,
    last_failed_at: null,
    counts: { pending: 0, sending: 0, delivered: 0, failed: 0, canceled: 0 },
    counts_capped: [],
    in_flight: 0,
    last_24h: { attempts: {}, p50_ms: null, p99_ms: null },
    complete: true,
  });
  t.equal(await subscriptionStats(db, randomUUID()), undefined);
});

t.test('attempts are counted by class, and measured, of a day only', async (t) => {
  const { db, id, attempt } = await fixture(t, ['failed', 'pending', 'delivered', 'sending', 'canceled', 'pending']);
  await db.query(
    'testAge',
    `update event set received_at = received_at - interval '1 hour'
    where id = (select event_id from delivery where rank = 2)`,
  );
  for (const sequence of [1, 2, 3, 4]) await attempt(1, sequence, 'failed', 'timeout', 100_000, 15_000);
  await attempt(1, 5, 'failed', 'dns', 50, 30);
  await attempt(2, 1, 'failed', 'status', 40, 20);
  await attempt(3, 1, 'abandoned', null, 30, 90_000);
  await attempt(3, 2, 'delivered', null, 20, 10);
  await attempt(4, 1, 'sending', null, 1);
  await attempt(5, 1, 'canceled', null, 10, 70_000);
  const stats = await subscriptionStats(db, id);
  t.match(stats, {
    counts: { pending: 2, sending: 1, delivered: 1, failed: 1, canceled: 1 },
    in_flight: 1,
    complete: true,
  });
  t.strictSame(stats?.last_24h.attempts, { dns: 1, status: 1, abandoned: 1, delivered: 1, canceled: 1 });
  t.equal(stats?.last_24h.p50_ms, 20, 'of what was answered or failed');
  t.ok(Math.abs((stats?.last_24h.p99_ms ?? 0) - 29.8) < 0.001);
  t.ok((stats?.oldest_pending_s ?? 0) >= 3600, 'since the event was received');
  const [ends] = await db.query<{ delivered: Date; failed: Date }>(
    'testEnds',
    `select max(d.delivered_at) as delivered, max(a.completed_at) filter (where d.status = 'failed') as failed
     from delivery d left join delivery_attempt a on a.delivery_id = d.id`,
  );
  t.strictSame([stats?.last_delivered_at, stats?.last_failed_at], [ends?.delivered, ends?.failed]);
});

t.test('what is beyond the bounds is not read, and the answer is marked as incomplete', async (t) => {
  const statuses = ['delivered', 'delivered', 'delivered', 'pending', 'failed', 'failed'];
  const { db, id, attempt } = await fixture(t, statuses);
  for (const rank of [1, 2, 3]) await attempt(rank, 1, 'delivered', null, 60);
  for (const sequence of [1, 2, 3]) await attempt(4, sequence, 'failed', 'refused', 60);
  const bounds = { counted: 10, deliveries: 10, attempts: 10 };
  t.match(await subscriptionStats(db, id, bounds), { complete: true });
  t.match(
    await subscriptionStats(db, id, { ...bounds, counted: 3 }),
    { counts: { pending: 1, delivered: 3, failed: 2 }, counts_capped: [] },
    'one count at its bound follows from the others',
  );
  t.match(await subscriptionStats(db, id, { ...bounds, counted: 2 }), {
    counts: { pending: 1, delivered: 2, failed: 2 },
    counts_capped: ['delivered', 'failed'],
    complete: false,
  });
  const few = await subscriptionStats(db, id, { ...bounds, deliveries: 2 });
  t.match(few, { counts: { delivered: 3 }, complete: false });
  t.strictSame(few?.last_24h.attempts, { delivered: 2, refused: 3 });
  const newest = await subscriptionStats(db, id, { ...bounds, attempts: 1 });
  t.match(newest, { complete: false });
  t.strictSame(newest?.last_24h.attempts, { delivered: 3, refused: 1 });
});
