import { v7 as uuidv7 } from 'uuid';
import { type OperationStatus, partitionOf } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';

/** What a schedule has in the database. */
export interface Ground {
  workspaceId: string;
  partitions: number[];
  connections: { id: string; partition: number }[];
}

/** A new connection id of this partition. */
function idIn(partition: number): string {
  for (;;) {
    const id = uuidv7();
    if (partitionOf(id) === partition) return id;
  }
}

/** A workspace with new connections, the first two in different partitions; nothing of the schedules before is left in these. */
export async function lay(db: Database, partitions: number[], connections: number): Promise<Ground> {
  const workspaceId = uuidv7();
  const of = Array.from({ length: connections }, (_, n) => {
    const partition = partitions[n % partitions.length] as number;
    return { id: idIn(partition), partition };
  });
  await db.query(
    'scheduleWorkspace',
    `with cleared as (
       delete from pgboss.job_common where name = any(select 'mailbox-' || p from unnest($2::smallint[]) p)
     ), free as (
       update partition set node_id = null, lease_until = '-infinity' where id = any($2)
     )
     insert into workspace (id, name) values ($1, 'schedule')`,
    [workspaceId, partitions],
  );
  await db.query(
    'scheduleConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select c.id, $1, c.p, 'simulated', 'person:' || c.id, 'person', c.id::text, 'ready' from unnest($2::uuid[], $3::smallint[]) c(id, p)`,
    [workspaceId, of.map(({ id }) => id), of.map(({ partition }) => partition)],
  );
  return { workspaceId, partitions, connections: of };
}

/** Live operations of these connections that stand in no mailbox, or before the mark of theirs. */
export async function orphans(db: Database, connections: string[]): Promise<{ key: string; status: string }[]> {
  return db.query(
    'scheduleOrphans',
    `select o.idempotency_key as key, o.status from operation o
     where o.connection_id = any($1::uuid[]) and o.status in ('queued', 'running', 'waiting_user')
       and not exists (select 1 from pgboss.job_common j
         where j.name = 'mailbox-' || o.partition and j.id = o.connection_id and (j.data ->> 'from')::uuid <= o.id)`,
    [connections],
  );
}

/** What runs of a connection, as its rows show it. */
export function runningOf(db: Pick<Database, 'query'>, connectionId: string): Promise<{ key: string }[]> {
  return db.query(
    'scheduleRunning',
    `select idempotency_key as key from operation where connection_id = $1 and status in ('running', 'waiting_user')`,
    [connectionId],
  );
}

export interface OperationLeft {
  id: string;
  key: string;
  connection_id: string;
  status: OperationStatus;
  capability: string;
  past_boundary: boolean;
}

export interface JobLeft {
  id: string;
  state: string;
}

/** What is left of a schedule. */
export async function whatIsLeft(
  db: Database,
  ground: Ground,
): Promise<{ operations: OperationLeft[]; jobs: JobLeft[] }> {
  const operations = await db.query<OperationLeft>(
    'scheduleOperations',
    `select id, idempotency_key as key, connection_id, status, capability,
       coalesce(attempts -> -1 ->> 'phase' = 'dispatching', false) as past_boundary
     from operation where connection_id = any($1::uuid[]) order by id`,
    [ground.connections.map(({ id }) => id)],
  );
  const jobs = await db.query<JobLeft>(
    'scheduleJobs',
    `select id, state::text from pgboss.job_common where name = any(select 'mailbox-' || p from unnest($1::smallint[]) p)`,
    [ground.partitions],
  );
  return { operations, jobs };
}
