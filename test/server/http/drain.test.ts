import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { drainSwitch } from '../../../server/http/drain.js';
import { awaitSettled } from '../../../server/routes/operations/operations.js';
import type { OperationRow } from '../../../storage/model/records.js';

type Waited = Parameters<typeof awaitSettled>[0];

const RUNNING = { id: 'operation', status: 'running' } as OperationRow;
const ENDED = { id: 'operation', status: 'succeeded' } as OperationRow;

/** What a wait is given: its operation ends when it is looked at for the `looks`th time, its client stays. */
function services(drain = drainSwitch(), looks = 2): Waited {
  let look = 0;
  return {
    drain,
    parked: (wait: Promise<unknown>) => wait,
    system: { awaitable: () => Promise.resolve() },
    load: { operation: async () => (++look % looks === 0 ? ENDED : RUNNING) },
    gone: () => new Promise<void>(() => {}),
  } as unknown as Waited;
}

t.test(
  'whoever waits is called once when the edge drains, at once when it does, and not after taking it back',
  async (t) => {
    const drain = drainSwitch();
    const called: string[] = [];
    drain.onBegin(() => called.push('one'));
    const forget = drain.onBegin(() => called.push('two'));
    forget();
    drain.begin();
    drain.begin();
    drain.onBegin(() => called.push('three'));
    t.strictSame(called, ['one', 'three']);
    t.equal(drain.draining, true);
  },
);

t.test('a wait ends when the edge drains', async (t) => {
  const drain = drainSwitch();
  const asked = Promise.withResolvers<void>();
  const waiting = { ...services(drain, Number.POSITIVE_INFINITY) };
  waiting.system = {
    awaitable: () => {
      asked.resolve();
      return new Promise<void>(() => {});
    },
  } as unknown as Waited['system'];
  const answer = awaitSettled(waiting, RUNNING, 30_000);
  await asked.promise;
  drain.begin();
  t.equal((await answer)?.status, 'running');
});

t.test('a hundred thousand waits leave nothing behind', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap_mib = () => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const drain = drainSwitch();
  const wait = async (times: number) => {
    for (let n = 0; n < times; n++) await awaitSettled(services(drain), RUNNING, 1_000);
  };
  await wait(1_000);
  const before = heap_mib();
  await wait(100_000);
  const grown = heap_mib() - before;
  t.ok(grown < 10, `${grown.toFixed(1)} MiB`);
});
