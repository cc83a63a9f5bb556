import { runMigrations } from 'graphile-worker';
import { serve } from '../http.mjs';
import { createTable, ended, openPool, read, submit } from '../operations.mjs';

/** Fastify, pg and graphile-worker: the row and its job are stored in the request's transaction. */
const pool = openPool(32);
await createTable(pool);
await runMigrations({ connectionString: process.env.DATABASE_URL });

const ADD_JOB = {
  name: 'add_job',
  text: `select graphile_worker.add_job('operation', json_build_object('id', $1::text))`,
};

await serve({
  submit: (submission) => submit(pool, submission, (client, id) => client.query(ADD_JOB, [id])),
  read: (id) => read(pool, id),
  ended: () => ended(pool),
  async idle() {
    return (await pool.query('select not exists (select from graphile_worker.jobs) as idle')).rows[0].idle;
  },
});
