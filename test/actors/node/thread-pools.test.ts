import t from 'tap';
import { endThreads, openThreadPools } from '../../../actors/node/thread-pools.js';

t.test('threads that still load are ended once they have', async (t) => {
  const { actors, browsers } = openThreadPools({ actorThreads: 2, browserThreads: 1 });
  const threads = actors.threads;
  t.equal(threads.length, 2);
  t.equal(browsers.threads.length, 0, 'those of browsers are made with their tasks');
  const steps = threads.map((thread) => {
    const seen: string[] = [];
    thread.once('message', () => seen.push('loaded'));
    thread.once('exit', () => seen.push('ended'));
    return seen;
  });
  await endThreads(actors, browsers);
  t.strictSame(steps, new Array(2).fill(['loaded', 'ended']));
});
