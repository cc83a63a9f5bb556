import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { ServiceApi } from '../../kit/api.js';
import { descendantsOf, processorOf } from '../../kit/cost/cpu.js';
import { LIMITS } from '../../kit/limits.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import { ended } from '../../kit/processes.js';
import { TemporaryFolder } from '../../kit/temporary-folder.js';
import { WORK } from '../../kit/work.js';
import { steadyPort } from '../../sandbox/steady-port.js';

/** What one start took. */
export interface Start {
  /** From the process's start to `/readyz` answering 200. */
  ready_ms: number;
  /** Processor time until then: of the service's process with its threads, and of the stand-in network's. */
  service_s: number;
  network_s: number;
}

/** While a node drains, one of a connection ends; the others wait for the next node. */
const SLOW = { ...WORK.read, input: { profile_id: 'sim-delay-2000' } };

interface Running {
  child: ChildProcess;
  url: string;
  start: Start;
}

/** Starts and stops a service again and again on one DATA_DIR, with its embedded database. */
export class Starts implements AsyncDisposable {
  readonly #program: string;
  readonly #folder: TemporaryFolder;

  /** `program`: a version's `main.js`. */
  constructor(program: string) {
    mkdirSync('.data', { recursive: true });
    this.#program = program;
    // Beside the default DATA_DIR, not in the system's temporary folder, which may be memory: fsync has to cost.
    this.#folder = new TemporaryFolder(join(process.cwd(), '.data/bench-'));
  }

  /** One start, and the stop behind it. The first one makes the database. */
  async next(): Promise<Start> {
    const { child, start } = await this.#start();
    await stop(child);
    return start;
  }

  /** The same, on a database that a node has left in the middle of its work: its connections have operations that wait. */
  async amidWork(connections: number): Promise<Start> {
    const { child, url } = await this.#start();
    const api = new ServiceApi({ url, key: readFileSync(join(this.#folder.path, 'demo-key'), 'utf8').trim() });
    const people = Array.from({ length: connections }, (_, number) => ({
      kind: 'person',
      id: `start-${Date.now()}-${number}`,
    }));
    await mapConcurrent(people, async (external_actor) => {
      const id = await api.connect({ provider: 'simulated', external_actor });
      for (const key of ['a', 'b', 'c', 'd']) {
        await api.send('POST', `/v1/connections/${id}/operations`, SLOW, { 'Idempotency-Key': id + key });
      }
    });
    await stop(child);
    return this.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  async #start(): Promise<Running> {
    const { DATABASE_URL: _, ...inherited } = process.env;
    const metrics = await steadyPort();
    const own = { DATA_DIR: this.#folder.path, PORT: '0', METRICS_PORT: String(metrics), LOG_FORMAT: 'json' };
    const began = performance.now();
    const child = spawn(process.execPath, [this.#program], {
      env: { LOG_LEVEL: 'warn', ...inherited, ...own },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
    try {
      while (!(await isReady(metrics))) {
        if (child.exitCode !== null) throw new Error(`the service ended (status ${child.exitCode})`);
        await delay(LIMITS.start_poll_ms);
      }
      const ready_ms = performance.now() - began;
      const start = { ready_ms, ...processorTimes(child.pid ?? 0) };
      const [text] = await line;
      return { child, start, url: (JSON.parse(text) as { url: string }).url };
    } catch (error) {
      await stop(child);
      throw error;
    }
  }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await ended(child);
}

async function isReady(port: number): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`);
    await body.dump();
    return statusCode === 200;
  } catch {
    return false; // it does not listen yet
  }
}

function processorTimes(pid: number): Pick<Start, 'service_s' | 'network_s'> {
  const used_s = (process: number) => (processorOf(process)?.own_ms ?? 0) / 1_000;
  const [network] = descendantsOf(pid, (command) => command.includes('/sandbox/main.js'));
  return { service_s: used_s(pid), network_s: network === undefined ? 0 : used_s(network) };
}
