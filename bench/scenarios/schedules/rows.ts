import { v7 as uuidv7 } from 'uuid';
import { type OperationStatus, partitionOf } from '../../../storage/model/records.js';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';

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

/**
 * A workspace with new connections, in these partitions by turns, which are this node's. Nothing of the schedules before is left in the
 * partitions.
 */
export async function lay(
  db: Database,
  { partitions, connections, owner }: { partitions: number[]; connections: number; owner: string },
): Promise<Ground & { owned: OwnedPartition[] }> {
  const workspaceId = uuidv7();
  const of = Array.from({ length: connections }, (_, n) => {
    const partition = partitions[n % partitions.length] as number;
    return { id: idIn(partition), partition };
  });
  const owned = await db.query<OwnedPartition>(
    'scheduleGround',
    `with cleared as (
       delete from pgboss.job_common where name = any(select 'mailbox-' || p from unnest($2::smallint[]) p)
     ), workspace as (
       insert into workspace (id, name) values ($1, 'schedule')
     )
     update partition set node_id = $3, epoch = epoch + 1, lease_until = now() + interval '1 day' where id = any($2) returning id, epoch`,
    [workspaceId, partitions, owner],
  );
  await db.query(
    'scheduleConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select c.id, $1, c.p, 'simulated', 'person:' || c.id, 'person', c.id::text, 'ready' from unnest($2::uuid[], $3::smallint[]) c(id, p)`,
    [workspaceId, of.map(({ id }) => id), of.map(({ partition }) => partition)],
  );
  return { workspaceId, partitions, connections: of, owned };
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
  status: OperationStatus;
  error_code: string | null;
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
    `select id, idempotency_key as key, status, error_code
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
