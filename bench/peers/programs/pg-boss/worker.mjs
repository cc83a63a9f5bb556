import { setTimeout as delay } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { finish, inputsOf, inTransaction, openPool } from '../operations.mjs';
import { profileOf } from '../profile.mjs';
import { QUEUE } from './queue.mjs';

/**
 * Fetches jobs in batches and ends each batch with the completion of its jobs in one transaction. Its own loops, because `work()` of
 * pg-boss waits between two fetches; two of them, so that one executes while the other waits for PostgreSQL.
 */
const LOOPS = 2;
const BATCH_JOBS = 256;
const IDLE_MS = 50;

const pool = openPool(LOOPS);
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: LOOPS });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();

async function loop() {
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: BATCH_JOBS });
    if (jobs.length === 0) {
      await delay(IDLE_MS);
      continue;
    }
    await inTransaction(pool, async (client) => {
      const operations = await inputsOf(
        client,
        jobs.map(({ id }) => id),
      );
      const ids = operations.map(({ id }) => id);
      await finish(
        client,
        ids,
        operations.map(({ input }) => profileOf(input)),
      );
      const db = { executeSql: (text, values) => client.query(text, values) };
      await boss.complete(QUEUE, ids, null, { db });
    });
  }
}

await Promise.all(Array.from({ length: LOOPS }, loop));
