import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import typia from 'typia';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { connectDatabase } from '../storage/postgres/embedded.js';
import { ServiceApi } from './api.js';
import { onCores } from './cores.js';
import { mapConcurrent } from './map-concurrent.js';
import { profileArguments } from './profile.js';
import { TemporaryFolder } from './temporary-folder.js';

interface Addresses {
  url: string;
  /** Prometheus text. */
  metricsUrl: string;
  /** Steers the stand-in network. */
  controlUrl: string;
  /** Where the process's inspector listens; undefined unless it was started with one. */
  inspectorUrl: string | undefined;
}

const PROGRAM = new URL('../server/main.js', import.meta.url).pathname;

/** The real service as a child process, on a database of its own under `.data/`, deleted afterwards. */
export class BenchService implements AsyncDisposable {
  readonly addresses: Addresses;
  /** With every scope. */
  readonly key: string;
  readonly api: ServiceApi;
  readonly #folder: TemporaryFolder;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, folder: TemporaryFolder, addresses: Addresses, key: string) {
    this.#child = child;
    this.#folder = folder;
    this.addresses = addresses;
    this.key = key;
    this.api = new ServiceApi({ url: addresses.url, key });
  }

  get dataDir(): string {
    return this.#folder.path;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Creates a connection of each body and gives their ids, in the same order. */
  createConnections(bodies: object[]): Promise<string[]> {
    return mapConcurrent(bodies, (body) => this.api.connect(body));
  }

  createSimulated(count: number): Promise<string[]> {
    const people = Array.from({ length: count }, (_, number) => ({ kind: 'person', id: `bench-${number}` }));
    return this.createConnections(people.map((external_actor) => ({ provider: 'simulated', external_actor })));
  }

  /** Works on the service's database, which is started anew when the service has been stopped. */
  async withDatabase<T>(work: (url: string, db: Database) => Promise<T>): Promise<T> {
    const server = await connectDatabase({ dataDir: this.dataDir, exclusive: false });
    const db = openDatabase({ url: server.url, maxConnections: 1, applicationName: 'bench' });
    try {
      return await work(server.url, db);
    } finally {
      await db.close();
      await server.stop();
    }
  }

  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<void> {
    return end(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#folder[Symbol.asyncDispose]();
  }
}

interface Start {
  inspect?: boolean;
  cores?: string | undefined;
  /** Gets each line of its log, which is not printed then. Wants `inspect`. */
  onLog?: ((line: string) => void) | undefined;
  /** The database and key of a service that it joins as another node; they need the same ENCRYPTION_KEYS. */
  joins?: { databaseUrl: string; key: string };
}

/**
 * Further variables come from `settings` and from the environment of the bench (but for DATABASE_URL). With `inspect`
 * the memory of each of its threads can be measured (`memory.ts`); `cores` are the only ones that it and its database run on.
 */
export async function startService(
  settings: Record<string, string> = {},
  { inspect = false, cores, onLog, joins }: Start = {},
): Promise<BenchService> {
  await mkdir('.data', { recursive: true });
  // Beside the default DATA_DIR, not in the system's temporary folder, which may be memory: fsync has to cost.
  const folder = new TemporaryFolder(join(process.cwd(), '.data/bench-'));
  const dataDir = folder.path;
  const { DATABASE_URL: _, ...inherited } = process.env;
  const fixed = { LOG_FORMAT: 'json', PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir };
  const database = joins && { DATABASE_URL: joins.databaseUrl };
  const env = { LOG_LEVEL: 'warn', ...inherited, ...settings, ...fixed, ...database };
  const [command, args] = onCores(cores, process.execPath, [
    ...(inspect ? ['--inspect=127.0.0.1:0'] : []),
    ...profileArguments(),
    PROGRAM,
  ]);
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', inspect ? 'pipe' : 'inherit'] });
  try {
    const addresses = await addressesOf(child, onLog);
    const key = joins?.key ?? (await readFile(join(dataDir, 'demo-key'), 'utf8')).trim();
    return new BenchService(child, folder, addresses, key);
  } catch (error) {
    await end(child);
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

interface Ready {
  ready: true;
  url: string;
  metrics_url: string;
  sandbox_control_url: string;
}

/** Where it listens, once it is ready. Throws when it ends instead. */
async function addressesOf(child: ChildProcess, onLog?: (line: string) => void): Promise<Addresses> {
  if (!child.stdout) throw new Error('the service has no stdout');
  const inspectorUrl = child.stderr ? inspectorLine(child.stderr, onLog) : undefined;
  const line = once(createInterface({ input: child.stdout }), 'line');
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the service ended (status ${code})`)));
  const [text] = (await Promise.race([line, ended])) as [string];
  const { url, metrics_url, sandbox_control_url } = typia.json.assertParse<Ready>(text);
  return { url, metricsUrl: metrics_url, controlUrl: sandbox_control_url, inspectorUrl: await inspectorUrl };
}

/** The address that the inspector announces on stderr; other lines there are passed on. */
function inspectorLine(
  stderr: Readable,
  onLog = (line: string): unknown => process.stderr.write(`${line}\n`),
): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stderr }).on('line', (line) => {
      const announced = /^Debugger listening on (ws:\S+)/.exec(line)?.[1];
      if (announced) resolve(announced);
      else if (!/^(For help, see|Debugger (attached|ending))/.test(line)) onLog(line);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
