import { Worker } from 'bullmq';
import { profileOf } from '../profile.mjs';
import { connection, QUEUE } from './queue.mjs';

/** What the job gives is kept with it, as BullMQ does by default. */
const worker = new Worker(QUEUE, async (job) => profileOf(job.data), { connection, concurrency: 100 });
worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
