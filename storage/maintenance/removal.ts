import { EVERY_OPERATION } from '../connections/stopping.js';
import { isMailboxOf, MAILBOX } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import { bytesOf, withinBytes } from '../model/operation-bytes.js';
import type { Database, Sql } from '../postgres/database.js';

/**
 * Removing the rows of a deleted connection, slice by slice, each a transaction of its own. Slices of one connection exclude each
 * other on all nodes, wait for no row that is locked, and may be repeated: whoever comes after a crash begins again.
 */
export interface DeletedConnection {
  id: string;
  partition: number;
  /** Since it was deleted, by the database's clock. */
  age_ms: number;
}

/** The connections whose rows are to go, but for these, the longest deleted first. Index: connection_deleted. */
export function deletedConnections(sql: Sql, but: readonly string[]): Promise<DeletedConnection[]> {
  return sql.query<DeletedConnection>(
    'deletedConnections',
    `select id, partition, extract(epoch from clock_timestamp() - deleted_at)::float8 * 1000 as age_ms from connection
     where deleted_at is not null and id <> all($2) order by deleted_at, id limit $1`,
    [LIMITS.removal_connections, but],
  );
}

/**
 * One slice of `rows` at most, `LIMITS.removal_rows` unless told, from the row after `after` on. `last` is where the next one goes on; null
 * when this one found nothing.
 */
export type Slice = (tx: Sql, connectionId: string, after: string, rows?: number) => Promise<{ last: string | null }>;

/** Another node is at this connection just now. */
export const ELSEWHERE = 'elsewhere';

const REMOVAL_LOCK = 7_301_847;

/** Runs one slice, unless another node runs one of the same connection. A slice that a crash of the database undoes is repeated. */
export function inSlice(
  db: Database,
  connectionId: string,
  slice: Slice,
  after: string,
  rows?: number,
): Promise<{ last: string | null } | typeof ELSEWHERE> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ mine: boolean }>(
      'lockRemoval',
      `select pg_try_advisory_xact_lock($1, hashtext($2)) as mine, set_config('synchronous_commit', 'off', true)`,
      [REMOVAL_LOCK, connectionId],
    );
    return row?.mine ? slice(tx, connectionId, after, rows) : ELSEWHERE;
  });
}

/** Before every id and every rank. */
export const FROM_THE_START = { id: '00000000-0000-0000-0000-000000000000', rank: '0' } as const;
const FROM_THE_END = EVERY_OPERATION;

/** Notes the used keys: a reused one conflicts and never sends again (CONN-7). In their order, as everywhere: two that note the same wait, and do not deadlock. */
export const keepKeys: Slice = async (tx, connectionId, after, rows = LIMITS.removal_rows) => {
  const [page] = await tx.query<{ last: string | null }>(
    'keepKeys',
    `with page as materialized (
       select id, workspace_id, idempotency_key from operation where connection_id = $1 and id > $2::uuid order by id limit $3
     ), kept as (
       insert into idempotency_tombstone (workspace_id, key_hash)
       select workspace_id, sha256(convert_to(idempotency_key, 'UTF8')) as key_hash from page order by workspace_id, key_hash
       on conflict do nothing
     )
     select (select id from page order by id desc limit 1) as last`,
    [connectionId, after, rows],
  );
  return page ?? { last: null };
};

/**
 * Operations with their files, the newest first: those stand in the way of a list of the workspace's operations. Their keys are noted once more, for one that was stored while the first pass went on.
 * While there are many parts of files, a slice takes only those.
 */
