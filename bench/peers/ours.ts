import { queueStats } from '../../storage/partitions/inspection.js';
import type { Database } from '../../storage/postgres/database.js';
import { type BenchService, startService } from '../service.js';
import { cpuOf, postmasterOf } from './store.js';
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
  const postmaster = await postmasterOf(service.dataDir);
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
    idle: () => service.withDatabase((_, db) => isIdle(db)),
    ended: () => service.withDatabase((_, db) => endedOf(db)),
    // PostgreSQL is below the service's process.
    cpu() {
      const store_ms = cpuOf(postmaster);
      return { server_ms: cpuOf(service.pid) - store_ms, store_ms };
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function isIdle(db: Database): Promise<boolean> {
  const queues = await queueStats(db);
  return queues.every(({ ready, scheduled, active }) => ready + scheduled + active === 0);
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
