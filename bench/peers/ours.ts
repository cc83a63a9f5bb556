import { MAILBOX, markOf } from '../../storage/jobs/mailbox-jobs.js';
import { type Database, openDatabase } from '../../storage/postgres/database.js';
import { descendantsOf, treeTime_ms } from '../kit/cost/cpu.js';
import { pgServer } from '../kit/cost/pg-server.js';
import { type BenchService, startService } from '../kit/service.js';
import type { Ended, Subject } from './subject.js';

/** Simulated connections that take the operations: one runs one operation at a time, so there are more than clients. */
export const CONNECTIONS = 256;

/** The service on a database of its own, with simulated connections: it executes as little as the peers do. */
export async function startOurs(): Promise<Subject> {
  const service = await startService();
  try {
    return await subjectOf(service);
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

async function subjectOf(service: BenchService): Promise<Subject> {
  const connectionIds = await service.createSimulated(CONNECTIONS);
  // One connection: each new one would cost the store a process.
  const url = await service.withDatabase(async (each) => each);
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'bench' });
  const { postmaster } = await pgServer(db);
  const isBelow = descendantsOf(service.pid).includes(postmaster);
  const paths = connectionIds.map((id) => `/v1/connections/${id}/operations`);
  const submissions = (capability: string, input: object) => ({ paths, body: JSON.stringify({ capability, input }) });
  return {
    url: service.addresses.url,
    authorization: `Bearer ${service.key}`,
    submissions: {
      'ours read': submissions('social.profile.get', { profile_id: 'person-NUMBER' }),
      'ours write': submissions('social.message.send', { recipient_actor_id: 'person-NUMBER', body: 'Hello NUMBER' }),
    },
    pathOf: (id) => `/v1/operations/${id}`,
    idle: () => isIdle(db),
    ended: () => endedOf(db),
    // The embedded PostgreSQL is below the service's process.
    cpu() {
      const store_ms = treeTime_ms(postmaster);
      return { server_ms: treeTime_ms(service.pid) - (isBelow ? store_ms : 0), store_ms };
    },
    async [Symbol.asyncDispose]() {
      await db.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Mailboxes stay open for a while when all in them has ended: what counts is whether anything has not. */
async function isIdle(db: Database): Promise<boolean> {
  const [found] = await db.query<{ idle: boolean }>(
    'benchIdle',
    `select not exists (select from ${MAILBOX} j join operation o on o.connection_id = j.id and o.id >= ${markOf('j.data')}
       where o.status in ('queued', 'running', 'waiting_user')) as idle`,
  );
  return found?.idle === true;
}

async function endedOf(db: Database): Promise<Ended> {
  const [found] = await db.query<Ended>(
    'endedOperations',
    `select count(*)::int as ended, coalesce(extract(epoch from max(updated_at)) * 1000, 0)::float8 as last_ms,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal_bytes,
       pg_database_size(current_database())::float8 as stored_bytes
     from operation where status = 'succeeded'`,
    [],
  );
  return found ?? { ended: 0, last_ms: 0 };
}
