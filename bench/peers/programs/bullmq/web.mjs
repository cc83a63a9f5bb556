import { Job, Queue } from 'bullmq';
import { serve } from '../http.mjs';
import { connection, QUEUE } from './queue.mjs';

/** Fastify and BullMQ: the id of a job is the idempotency key, so Redis keeps one job a key; a second one changes nothing. */
const queue = new Queue(QUEUE, { connection });

await serve({
  async submit({ key, capability, input }) {
    const job = await queue.add(capability, input, { jobId: key });
    return { operation: answerOf(job), replayed: false };
  },
  async read(id) {
    const job = await Job.fromId(queue, id);
    return job && answerOf(job);
  },
  async idle() {
    const counts = await queue.getJobCounts('wait', 'active', 'prioritized', 'delayed');
    return Object.values(counts).every((count) => count === 0);
  },
  async ended() {
    const [last] = await queue.getCompleted(0, 0);
    return { ended: await queue.getCompletedCount(), last_ms: last?.finishedOn ?? 0 };
  },
});

function answerOf(job) {
  return {
    id: job.id,
    capability: job.name,
    status: job.finishedOn ? 'succeeded' : job.processedOn ? 'running' : 'queued',
    result: job.returnvalue ?? null,
    created_at: new Date(job.timestamp).toISOString(),
  };
}
