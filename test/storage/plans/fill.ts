import type { Database, Sql } from '../../../storage/postgres/database.js';
import { BUSY, EPOCH, idSql, NODE, type Sizes } from './sizes.js';

/**
 * Fills the tables that grow, by SQL that no part of the service runs. A larger state takes the place of a smaller one. Connection 2 has a
 * long history of operations and events, connection 3 a long backlog of operations, subscription 2 one of deliveries. `between`: after each statement.
 */
export function fill(db: Database, sizes: Sizes, between: () => Promise<unknown> = async () => {}): Promise<void> {
  return db.transaction(async (tx) => {
    // What checks foreign keys is planned once, here too while the tables are empty.
    await tx.query('fillScans', "select set_config('enable_seqscan', 'off', true)");
    await tx.query('fillLoops', "select set_config('enable_nestloop', 'off', true)");
    for (const [index, statement] of fillStatements(sizes).entries()) {
      await tx.query(`fill${sizes.operations}-${index}`, statement);
      await between();
    }
  });
}

/** What a node has at its start: its partitions. */
export async function ownPartitions(sql: Sql): Promise<void> {
  await sql.query(
    'ownPartitions',
    `update partition set epoch = ${EPOCH}, node_id = '${NODE}', lease_until = now() + interval '1 day'`,
  );
  await sql.query('ownNode', `insert into node (id) values ('${NODE}')`);
}

/** The tables that grow with use: a statement reads of them what it needs, by an index. */
export const GROWING = [
  ...['operation', 'event', 'event_position', 'event_list', 'delivery', 'delivery_attempt', 'idempotency_tombstone'],
  ...['job_common', 'connection', 'subscription', 'announcement', 'entry', 'api_key', 'overview_step'],
  ...['unknown_outcome', 'waiting_operation', 'listener_gap', 'workspace', 'workspace_stored', 'callback_pause'],
  'audit_reveal',
] as const;

/** The table that grows which a relation is, or is a part of. */
export function growingTable(relation: string): string | undefined {
  const table = relation.replace(/^entry_.+/, 'entry');
  return GROWING.find((one) => one === table);
}

/** Their statistics stay as the run makes them. The log gets a part of all that was before this month. */
export async function stopAutovacuum(sql: Sql): Promise<void> {
  await sql.query(
    'formerPart',
    `do $$ begin execute format('create table audit.entry_past partition of audit.entry for values from (minvalue) to (%L)',
       date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'); end $$`,
  );
  const parts = await sql.query<{ part: string }>(
    'parts',
    `select inhrelid::regclass::text as part from pg_inherits where inhparent = 'audit.entry'::regclass`,
  );
  const others = GROWING.filter((table) => table !== 'entry').map(qualified);
  for (const table of [...others, ...parts.map(({ part }) => part)]) {
    await sql.query(`still${table}`, `alter table ${table} set (autovacuum_enabled = off)`);
  }
}

export async function analyze(sql: Sql): Promise<void> {
  for (const table of GROWING) await sql.query(`analyze${table}`, `analyze ${qualified(table)}`);
}

const qualified = (table: string) =>
  table === 'job_common' ? 'pgboss.job_common' : table === 'entry' ? 'audit.entry' : table;

const series = (to: number | string) => `generate_series(1, ${to}) n`;

