import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { variablesOf } from '../../bench/scenarios/chaos/extremes/draw.js';
import { FAULT_KINDS } from '../../bench/scenarios/chaos/faults/kinds.js';
import { type PlannedFault, planFaults, type ScheduleOptions } from '../../bench/scenarios/chaos/faults/schedule.js';

/** A seed with which every kind of fault fits into so short a run. */
const RUN = { seed: 1103, minutes: 22 / 60, nodes: 2, every: 0.6 };

const schedule = (changes: Partial<ScheduleOptions> = {}): PlannedFault[] =>
  planFaults({
    seed: RUN.seed,
    duration_ms: RUN.minutes * 60_000,
    targets: { node: RUN.nodes, database: 1, account: 2, receiver: 3 },
    every_ms: RUN.every * 1_000,
    without: new Set(),
    ...changes,
  });

t.test('a seed gives the same faults again, another one others', async (t) => {
  t.same(schedule(), schedule());
  t.notSame(schedule(), schedule({ seed: 2 }));
});

t.test('every kind comes, but for those that the machine cannot make, and all end before the load does', async (t) => {
  const kinds = (faults: PlannedFault[]) => new Set(faults.map(({ kind }) => kind));
  t.same(kinds(schedule()), new Set(FAULT_KINDS));
  t.notOk(kinds(schedule({ without: new Set(['database_disk_full']) })).has('database_disk_full'));
  for (const { at_ms, lasts_ms } of schedule()) t.ok(at_ms + lasts_ms <= RUN.minutes * 60_000 - 2_000);
});

t.test('thirty minutes hold more than two hundred faults', async (t) => {
  const faults = schedule({ duration_ms: 30 * 60_000, every_ms: 5_000 });
  t.ok(faults.length > 200, `${faults.length}`);
});

t.test('a tampered thread has the clock it was given, and one of a node crashes when it is ordered to', async (t) => {
  const folder = t.testdir({
    orders: { clock: '-180000', crash: '' },
    actors: { thread: { 'host.js': 'setTimeout(() => {}, 60_000)' } },
    'main.mjs': `
      import { Worker } from 'node:worker_threads';
      const off = () => Math.round((Date.now() - performance.timeOrigin - performance.now()) / 1000);
      const seen = [off(), Math.round((new Date() - Date.now()) / 1000), new Date(0).getTime()];
      const worker = new Worker(new URL('./actors/thread/host.js', import.meta.url));
      worker.once('error', (error) => console.log(JSON.stringify({ seen, error: error.message })));
    `,
  });
  const tampering = new URL('../../bench/scenarios/chaos/parts/tampering.js', import.meta.url).href;
  const env = { CHAOS_ORDERS: join(folder, 'orders'), CHAOS_POLL_MS: '10' };
  const args = ['--import', tampering, join(folder, 'main.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  t.same(JSON.parse(stdout), { seen: [-180, 0, 0], error: 'this thread was ordered to crash' });
  t.notOk(existsSync(join(folder, 'orders/crash')), 'the order is taken');
});

t.test(
  'a tampered program has the limits that it was given before it reads them, in every thread, and ids of another clock',
  async (t) => {
    const folder = t.testdir({
      orders: {},
      actors: {
        'limits.js': 'export const LIMITS = { poll_ms: 1000, kept_ms: 7 };',
        thread: {
          'host.js': `
        import { parentPort } from 'node:worker_threads';
        import { LIMITS } from '../limits.js';
        import { idTime } from '../../storage/model/new-id.js';
        parentPort.postMessage([LIMITS, Math.round((idTime() - Date.now()) / 1000)]);`,
        },
      },
      storage: { model: { 'new-id.js': 'export const idTime = () => Date.now();' } },
      server: {
        'main.js': `
        import { Worker } from 'node:worker_threads';
        import { LIMITS } from '../actors/limits.js';
        const worker = new Worker(new URL('../actors/thread/host.js', import.meta.url));
        worker.once('message', (seen) => console.log(JSON.stringify([LIMITS.poll_ms, ...seen])));`,
      },
      'package.json': '{ "type": "module" }',
    });
    const program = join(folder, 'server/main.js');
    const tampering = new URL('../../bench/scenarios/chaos/parts/tampering.js', import.meta.url).href;
    const given = variablesOf({ ids_off_ms: -4_000, limits: { 'actors.poll_ms': 5, 'actors.unknown_ms': 1 } });
    const env = { CHAOS_ORDERS: join(folder, 'orders'), CHAOS_PROGRAM: program, ...given };
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', tampering, program], {
      env: { ...env, CHAOS_LIMITS: JSON.stringify({ 'actors/limits.js': { poll_ms: 5, unknown_ms: 1 } }) },
    });
    t.same(JSON.parse(stdout), [5, { poll_ms: 5, kept_ms: 7 }, -4], 'what its version does not have is left out');
  },
);
