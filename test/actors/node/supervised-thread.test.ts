import t from 'tap';
import { SupervisedThread } from '../../../actors/node/supervised-thread.js';

/** A thread whose task ends as `ends` has it, one entry a start; gives its states once it has ended. */
async function statesOf(ends: ('resolves' | 'throws')[], wait_ms: () => number | undefined, wanted = () => true) {
  const states: string[] = [];
  const errors: unknown[] = [];
  const thread = new SupervisedThread({
    run: () => (ends.shift() === 'resolves' ? Promise.resolve() : Promise.reject(new Error('the thread threw'))),
    died: (error) => {
      errors.push(error);
      return wait_ms();
    },
    wanted,
    onState: (kind) => states.push(kind),
  });
  await thread.keep();
  return { states, deaths: errors.length };
}

t.test('a thread that dies waits and runs again, until its task resolves', async (t) => {
  t.strictSame(await statesOf(['throws', 'throws', 'resolves'], () => 1), {
    states: ['running', 'waiting', 'running', 'waiting', 'running', 'ended'],
    deaths: 2,
  });
});

t.test('a thread that may not come back ends at once', async (t) => {
  t.strictSame(await statesOf(['throws'], () => undefined), { states: ['running', 'ended'], deaths: 1 });
});

t.test('a thread that is no longer wanted after its wait ends', async (t) => {
  t.strictSame(
    await statesOf(
      ['throws'],
      () => 1,
      () => false,
    ),
    { states: ['running', 'waiting', 'ended'], deaths: 1 },
  );
});