function fillStatements({ workspaces, connections, operations, events, jobs }: Sizes): string[] {
  const half = connections / 2;
  const [quarter, history, backlog] = [Math.ceil(half / 2), operations / 10, operations / 40];
  const workspaceOf = (c: string) =>
    idSql('workspace', `(case when ${c} <= ${half} then 1 else 1 + ${c} % ${workspaces} end)`);
  const partitionOf = (c: string) => `(case when ${c} <= ${half} then ${BUSY} else ${c} % 64 end)`;
  const running = `${operations} - n between ${2 * connections} and ${3 * connections - 1}`;
  const job = (queue: string, id: string, state: string, data = 'null::jsonb') =>
    `${id}, '${queue}-' || ${partitionOf('n')}, ${state}::pgboss.job_state, now() - interval '1 hour', ${data}`;
  const insertJobs = 'insert into pgboss.job_common (id, name, state, start_after, data)';
  const orphans = (
    queue: string,
  ) => `${insertJobs} select ${idSql('other', `${queue.length} * 1000000 + n`)}, '${queue}-${BUSY}',
      'created', now() - interval '1 hour', jsonb_build_object('from', ${idSql('operation', '1')}) from ${series(jobs)}`;
  return [
    'delete from pgboss.job_common',
    'delete from connection',
    'delete from subscription',
    'delete from announcement',
    'delete from callback_pause',
    'delete from overview_step',
    'delete from workspace',
    'delete from audit_reveal',
    `insert into workspace (id, name) select ${idSql('workspace', 'n')}, 'w' || n from ${series(workspaces)}`,
    `insert into workspace_stored (workspace_id, bytes) select ${idSql('workspace', 'n')}, n from ${series(workspaces)}`,
    `insert into api_key (id, workspace_id, name, key_hash, prefix, scopes)
     select ${idSql('other', 'n')}, ${idSql('workspace', `(1 + n % ${workspaces})`)}, 'k', sha256(('key' || n)::bytea), 'cs_live_' || n, '{read}' from ${series(connections)}`,
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health, created_at)
     select ${idSql('connection', 'n')}, ${workspaceOf('n')}, ${partitionOf('n')}, 'simulated', 'person:' || n, 'person', 'a' || n,
       case when n % 50 = 0 then 'needs_login' else 'ready' end,
       now() - (${connections} - n) * interval '1 second' from ${series(connections)}`,
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result,
       epoch, attempts, timeline)
     select ${idSql('operation', 'n')}, ${workspaceOf('c')}, ${idSql('connection', 'c')}, ${partitionOf('c')}, 'social.message.send', s, 'key-' || n,
       '\\x00', '{"text":"hello"}', case when s = 'succeeded' then '{"ok":true}'::jsonb end, case when s = 'queued' then null else ${EPOCH} end,
       case when s = 'queued' then '[]' else jsonb_build_array(jsonb_build_object('id', ${idSql('attempt', 'n')}, 'number', 1, 'status', s,
         'phase', 'preparing', 'state_revision', 0, 'started_at', now(), 'completed_at', null)) end, '[{"to":"queued"}]'
     from ${series(operations)} cross join lateral (select
       (case when n <= ${history} then 2 when n <= ${history + backlog} then 3 else 1 + n % ${connections} end) as c,
       case when n > ${history} and (n <= ${history + backlog} or ${operations} - n < ${2 * connections}) then 'queued'
         when ${running} then 'running' else 'succeeded' end as s) l`,
    `insert into unknown_outcome (operation_id, partition, workspace_id) select id, partition, workspace_id from operation
     where status = 'succeeded' order by id desc limit ${operations / 20}`,
    `insert into waiting_operation (operation_id, workspace_id, connection_id) select id, workspace_id, connection_id from operation
     where status = 'succeeded' order by id desc limit ${operations / 20}`,
    `insert into idempotency_tombstone (workspace_id, key_hash)
     select ${idSql('workspace', `(1 + n % ${workspaces})`)}, sha256(('gone' || n)::bytea) from ${series(events)}`,
    `${insertJobs} select ${job('mailbox', idSql('connection', 'n'), `case when n <= ${quarter} then 'active' else 'created' end`, `jsonb_build_object('from', case when n = 3 then ${idSql('operation', String(history + 1))} else ${idSql('operation', `(${operations - 3 * connections - 1} + n)`)} end)`)}
     from ${series(connections)}`,
    orphans('mailbox'),
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, destination)
     select ${idSql('subscription', 'n')}, ${workspaceOf('n')}, ${idSql('connection', 'n')}, ${partitionOf('n')},
       '{message_received,operation.finished,delivery.exhausted}', 'https://example.com', true, '\\x00', sha256(n::text::bytea)
     from ${series(connections)}`,
    `insert into subscription (id, workspace_id, event_types, callback_url, active, secret_sealed, destination)
     values (${idSql('subscription', '0')}, ${idSql('workspace', '1')}, '{message_received}', 'https://example.com', true, '\\x00', '\\x01')`,
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, active, destination, parent_id)
     select ${idSql('subscription', `(${connections} + n)`)}, ${idSql('workspace', '1')}, ${idSql('connection', 'n')}, ${BUSY},
       '{message_received}', true, '\\x01', ${idSql('subscription', '0')} from ${series(quarter)}`,
    ...eventStatements({ connections, events, quarter }),
    `${insertJobs} select ${job('delivery', idSql('subscription', 'n'), `case when n <= ${quarter} then 'active' else 'created' end`)} from ${series(connections)}`,
    orphans('delivery'),
    `insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
     select workspace_id, id, 'operation.finished', 'told/' || n || '/' || id, '{}' from connection cross join generate_series(1, 3) n`,
    `insert into audit.entry (id, at, workspace_id, actor_kind, actor_id, action, target_ids)
     select ${idSql('other', 'n')}, now() - (${events} - n) * (interval '60 days' / ${events}), ${idSql('workspace', `(1 + n % ${workspaces})`)}, 'key', ${idSql('other', `(1 + n % ${half})`)},
       case when n % 3 = 0 then 'operation.reveal_input' else 'operation.submit' end, array[${idSql('operation', 'n')}] from ${series(events)}`,
    `insert into audit_reveal (reader, action, target_id, hour, entry_id, reads)
     select 'key ' || n, 'operation.reveal_input', ${idSql('operation', 'n')}, date_trunc('hour', now()), ${idSql('other', 'n')}, 3
     from ${series(events)} where n % 3 = 0`,
    `insert into callback_pause (destination, reason) select sha256((-n)::text::bytea), 'timeout' from ${series(half)}`,
    `insert into overview_step (workspace_id, step, node_id, accepted, succeeded, failed, canceled, unknown, waits, delivered, undelivered,
       connections, subscriptions, took)
     select ${idSql('workspace', `(1 + n % ${workspaces})`)}, now() - (n / ${workspaces}) * interval '10 seconds', '${NODE}', 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, '{1}'
     from ${series(events / 2)}`,
    `insert into listener_gap (id, connection_id, reason, closed_at) select ${idSql('other', 'n')}, ${idSql('connection', `(1 + n % ${connections})`)}, 'silent',
       now() from ${series(half)}`,
  ];
}

