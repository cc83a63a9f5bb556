import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { PendingSubmissions } from '../../../actors/node/pending-submissions.js';
import type { SubmitOutcome } from '../../../actors/system.js';

const STORED: SubmitOutcome = { kind: 'replayed', operationId: 'x' };
const BATCH = LIMITS.committer_batch_submissions;

/** A thread that answers in order, when it is told to. */
function thread() {
  const pending = new PendingSubmissions();
  const sent: number[] = [];
  const outcomes: Promise<SubmitOutcome>[] = [];
  return {
    pending,
    submit(count: number) {
      for (let n = 0; n < count; n++) outcomes.push(pending.add((request) => sent.push(request) > 0));
    },
    answer(count: number) {
      for (const request of sent.splice(0, count)) pending.answer(request, STORED);
    },
    /** How many of those asked for since the last call were refused; the others must have been answered. */
    async refused() {
      const all = await Promise.all(outcomes.splice(0));
      return all.filter(({ kind }) => kind === 'overloaded').length;
    },
  };
}

t.test('what one statement stores is never refused, however slow the last ones were', async (t) => {
  const { submit, answer, refused } = thread();
  submit(1);
  await delay(2 * LIMITS.submission_wait_ms);
  submit(BATCH - 1);
  answer(BATCH);
  t.equal(await refused(), 0);
});

t.test('submissions are refused at once when their turn would come too late', async (t) => {
  const { submit, answer, refused } = thread();
  submit(BATCH + 100);
  await delay(LIMITS.submission_rate_ms + 50);
  answer(50); // some 170 a second: the 306 that wait take nearly two seconds
  submit(20);
  answer(BATCH + 50);
  t.equal(await refused(), 20);
  submit(20);
  answer(20);
  t.equal(await refused(), 0, 'and taken again when the queue is short');
});

t.test('a fast thread takes far more than one statement stores', async (t) => {
  const { submit, answer, refused } = thread();
  submit(10 * BATCH);
  await delay(LIMITS.submission_rate_ms + 10);
  answer(8 * BATCH);
  submit(4 * BATCH);
  answer(6 * BATCH);
  t.equal(await refused(), 0);
});

t.test('the inputs on their way take bounded memory, and small ones go on', async (t) => {
  const pending = new PendingSubmissions();
  const large = 2 ** 20;
  const outcomes = Array.from({ length: 40 }, () => pending.add(() => true, large));
  const bound = LIMITS.submissions_bytes / large;
  t.strictSame(await Promise.all(outcomes.slice(bound)), Array(40 - bound).fill({ kind: 'overloaded', what: 'node' }));
  const small = pending.add(() => true);
  for (let request = 0; request <= bound; request++) pending.answer(request, STORED);
  pending.answer(0, STORED);
  t.strictSame(await small, STORED);
  const again = Array.from({ length: bound }, () => pending.add(() => true, large));
  pending.fail();
  t.strictSame(new Set((await Promise.all(again)).map(({ kind }) => kind)), new Set(['failed']));
});
