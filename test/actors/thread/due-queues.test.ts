import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { DueQueues } from '../../../actors/thread/due-queues.js';
import { queueName } from '../../../storage/jobs/jobs.js';
import type { Database } from '../../../storage/postgres/database.js';
import { AnswerLost } from '../../../storage/postgres/liveness.js';

const ALL = Array.from({ length: 64 }, (_, id) => id);

/** A database in which each statement takes as long as the test says. */
function slowDatabase(now: { ms: number }, statement_ms: () => number) {
  const asked: number[] = [];
  const query = async (_name: string, _text: string, [queues]: [string[]]) => {
    now.ms += statement_ms();
    const partitions = new Set(queues.map((queue) => queue.split('-')[1]));
    asked.push(partitions.size);
    return queues.includes(queueName('mailbox', 5)) ? [{ name: queueName('mailbox', 5) }] : [];
  };
  return { asked, db: { query } as unknown as Database };
}

t.test('queues are looked through in a bounded part of the time, in statements that stay short', async (t) => {
  const now = { ms: 1_000 };
  t.intercept(performance, 'now', { value: () => now.ms });
  let statement_ms = 2;
  const { asked, db } = slowDatabase(now, () => statement_ms);
  const queues = new DueQueues(db);
  const look = async () => {
    const due = await queues.look(ALL);
    return { due, statements: asked.splice(0) };
  };
  const due = [{ queue: 'mailbox', partition: 5 }];
  t.strictSame(await look(), { due, statements: [64] });
  t.strictSame(await look(), { due: [], statements: [] }, 'it rests');
  now.ms += 2 * LIMITS.poll_rests;

  statement_ms = 2 * LIMITS.slow_poll_ms;
  t.strictSame(await look(), { due, statements: [64] }, 'a slow statement');
  now.ms += statement_ms * LIMITS.poll_rests - 1;
  t.strictSame((await look()).statements, [], 'is followed by a long rest');
  now.ms += 1;
  t.strictSame(await look(), { due, statements: [32, 16, 8, 4, 2, 1, 1] }, 'and by shorter ones');
  statement_ms = 1;
  now.ms += LIMITS.poll_rest_cap_ms - 1;
  t.strictSame((await look()).statements, []);
  now.ms += 1;
  t.strictSame(
    (await look()).statements,
    [1, 2, 4, 8, 16, 32, 1],
    'which grow again, after a rest that is not endless',
  );
});

t.test('a look that fails is made again with fewer queues, after its rest', async (t) => {
  const now = { ms: 0 };
  t.intercept(performance, 'now', { value: () => now.ms });
  let fails = true;
  const asked: number[] = [];
  const query = async (_name: string, _text: string, [queues]: [string[]]) => {
    asked.push(new Set(queues.map((queue) => queue.split('-')[1])).size);
    now.ms += 5_000;
    if (fails) throw new Error('canceling statement due to statement timeout');
    return [];
  };
  const queues = new DueQueues({ query } as unknown as Database);
  await t.rejects(queues.look(ALL));
  t.strictSame(await queues.look(ALL), []);
  fails = false;
  now.ms += LIMITS.poll_rest_cap_ms;
  await queues.look(ALL.slice(0, 32));
  t.strictSame(asked, [64, 32]);
});

t.test('a look that does not reach the database is made again at once: hints are lost meanwhile', async (t) => {
  let asked = 0;
  const query = async () => {
    asked++;
    throw new AnswerLost(new Error('no answer'));
  };
  const queues = new DueQueues({ query } as unknown as Database);
  for (let look = 1; look <= 3; look++) {
    await t.rejects(queues.look(ALL));
    t.equal(asked, look);
  }
});