/** Events, and of each a delivery to the subscription of its connection, or to that of the workspace. */
function eventStatements({
  connections,
  events,
  quarter,
}: {
  connections: number;
  events: number;
  quarter: number;
}): string[] {
  const long = events / 5;
  const connection = `(case when n <= ${long} then 2 else 1 + n % ${connections} end)`;
  return [
    'delete from event',
    `insert into event (id, workspace_id, connection_id, provider_event_id, type, data)
     select ${idSql('event', 'n')}, c.workspace_id, c.id, 'e' || n, 'message_received', '{"conversation_id":"c"}'
     from ${series(events)} join connection c on c.id = ${idSql('connection', connection)}`,
    `insert into event_position (connection_id, rank, event_id)
     select connection_id, row_number() over (partition by connection_id order by id), id from event`,
    'insert into event_list (connection_id, event_count) select connection_id, count(*) from event group by connection_id',
    `insert into delivery (id, workspace_id, subscription_id, parent_id, event_id, partition, status, epoch, next_attempt_at, delivered_at, attempt_count,
       series_attempts, rank, attempt_id, attempt_started_at)
     select ${idSql('delivery', 'n')}, s.workspace_id, s.id, s.parent_id, ${idSql('event', 'n')}, s.partition, t.status, case when t.status = 'sending' then ${EPOCH} end,
       case when t.status = 'pending' then now() - interval '1 hour' + n * interval '1 millisecond' end, case when t.status = 'delivered' then now() end,
       case when t.status = 'pending' then 0 else 1 end, case when t.status = 'pending' then 0 else 1 end, row_number() over (partition by s.id order by n),
       case when t.status = 'sending' then ${idSql('attempt', 'n')} end, case when t.status = 'sending' then now() end
     from ${series(events)} cross join lateral (select ${connection} as c) l
       join subscription s on s.id = (case when n > ${long} and n % 3 = 0 and c <= ${quarter} then ${idSql('subscription', `(${connections} + c)`)}
         else ${idSql('subscription', 'c')} end)
       cross join lateral (select case when n between ${long / 2} and ${long} or n > ${events * 0.8} then 'pending'
         when n > ${events * 0.8 - Math.max(16, connections / 10)} then 'sending' when n % 10 = 0 then 'failed' else 'delivered' end as status) t`,
    `insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at, completed_at)
     select ${idSql('attempt', 'n')}, d.id, 1, d.status, now(), now()
     from ${series(events)} join delivery d on d.id = ${idSql('delivery', 'n')} where d.status not in ('pending', 'sending')`,
    'update subscription s set delivery_count = d.count from (select subscription_id, count(*) from delivery group by subscription_id) d where d.subscription_id = s.id',
  ];
}
