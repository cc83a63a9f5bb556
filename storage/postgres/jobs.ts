import { createHash } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { PARTITIONS } from '../model/records.js';
import type { Database } from './database.js';

/**
 * The durable queues: two pg-boss queues a partition, `operation-<n>` and `delivery-<n>`. The id of a job is the id of its
 * operation, or of a subscription with deliveries to make; a job carries no data, the row does. It is deleted when its
 * work is done: the rows are the history.
 *
 * pg-boss owns the schema, the queues, fetching and maintenance; `job-table.ts` holds the statements that write its table
 * together with our rows.
 */
export const QUEUE_KINDS = ['operation', 'delivery'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

export const queueName = (queue: QueueKind, partition: number): string => `${queue}-${partition}`;

/** A pg-boss on our pool. One instance of a node supervises; every thread may fetch. */
export function openQueues(db: Database, supervise: boolean, onError: (error: Error) => void): PgBoss {
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) => {
        // Fetches are long and run all the time: prepared, they cost half (measured).
        const named = text.includes('SKIP LOCKED') && values !== undefined;
        const name = named ? createHash('sha1').update(text).digest('base64url') : undefined;
        return db.run({ text, values: values ?? [], ...(name && { name }) });
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
      for (const kind of QUEUE_KINDS) {
        const name = queueName(kind, partition);
        if (!present.has(name)) await boss.createQueue(name, { policy: 'standard', retryLimit: 0 });
      }
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}
