import { treeTime_ms } from '../../kit/cost/cpu.js';

/** One kind of work: does it once for the worker of this number. */
export type Work = (worker: number) => Promise<unknown>;

export interface Rate {
  perSecond: number;
  done: number;
  /** Processor time of one operation, of this process with its browsers. */
  cpu_ms: number;
}

/** Measures that many workers for so many seconds, after one operation of each that is not measured. */
export async function measureRate(once: Work, concurrency: number, seconds: number): Promise<Rate> {
  const workers = Array.from({ length: concurrency }, (_, worker) => worker);
  await Promise.all(workers.map(once));
  const [cpu, started] = [ownCpu(), performance.now()];
  const until = started + seconds * 1_000;
  let done = 0;
  await Promise.all(
    workers.map(async (worker) => {
      while (performance.now() < until) {
        await once(worker);
        done += 1;
      }
    }),
  );
  return { done, perSecond: (done * 1_000) / (performance.now() - started), cpu_ms: (ownCpu() - cpu) / done };
}

/** Milliseconds of this process and its browsers; the network's processes are not counted. */
function ownCpu(): number {
  return treeTime_ms(process.pid, (command) => !command.includes('/sandbox/main.js'));
}
