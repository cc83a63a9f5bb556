import { PgBoss } from 'pg-boss';
import { serve } from '../http.mjs';
import { createTable, ended, openPool, read, submit } from '../operations.mjs';
import { QUEUE } from './queue.mjs';

/** Fastify, pg and pg-boss: the row and its job are stored in the request's transaction. */
const pool = openPool(32);
await createTable(pool);
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, supervise: false, schedule: false, max: 2 });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
await boss.createQueue(QUEUE);

await serve({
  submit: (submission) =>
    submit(pool, submission, (client, id) => {
      const db = { executeSql: (text, values) => client.query(text, values) };
      return boss.insert(QUEUE, [{ id }], { db });
    }),
  read: (id) => read(pool, id),
  ended: () => ended(pool),
  async idle() {
    const live = `select not exists (select from pgboss.job where name = $1 and state < 'completed') as idle`;
    return (await pool.query(live, [QUEUE])).rows[0].idle;
  },
});
