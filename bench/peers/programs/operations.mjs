import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** The table of operations of the peers on PostgreSQL, and its statements. DATABASE_URL names the database. */
export function openPool(connections) {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: connections });
  return pool.on('error', (error) => process.stderr.write(`${error.stack}\n`));
}

export function createTable(pool) {
  return pool.query(`create table if not exists operation (
    id uuid primary key,
    idempotency_key text not null unique,
    capability text not null,
    input jsonb not null,
    status text not null default 'queued',
    result jsonb,
    created_at timestamptz not null default now(),
    ended_at timestamptz
  )`);
}

/** Runs `work` in one transaction on one connection. */
export async function inTransaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** Stores the operation, and its job by `enqueue`, in one transaction; the unique key decides whether it is new. */
export function submit(pool, { key, capability, input }, enqueue) {
  return inTransaction(pool, async (client) => {
    const created = await client.query(INSERT, [randomUUID(), key, capability, input]);
    if (created.rows[0]) {
      await enqueue(client, created.rows[0].id);
      return { operation: answerOf(created.rows[0]), replayed: false };
    }
    const existing = await client.query(BY_KEY, [key, capability, input]);
    return existing.rows[0].same ? { operation: answerOf(existing.rows[0]), replayed: true } : null;
  });
}

const INSERT = {
  name: 'insert',
  text: `insert into operation (id, idempotency_key, capability, input) values ($1, $2, $3, $4)
    on conflict (idempotency_key) do nothing returning id, capability, status, result, created_at`,
};
const BY_KEY = {
  name: 'by_key',
  text: `select id, capability, status, result, created_at, capability = $2 and input = $3::jsonb as same
    from operation where idempotency_key = $1`,
};

export async function read(pool, id) {
  const { rows } = await pool.query({
    name: 'read',
    text: 'select id, capability, status, result, created_at from operation where id = $1',
    values: [id],
  });
  return rows[0] && answerOf(rows[0]);
}

/** The inputs of these operations, as `{ id, input }`. */
export async function inputsOf(client, ids) {
  const text = 'select id, input from operation where id = any($1::uuid[])';
  return (await client.query({ name: 'inputs', text, values: [ids] })).rows;
}

/** Ends operations, each with its result, in one statement. */
export function finish(client, ids, results) {
  return client.query({
    name: 'finish',
    text: `update operation o set status = 'succeeded', result = ended.result, ended_at = now()
      from unnest($1::uuid[], $2::jsonb[]) ended (id, result) where o.id = ended.id`,
    values: [ids, results],
  });
}

export async function ended(pool) {
  const { rows } = await pool.query(
    `select count(*)::int as ended, coalesce(extract(epoch from max(ended_at)) * 1000, 0)::float8 as last_ms,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal_bytes,
       pg_database_size(current_database())::float8 as stored_bytes
     from operation where ended_at is not null`,
  );
  return rows[0];
}

const answerOf = (row) => ({
  id: row.id,
  capability: row.capability,
  status: row.status,
  result: row.result,
  created_at: row.created_at.toISOString(),
});
