import { childrenOf, isPolling, processorOf, threadsOf, treeTime_ms } from './cpu.js';

/** Whose processor time is told apart, in the order in which a request meets them. */
export const PARTS = ['client', 'main', 'actors', 'helpers', 'postgres'] as const;
export type Part = (typeof PARTS)[number];

export const PART_NAMES: Record<Part, string> = {
  client: 'client',
  main: 'main thread',
  actors: 'actor threads',
  helpers: 'garbage and files',
  postgres: 'PostgreSQL',
};

/** Milliseconds of processor time of each part. */
export type PartTimes = Record<Part, number>;

export const zeroTimes = (): PartTimes => ({ client: 0, main: 0, actors: 0, helpers: 0, postgres: 0 });

export function mapParts(work: (part: Part) => number): PartTimes {
  return { ...zeroTimes(), ...Object.fromEntries(PARTS.map((part) => [part, work(part)])) };
}

/**
 * The processes of a measurement: the services, the postmaster behind them, and every other child of this process, which are clients. A
 * client that has ended is counted no more: it tells what it took by itself.
 */
export class MeasuredProcesses {
  readonly #services: number[];
  readonly #postmaster: number;
  /** Threads that were ever seen waiting for events. */
  readonly #loops = new Set<number>();

  constructor(services: number[], postmaster: number) {
    this.#services = services;
    this.#postmaster = postmaster;
  }

  /** What each part has taken since its processes began. */
  read(): PartTimes {
    const times = zeroTimes();
    for (const pid of this.#services) this.#addService(pid, times);
    times.postgres = treeTime_ms(this.#postmaster);
    for (const pid of childrenOf(process.pid)) {
      if (!this.#services.includes(pid) && pid !== this.#postmaster) times.client += processorOf(pid)?.own_ms ?? 0;
    }
    return times;
  }

  #addService(pid: number, times: PartTimes): void {
    const whole = processorOf(pid)?.own_ms ?? 0;
    const main = processorOf(`${pid}/task/${pid}`)?.own_ms ?? 0;
    let actors = 0;
    for (const tid of threadsOf(pid)) {
      const thread = processorOf(`${pid}/task/${tid}`);
      // V8's timer thread waits in an event loop as well.
      if (!thread || tid === pid || thread.name.startsWith('DelayedTask')) continue;
      if (isPolling(pid, tid)) this.#loops.add(tid);
      if (this.#loops.has(tid)) actors += thread.own_ms;
    }
    times.main += main;
    times.actors += actors;
    times.helpers += Math.max(0, whole - main - actors);
  }
}