const dropOperations: Slice = async (tx, connectionId, after, rows = LIMITS.removal_rows) => {
  const page = await tx.query<{ id: string; bytes: number }>(
    'pageOfOperations',
    `select o.id, ${bytesOf('o')} as bytes from operation o where o.connection_id = $1 and o.id < $2::uuid order by o.id desc limit $3
     for update skip locked`,
    [connectionId, after, rows],
  );
  const operations = withinBytes(page, LIMITS.removal_bytes);
  const last = operations.at(-1)?.id ?? null;
  if (last === null) return { last };
  const ids = operations.map(({ id }) => id);
  const parts = Math.min(rows, LIMITS.removal_file_parts);
  const files = await tx.query(
    'dropFileParts',
    `delete from operation_file where (operation_id, attempt_id, part) in (
       select operation_id, attempt_id, part from operation_file where operation_id = any($1) limit $2) returning part`,
    [ids, parts],
  );
  if (files.length === parts) return { last: after };
  await tx.query(
    'keepKeysOf',
    `insert into idempotency_tombstone (workspace_id, key_hash)
     select workspace_id, sha256(convert_to(idempotency_key, 'UTF8')) as key_hash from operation where id = any($1)
     order by workspace_id, key_hash on conflict do nothing`,
    [ids],
  );
  await tx.query('dropOperations', 'delete from operation where id = any($1)', [ids]);
  return { last };
};

/** Deliveries, with their attempts, of one subscription after the other; then that subscription. */
const dropDeliveries: Slice = async (tx, connectionId, after, rows = LIMITS.removal_rows) => {
  const [subscription] = await tx.query<{ id: string }>(
    'nextSubscription',
    'select id from subscription where connection_id = $1 and id >= $2::uuid order by id limit 1',
    [connectionId, after],
  );
  if (!subscription) return { last: null };
  const [dropped] = await tx.query<{ rows: number }>(
    'dropDeliveries',
    `with page as materialized (
       select id from delivery where subscription_id = $1 order by rank limit $2 for update skip locked
     ), gone as (delete from delivery d using page p where d.id = p.id)
     select count(*) as rows from page`,
    [subscription.id, rows],
  );
  if ((dropped?.rows ?? 0) === rows) return { last: subscription.id };
  await tx.query('dropSubscription', 'delete from subscription where id = $1', [subscription.id]);
  return { last: subscription.id };
};

/** Rows of a table that has the connection's id and, beside it, a column that puts them in order. */
const dropRows =
  (table: string, key: string, type: 'uuid' | 'bigint'): Slice =>
  async (tx, connectionId, after, rows = LIMITS.removal_rows) => {
    const [page] = await tx.query<{ last: string | null }>(
      `dropRows.${table}`,
      `with page as materialized (
         select ${key} as key from ${table} where connection_id = $1 and ${key} > $2::${type} order by ${key} limit $3
         for update skip locked
       ), gone as (
         delete from ${table} t using page p where t.connection_id = $1 and t.${key} = p.key
       )
       select (select key::text from page order by page.key desc limit 1) as last`,
      [connectionId, after, rows],
    );
    return page ?? { last: null };
  };

/** All that goes, in this order: what shows in the lists of a workspace first. */
export const DROPS: readonly { drop: Slice; from: string }[] = [
  { drop: dropOperations, from: FROM_THE_END },
  { drop: dropDeliveries, from: FROM_THE_START.id },
  // Positions last: who looks for events by them, to erase a person, finds those that are left.
  { drop: dropRows('event', 'id', 'uuid'), from: FROM_THE_START.id },
  { drop: dropRows('event_position', 'rank', 'bigint'), from: FROM_THE_START.rank },
  { drop: dropRows('simulated_invitation', 'operation_id', 'uuid'), from: FROM_THE_START.id },
  { drop: dropRows('listener_gap', 'id', 'uuid'), from: FROM_THE_START.id },
];

/** Deletes the connection's own row, the last one, with its mailbox and the few rows that hang on it; false while there is more than that. */
export async function dropConnection(sql: Sql, connectionId: string): Promise<boolean> {
  const tables = ['operation', 'subscription', 'event', 'event_position', 'simulated_invitation', 'listener_gap'];
  const empty = tables.map((table) => `not exists (select from ${table} where connection_id = $1)`);
  const rows = await sql.query<{ id: string }>(
    'dropConnection',
    `with gone as (
       delete from connection where id = $1 and deleted_at is not null and ${empty.join(' and ')} returning id, partition
     ), mailbox as (
       delete from ${MAILBOX} j using gone g where ${isMailboxOf('g.partition', 'g.id')}
     )
     select id from gone`,
    [connectionId],
  );
  return rows.length > 0;
}
