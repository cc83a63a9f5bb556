import { createRequire } from 'node:module';
import pg from 'pg';
import { PARTITIONS } from '../model/records.js';

/**
 * The durable queues: two pg-boss queues a partition, `mailbox-<n>` and `delivery-<n>`. The id of a job is the id of a connection with
 * operations that have not ended, or of a subscription with deliveries to make. It is deleted when nothing of it is left: the rows are the
 * history.
 *
 * pg-boss owns the schema and the queues. `job-table.ts` holds the statements that work on its table: each stands under the fence of
 * a partition, or together with rows of ours, which pg-boss's API cannot.
 */
export const QUEUE_KINDS = ['mailbox', 'delivery'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

export const queueName = (queue: QueueKind, partition: number): string => `${queue}-${partition}`;

const ALL_QUEUES = Array.from({ length: PARTITIONS }, (_, partition) =>
  QUEUE_KINDS.map((kind) => queueName(kind, partition)),
).flat();

/** The version of pg-boss's schema that the package works with. */
function wantedSchema(): number {
  const { pgboss } = createRequire(import.meta.url)('pg-boss/package.json') as { pgboss: { schema: number } };
  return pgboss.schema;
}

/** Whether pg-boss's schema is there at the version of the package, with the queues of every partition. */
async function areInstalled(client: pg.Client): Promise<boolean> {
  try {
    const { rows } = await client.query<{ version: number; queues: number }>(
      `select version::int, (select count(*)::int from pgboss.queue where name = any($1)) as queues from pgboss.version`,
      [ALL_QUEUES],
    );
    return rows[0]?.version === wantedSchema() && rows[0].queues === ALL_QUEUES.length;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) return false;
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

/** Installs or upgrades pg-boss's schema and makes the queues of every partition. Safe to run at every start. */
export async function installQueues(client: pg.Client): Promise<void> {
  if (await areInstalled(client)) return;
  const { PgBoss } = await import('pg-boss'); // here: it takes long to load, and few starts need it
  const executeSql = (text: string, values?: unknown[]) => client.query(text, values);
  const boss = new PgBoss({ db: { executeSql }, supervise: false, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  try {
    const present = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (const name of ALL_QUEUES) {
      if (!present.has(name)) await boss.createQueue(name, { policy: 'standard', retryLimit: 0 });
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}
