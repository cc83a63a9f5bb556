import { v7 as uuidv7 } from 'uuid';
import { partitionOf } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';

const BATCH = 50_000;

/** Ids in order of time, as the service makes them, of the years before it began. */
const idOf = (n: string) =>
  `(lpad(to_hex(1500000000000 + ${n}), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`;

/**
 * Stores copies of the newest operation that succeeded, from number `from` to `to`, over all connections of its workspace. What is sealed
 * becomes plain text of the same length. Like the baselines, this is SQL that no part of the service runs.
 */
export async function fillOperations(
  db: Sql,
  from: number,
  to: number,
  filled: (count: number) => void = () => {},
): Promise<void> {
  // Copies are as long as what has ended: they want no room to grow in, and lie three to a page as what grew there does.
  const [room] = await db.query<{ reloptions: string[] }>(
    'growthRoom',
    `select reloptions from pg_class where oid = 'operation'::regclass`,
  );
  await db.query('growthFull', 'alter table operation set (fillfactor = 75)');
  for (let first = from; first <= to; first += BATCH) {
    const last = Math.min(to, first + BATCH - 1);
    await db.query(
      'growthFill',
      `with template as (select * from operation where status = 'succeeded' order by id desc limit 1),
         target as (select array_agg(c.id order by c.id) as ids, array_agg(c.partition order by c.id) as partitions, count(*) as count
           from connection c join template t on t.workspace_id = c.workspace_id)
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint,
         input, result, attempts, timeline, created_at, updated_at)
       select ${idOf('n')}, t.workspace_id, c.ids[1 + n % c.count], c.partitions[1 + n % c.count], t.capability, t.status,
         'growth-' || n, t.fingerprint,
         coalesce(t.input, jsonb_build_object('filler', repeat('x', length(t.input_sealed)))),
         coalesce(t.result, jsonb_build_object('filler', repeat('x', length(t.result_sealed)))),
         t.attempts, t.timeline, t.created_at, t.updated_at
       from template t, target c, generate_series($1::bigint, $2::bigint) n`,
      [first, last],
    );
    filled(last);
  }
  await db.query('growthRoomAgain', `alter table operation set (${room?.reloptions.join(', ')})`);
  // As autovacuum would have left it by then.
  await db.query('growthVacuum', 'vacuum (analyze) operation');
}

/** Ids of copies, spread evenly over all of them. */
export async function copiedIds(db: Sql, copies: number, count: number): Promise<string[]> {
  const step = Math.max(1, Math.floor(copies / count));
  const rows = await db.query<{ id: string }>(
    'growthIds',
    `select ${idOf('n')} as id from generate_series(1, $1::bigint, $2::bigint) n`,
    [copies, step],
  );
  return rows.map(({ id }) => id);
}

/** Adds connections like the newest one, each with an actor of its own; gives their ids. */
export async function fillConnections(db: Sql, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7());
  for (let first = 0; first < count; first += BATCH) {
    const batch = ids.slice(first, first + BATCH);
    await db.query(
      'growthConnections',
      `with template as (select * from connection order by id desc limit 1)
       insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
       select n.id, t.workspace_id, n.partition, t.provider, 'growth-' || n.id, t.actor_kind, 'growth-' || n.id, t.health
       from template t, unnest($1::uuid[], $2::smallint[]) n(id, partition)`,
      [batch, batch.map(partitionOf)],
    );
  }
  return ids;
}
