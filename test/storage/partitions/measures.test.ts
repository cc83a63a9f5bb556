import { randomUUID } from 'node:crypto';
import t from 'tap';
import { openGap, saveListener } from '../../../storage/connections/listeners.js';
import { LIMITS } from '../../../storage/limits.js';
import { measurePartitions } from '../../../storage/partitions/measures.js';
import { forgetNode } from '../../../storage/partitions/partitions.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { leaveShares } from '../../../storage/workspaces/rate-shares.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertSocial, insertWorkspace, newIds } from '../../fixture/rows.js';

const ALL = Array.from({ length: 64 }, (_, id) => id);

t.test('what owners measure of their partitions adds up, by indexes alone', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  t.strictSame(await measurePartitions(db, ALL), {
    ...{ connections: [], open_gaps: 0, unknown_outcomes: 0, unfetched: 0, oldest_unfetched_s: 0 },
  });
  const ready = await insertSocial(db, workspaceId, 'ada');
  const lost = await insertSocial(db, workspaceId, 'bob');
  const simulated = await insertSimulated(db, workspaceId, 'ann');
  await db.query('testLost', `update connection set health = 'needs_login', session_sealed = null where id = $1`, [
    lost.id,
  ]);
  const heard = {
    streamStatus: 'connecting',
    status: 'running',
    reason: null,
    lastEventId: null,
    lastFrameAt: null,
  } as const;
  await saveListener(db, { connectionId: ready.id, epoch: 1, ...heard });
  await openGap(db, ready.id, 1, 'stream_silent');
  const operation = async (age: string) => {
    const id = randomUUID();
    await db.query(
      'testOperation',
      `insert into operation (id, workspace_id, connection_id, partition, epoch, capability, status, idempotency_key, fingerprint, input)
       values ($1, $2, $3, $4, 1, 'social.message.send', 'running', $5, '\\x00', '{}')`,
      [id, workspaceId, simulated.id, simulated.partition, id],
    );
    await db.query('testUnknown', `update operation set status = 'outcome_unknown' where id = $1`, [id]);
    await db.query('testAge', `update unknown_outcome set since = now() - $2::interval where operation_id = $1`, [
      id,
      age,
    ]);
    return id;
  };
  const [looked, deleted] = [await operation('1 hour'), await operation('1 hour'), await operation('25 hours')];
  await operation('1 minute');
  await db.query(
    'testQueued',
    `with stored as (
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, created_at)
       select n, $1, $2, $3, 'social.identity.get', 'queued', 'queued ' || n, '', '{}', now() - interval '90 seconds'
       from unnest($4::uuid[]) n returning id
     )
     insert into pgboss.job_common (id, name, data)
     select $2, 'mailbox-' || $3::smallint, jsonb_build_object('from', (select id from stored order by id limit 1))`,
    [workspaceId, simulated.id, simulated.partition, newIds(3)],
  );
  const measured = await measurePartitions(db, ALL);
  t.match(measured, { open_gaps: 1, unknown_outcomes: 3, unfetched: 3 });
  t.ok(measured.oldest_unfetched_s >= 90 && measured.oldest_unfetched_s < 150);
  t.strictSame(measured.connections.map(({ provider, health, count }) => `${provider} ${health} ${count}`).sort(), [
    'simulated ready 1',
    'social needs_login 1',
    'social ready 1',
  ]);

  const each = await Promise.all(ALL.map((id) => measurePartitions(db, [id])));
  for (const one of ['open_gaps', 'unknown_outcomes', 'unfetched'] as const)
    t.equal(
      each.reduce((sum, part) => sum + part[one], 0),
      measured[one],
      `the shares of ${one} add up`,
    );
  t.equal(
    each.flatMap(({ connections }) => connections).reduce((sum, { count }) => sum + count, 0),
    3,
  );

  await db.query('testLooked', `update operation set evidence_look = '{"found":"none"}' where id = $1`, [looked]);
  await db.query('testDeleted', 'delete from operation where id = $1', [deleted]);
  t.equal(
    (await measurePartitions(db, ALL)).unknown_outcomes,
    1,
    'one that was looked at, or is gone, is open no more',
  );

  // As the threads read, a plan for any parameters and without a scan of a table.
  const thread = openDatabase({
    url,
    maxConnections: 1,
    applicationName: 'thread',
    indexedPlans: true,
    onError: () => {},
  });
  t.teardown(() => thread.close());
  t.match(await measurePartitions(thread, ALL), { open_gaps: 1, unknown_outcomes: 1, unfetched: 3 });
  for (const [statement, parameter] of [
    [
      `select provider, health, count(*) from connection where partition = any($1::int[]) group by provider, health`,
      ALL,
    ],
    [
      `select count(*) from unknown_outcome where partition = any($1::int[]) and since > now() - interval '1 hour'`,
      ALL,
    ],
  ] as const) {
    const plan = await thread.query<{ 'QUERY PLAN': string }>(
      `testPlan${statement.length}`,
      `explain ${statement.replace('$1', `'{${parameter.join()}}'`)}`,
    );
    t.match(plan.map((line) => line['QUERY PLAN']).join('\n'), /Index Only Scan|Bitmap Index Scan|Index Scan/);
    t.notMatch(plan.map((line) => line['QUERY PLAN']).join('\n'), /Seq Scan/);
  }
});

t.test('a node that lives forgets those that have been silent, and what they had', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const [living, silent] = newIds(2);
  const heard_ms = [1_000, LIMITS.node_silence_ms + 1_000];
  await db.query(
    'testNodes',
    `insert into node (id, heartbeat_at) select id, now() - ms * interval '1 millisecond' from unnest($1::uuid[], $2::integer[]) n(id, ms)`,
    [[living, silent], heard_ms],
  );
  await db.query(
    'testShares',
    `insert into workspace_rate (workspace_id, rate, node_id, asked, share, noted_at)
     select $3, 'requests_per_second', id, 1, 0.5, now() - ms * interval '1 millisecond' from unnest($1::uuid[], $2::integer[]) n(id, ms)`,
    [[living, silent], heard_ms, workspaceId],
  );
  await forgetNode(db, null);
  await leaveShares(db, null);
  t.same(await db.query('testNodesLeft', 'select id from node'), [{ id: living }]);
  t.same(await db.query('testSharesLeft', 'select node_id from workspace_rate'), [{ node_id: living }]);
});
