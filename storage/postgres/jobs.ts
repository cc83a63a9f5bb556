import { createHash } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { PARTITIONS } from '../model/records.js';
import type { Database, Sql } from './database.js';

/**
 * The durable queues: two pg-boss queues a partition, `operation-<n>` and `delivery-<n>`; a job's id is the id of its
 * operation, or of a subscription that has deliveries to make (delivery-queue.ts), and it carries no data, the row does.
 *
 * pg-boss owns the schema, the queues, fetching and maintenance. The statements below write its job table
 * directly where a job must change in the same statement as our own row, for many queues at once: its API
 * takes one queue a call. What they rely on: (name, id) is the primary key; `created` is fetchable once start_after
 * has passed, `active` is not; a fetch orders by created_on. A job is deleted when its work is done: the operation's
 * row is the history. Our leases decide what is lost, so jobs never expire by themselves.
 */
export type QueueKind = 'operation' | 'delivery';

export interface JobRef {
  queue: QueueKind;
  partition: number;
  id: string;
}

export const queueName = (queue: QueueKind, partition: number): string => `${queue}-${partition}`;

/** Columns that make a job of ours outlive every timer of pg-boss: about 68 years. */
export const JOB_COLUMNS = 'id, name, state, started_on, start_after, expire_seconds, keep_until';
export const JOB_FOREVER = `2147483647, now() + interval '60 years'`;

/** A pg-boss on our pool. Only one process-wide instance supervises; every thread may fetch. */
export function openQueues(db: Database, supervise: boolean, onError: (error: Error) => void): PgBoss {
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) => {
        // Fetches are long and run all the time: prepared, they cost half (measured).
        const named = text.includes('SKIP LOCKED') && values !== undefined;
        const name = named ? createHash('sha1').update(text).digest('base64url') : undefined;
        return db.pool.query({ text, values: values ?? [], ...(name && { name }) });
      },
    },
    supervise,
    schedule: false,
    migrate: false,
    createSchema: false,
  });
  boss.on('error', onError);
  return boss;
}

/** Installs or upgrades pg-boss's schema and makes the queues of every partition. Safe to run at every start. */
export async function installQueues(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 1 });
  boss.on('error', () => {});
  await boss.start();
  try {
    const present = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      for (const kind of ['operation', 'delivery'] as const) {
        const name = queueName(kind, partition);
        if (!present.has(name)) await boss.createQueue(name, { policy: 'standard', retryLimit: 0 });
      }
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** Deletes jobs whose work is done. */
export async function finishJobs(tx: Sql, jobs: JobRef[]): Promise<void> {
  await tx.query(
    'finishJobs',
    `with held as materialized (
       select j.name, j.id from pgboss.job_common j join unnest($1::text[], $2::uuid[]) i(name, id)
         on j.name = i.name and j.id = i.id
       order by j.name, j.id for update of j
     )
     delete from pgboss.job_common j using held h where j.name = h.name and j.id = h.id`,
    [jobs.map((j) => queueName(j.queue, j.partition)), jobs.map((j) => j.id)],
  );
}

/** Deletes jobs that must not run any more (cancelled, disconnected). */
export async function removeJobs(tx: Sql, queue: QueueKind, partition: number, ids: string[]): Promise<void> {
  await finishJobs(
    tx,
    ids.map((id) => ({ queue, partition, id })),
  );
}

/** Puts every fetched job of these partitions back: their holder is gone. Part of recovery. */
export async function releaseJobs(tx: Sql, partitions: number[]): Promise<void> {
  await tx.query(
    'releaseJobs',
    `with held as materialized (
       select name, id from pgboss.job_common where name = any($1) and state = 'active' order by name, id for update
     )
     update pgboss.job_common j set state = 'created', started_on = null
     from held h where j.name = h.name and j.id = h.id`,
    [partitions.flatMap((p) => [queueName('operation', p), queueName('delivery', p)])],
  );
}

/** Of these partitions, the queues that hold a job due now: the slow poll behind lost wake-ups. */
export async function dueQueues(db: Sql, partitions: number[]): Promise<{ queue: QueueKind; partition: number }[]> {
  const rows = await db.query<{ name: string }>(
    'dueQueues',
    `select q.name from unnest($1::text[]) q(name)
     where exists (select 1 from pgboss.job_common j
       where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now())`,
    [partitions.flatMap((p) => [queueName('operation', p), queueName('delivery', p)])],
  );
  return rows.map(({ name }) => {
    const [queue, partition] = name.split('-') as [QueueKind, string];
    return { queue, partition: Number(partition) };
  });
}
