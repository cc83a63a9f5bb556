import type { Sql } from '../../../storage/postgres/database.js';
import { TABLES } from './tables.js';

const BATCH = 50_000;
const DAY_ms = 24 * 60 * 60_000;

export interface Filling {
  /** Operations, and as many events, each with a delivery and an attempt. */
  rows: number;
  /** How many of them become a day old each second, from now on. */
  rate: number;
  /** The subscription of the workspace whose deliveries they are. */
  subscriptionId: string;
}

/** A UUIDv7 of the time `ms`, which is told from others of that time by `n`. */
const idAt = (ms: string, n: string) =>
  `(lpad(to_hex(${ms}), 12, '0') || '7' || lpad(to_hex(${n} % 4096), 3, '0') || '8' || lpad(to_hex(${n}), 15, '0'))::uuid`;

/**
 * Stores operations that ended about a day ago, copies of the newest one that succeeded, and events that were delivered then: the first is
 * a day old now. The lists of the connections are to be empty. Like the baselines, this is SQL that no part of the service runs.
 */
export async function fillAged(
  db: Sql,
  { rows, rate, subscriptionId }: Filling,
  filled: (count: number) => void,
): Promise<void> {
  const from_ms = Date.now() - DAY_ms;
  const at = `($3::bigint + (n * 1000.0 / $4)::bigint)`;
  const members = `target as materialized (
    select array_agg(m.connection_id order by m.connection_id) as ids, array_agg(m.partition order by m.connection_id) as partitions,
      array_agg(m.id order by m.connection_id) as members, min(m.workspace_id::text)::uuid as workspace_id, count(*)::int as count
    from subscription m where m.parent_id = $5)`;
  const made = `now() - make_interval(secs => (extract(epoch from now()) * 1000 - ${at}) / 1000.0)`;
  for (let first = 0; first < rows; first += BATCH) {
    const values = [first, Math.min(rows, first + BATCH) - 1, from_ms, rate, subscriptionId];
    await db.query(
      'retentionOperations',
      `with template as (select * from operation where status = 'succeeded' order by id desc limit 1), ${members}
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result,
         attempts, timeline, created_at, updated_at)
       select ${idAt(at, 'n')}, c.workspace_id, c.ids[1 + n % c.count], c.partitions[1 + n % c.count], t.capability, t.status,
         'retention-' || n, t.fingerprint, coalesce(t.input, jsonb_build_object('filler', repeat('x', length(t.input_sealed)))),
         coalesce(t.result, jsonb_build_object('filler', repeat('x', length(t.result_sealed)))), t.attempts, t.timeline, ${made}, ${made}
       from template t, target c, generate_series($1::bigint, $2::bigint) n`,
      values,
    );
    await db.query(
      'retentionEvents',
      `with ${members}, event as (
         insert into event (id, workspace_id, connection_id, provider_event_id, type, received_at, data)
         select ${idAt(at, 'n')}, c.workspace_id, c.ids[1 + n % c.count], 'retention-' || n, 'operation.finished', ${made},
           jsonb_build_object('operation_id', n, 'status', 'succeeded', 'filler', repeat('x', 120))
         from target c, generate_series($1::bigint, $2::bigint) n
       )
       insert into event_position (connection_id, rank, event_id)
       select c.ids[1 + n % c.count], 1 + n / c.count, ${idAt(at, 'n')} from target c, generate_series($1::bigint, $2::bigint) n`,
      values,
    );
    await db.query(
      'retentionDeliveries',
      `with ${members}, delivery as (
         insert into delivery (id, workspace_id, subscription_id, parent_id, event_id, partition, status, attempt_count, series_attempts,
           delivered_at, rank)
         select ${idAt(at, '(n + 1000000000)')}, c.workspace_id, c.members[1 + n % c.count], $5, ${idAt(at, 'n')},
           c.partitions[1 + n % c.count], 'delivered', 1, 1, ${made}, 1 + n / c.count
         from target c, generate_series($1::bigint, $2::bigint) n
       )
       insert into delivery_attempt (id, delivery_id, sequence, outcome, status_code, started_at, completed_at)
       select ${idAt(at, '(n + 2000000000)')}, ${idAt(at, '(n + 1000000000)')}, 1, 'delivered', 204, ${made}, ${made}
       from target c, generate_series($1::bigint, $2::bigint) n`,
      values,
    );
    filled(Math.min(rows, first + BATCH));
  }
  await db.query(
    'retentionCounts',
    `with counted as (select connection_id, max(rank) as count from event_position group by connection_id), listed as (
       insert into event_list (connection_id, event_count) select connection_id, count from counted
       on conflict (connection_id) do update set event_count = excluded.event_count
     )
     update subscription s set delivery_count = c.count from counted c where s.connection_id = c.connection_id and s.parent_id = $1`,
    [subscriptionId],
  );
  // As autovacuum would have left it by then.
  for (const table of TABLES) await db.query(`retentionVacuum ${table}`, `vacuum (analyze) ${table}`);
}
