import type pg from 'pg';
import { PARTITIONS } from '../model/records.js';

/**
 * The durable queues: two pg-boss queues a partition, `mailbox-<n>` and `delivery-<n>`. The id of a job is the id of a connection with
 * operations that have not ended, or of a subscription with deliveries to make. It is deleted when nothing of it is left: the rows are the
 * history. The queues `operation-<n>` are those of the version before (`former-jobs.ts`).
 *
 * pg-boss owns the schema and the queues. `job-table.ts` holds the statements that work on its table: each stands under the fence of
 * a partition, or together with rows of ours, which pg-boss's API cannot.
 */
export const QUEUE_KINDS = ['mailbox', 'operation', 'delivery'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

export const queueName = (queue: QueueKind, partition: number): string => `${queue}-${partition}`;

/** Installs or upgrades pg-boss's schema and makes the queues of every partition. Safe to run at every start. */
export async function installQueues(client: pg.Client): Promise<void> {
  const { PgBoss } = await import('pg-boss'); // here: threads and the command line need the queues' names alone
  const executeSql = (text: string, values?: unknown[]) => client.query(text, values);
  const boss = new PgBoss({ db: { executeSql }, supervise: false, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  try {
    const present = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      for (const kind of QUEUE_KINDS) {
        const name = queueName(kind, partition);
        if (!present.has(name)) await boss.createQueue(name, { policy: 'standard', retryLimit: 0 });
      }
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}
