import { Logger, run } from 'graphile-worker';
import { finish, inputsOf } from '../operations.mjs';
import { profileOf } from '../profile.mjs';

/**
 * Executes each job by itself, with the batches of fetches and completions of graphile-worker's page on performance, and without its
 * line of log for each job.
 */
const preset = {
  worker: {
    connectionString: process.env.DATABASE_URL,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`${message}\n`);
});

const runner = await run({
  preset,
  logger,
  taskList: {
    operation: ({ id }, { withPgClient }) =>
      withPgClient(async (client) => {
        const [operation] = await inputsOf(client, [id]);
        await finish(client, [id], [profileOf(operation.input)]);
      }),
  },
});
await runner.promise;
