import type { Sql } from '../../../storage/postgres/database.js';
import { processorOf } from './cpu.js';

/** The server behind a connection: its first process on this machine, and how many bytes of log it has written. */
export async function pgServer(db: Sql): Promise<{ postmaster: number; wal_bytes: number }> {
  const [row] = await db.query<{ pid: number; wal_bytes: number }>(
    'benchServer',
    `select pg_backend_pid() as pid, (pg_current_wal_insert_lsn() - '0/0')::float8 as wal_bytes`,
  );
  if (!row) throw new Error('the database does not tell where it stands');
  const backend = processorOf(row.pid);
  if (backend?.name !== 'postgres') throw new Error('the database runs on another machine: its cost cannot be read');
  return { postmaster: backend.parent, wal_bytes: row.wal_bytes };
}
