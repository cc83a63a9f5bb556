import type { Sql } from '../../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import { machineBusy_ms, processorOf } from './cpu.js';
import { MeasuredProcesses, mapParts, PARTS, type PartTimes } from './parts.js';
import { pgServer } from './pg-server.js';

/** What a piece of work took. */
export interface Usage {
  seconds: number;
  /** Processor milliseconds. */
  cpu_ms: PartTimes;
  /** What every other process of the machine took meanwhile: with much of it, the figures say little. */
  others_ms: number;
  wal_bytes: number;
  /** Cores that each part kept busy, up to that second. */
  samples: { at: number; cores: PartTimes }[];
}

/** The one place where processor time and the write-ahead log are read. */
export class Meter {
  readonly #db: Sql;
  readonly #processes: MeasuredProcesses;

  private constructor(db: Sql, processes: MeasuredProcesses) {
    this.#db = db;
    this.#processes = processes;
  }

  /** `services` are the processes of the nodes, `db` a connection to their database on this machine. */
  static async open(services: number[], db: Sql): Promise<Meter> {
    const { postmaster } = await pgServer(db);
    const meter = new Meter(db, new MeasuredProcesses(services, postmaster));
    meter.#processes.read(); // idle threads show which of them have an event loop
    return meter;
  }

  /** Does the work and tells what it took. A client that answers with its own `cpu_ms` replaces what was seen of it. */
  async during<T>(work: () => Promise<T>): Promise<{ value: T; usage: Usage }> {
    const walBefore = (await pgServer(this.#db)).wal_bytes;
    const before = this.#processes.read();
    const busyBefore = otherBusy_ms();
    const startedAt = performance.now();
    const samples: Usage['samples'] = [];
    let last = { at: startedAt, times: before };
    const timer = setInterval(() => {
      const now = { at: performance.now(), times: this.#processes.read() };
      const span_ms = now.at - last.at;
      // A client that ended has taken its time with it.
      const cores = mapParts((part) => Math.max(0, (now.times[part] - last.times[part]) / span_ms));
      samples.push({ at: (now.at - startedAt) / 1_000, cores });
      last = now;
    }, LIMITS.cost_sample_ms);
    try {
      const value = await work();
      const seconds = (performance.now() - startedAt) / 1_000;
      const after = this.#processes.read();
      const busy_ms = otherBusy_ms() - busyBefore;
      const wal_bytes = (await pgServer(this.#db)).wal_bytes - walBefore;
      const cpu_ms = mapParts((part) => Math.max(0, after[part] - before[part]));
      const measured_ms = PARTS.reduce((sum, part) => sum + cpu_ms[part], 0);
      const others_ms = Math.max(0, busy_ms - measured_ms);
      return { value, usage: { seconds, cpu_ms, others_ms, wal_bytes, samples } };
    } finally {
      clearInterval(timer);
    }
  }
}

/** The machine without this process, which only measures. */
function otherBusy_ms(): number {
  return machineBusy_ms() - (processorOf(process.pid)?.own_ms ?? 0);
}
