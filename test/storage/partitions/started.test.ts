import t from 'tap';
import { LIMITS } from '../../../storage/limits.js';
import { startedOperations } from '../../../storage/partitions/started.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { countingBlocks } from '../../fixture/blocks-read.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertWorkspace, newIds } from '../../fixture/rows.js';

const CONNECTIONS = 10;
const QUEUED = 5_200;
const PARTITION = 7;

t.test('what runs is found behind any backlog, and no statement reads more than its page', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connections = newIds(CONNECTIONS);
  await db.query(
    'testConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select id, $1, $3, 'simulated', 'person:' || id, 'person', id::text, 'ready' from unnest($2::uuid[]) c(id)`,
    [workspaceId, connections, PARTITION],
  );
  const ids = newIds(CONNECTIONS * QUEUED);
  const running = [ids[0], ids[CONNECTIONS * 150], ids.at(-1)];
  await db.query(
    'testQueued',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, epoch, attempts)
     select o.id, $1, ($2::uuid[])[1 + o.n % $4], $5, 'social.profile.get',
       case when o.id = any($6::uuid[]) then 'running' else 'queued' end, o.id::text, '\\x00', '{}',
       case when o.id = any($6::uuid[]) then 1 end, case when o.id = any($6::uuid[]) then '[{}]'::jsonb else '[]' end
     from unnest($3::uuid[]) with ordinality o(id, n)`,
    [workspaceId, connections, ids, CONNECTIONS, PARTITION, running],
  );
  await db.query(
    'testMailboxes',
    `insert into pgboss.job_common (id, name, state, started_on, data)
     select id, 'mailbox-' || $3::integer, 'active', now(), jsonb_build_object('from', $2::uuid) from unnest($1::uuid[]) c(id)`,
    [connections, ids[0], PARTITION],
  );
  await db.query('testStatistics', 'analyze operation');
  const read: { rows: number; blocks: number }[] = [];
  await db.transaction(async (tx) => {
    await tx.query(
      'testPlans',
      `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)`,
    );
    const counting = countingBlocks(tx);
    const noting: Sql = {
      vault: tx.vault,
      query: async <Row extends object>(name: string, text: string, values?: unknown[]) => {
        const rows = await counting.query<Row & { seen: number }>(name, text, values);
        read.push({ rows: rows.reduce((sum, { seen }) => sum + seen, 0), blocks: counting.blocks });
        return rows;
      },
    };
    t.same((await startedOperations(noting, PARTITION)).sort(), running);
  });
  t.equal(read.length, 3, 'a first page, and those of what is behind it');
  t.equal(
    read.reduce((sum, { rows }) => sum + rows, 0),
    ids.length,
  );
  for (const { rows, blocks } of read) {
    t.ok(rows <= LIMITS.recovered_rows, `${rows} rows`);
    t.ok(blocks < 2 * rows + 1_000, `${blocks} blocks for ${rows} rows`);
  }
});
