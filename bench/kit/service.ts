import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import typia from 'typia';
import { type Database, openDatabase } from '../../storage/postgres/database.js';
import { connectDatabase } from '../../storage/postgres/embedded/embedded.js';
import { ServiceApi } from './api.js';
import { onCores } from './cores.js';
import { mapConcurrent } from './map-concurrent.js';
import { type DatabaseChoice, databaseChoice } from './postgres/choice.js';
import { newEncryptionKeys, newKey, type StockDatabase, startStockDatabase } from './postgres/stock-database.js';
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

const PROGRAM = fileURLToPath(new URL('../../server/main.js', import.meta.url));

/** What a service of the bench consists of. */
interface Parts {
  child: ChildProcess;
  folder: TemporaryFolder;
  addresses: Addresses;
  /** Its own, unless that is the embedded one. */
  stock: StockDatabase | undefined;
  /** Undefined: the embedded one. */
  databaseUrl: string | undefined;
}

/** The real service as a child process, on a database of its own under `.data/`, deleted afterwards. */
export class BenchService implements AsyncDisposable {
  readonly addresses: Addresses;
  /** With every scope. */
  readonly key: string;
  readonly api: ServiceApi;
  readonly #parts: Parts;

  constructor(parts: Parts, key: string) {
    this.#parts = parts;
    this.addresses = parts.addresses;
    this.key = key;
    this.api = new ServiceApi({ url: parts.addresses.url, key });
  }

  get dataDir(): string {
    return this.#parts.folder.path;
  }

  get pid(): number {
    return this.#parts.child.pid ?? 0;
  }

  /** Creates a connection of each body and gives their ids, in the same order. */
  createConnections(bodies: object[]): Promise<string[]> {
    return mapConcurrent(bodies, (body) => this.api.connect(body));
  }

  createSimulated(count: number): Promise<string[]> {
    const people = Array.from({ length: count }, (_, number) => ({ kind: 'person', id: `bench-${number}` }));
    return this.createConnections(people.map((external_actor) => ({ provider: 'simulated', external_actor })));
  }

  /** Works on the service's database, which answers also when the service has been stopped. */
  withDatabase<T>(work: (url: string, db: Database) => Promise<T>): Promise<T> {
    return withDatabase(this.#parts, work);
  }

  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<void> {
    return end(this.#parts.child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#parts.stock?.server[Symbol.asyncDispose]();
    await this.#parts.folder[Symbol.asyncDispose]();
  }
}

async function withDatabase<T>(
  { folder, databaseUrl }: Parts,
  work: (url: string, db: Database) => Promise<T>,
): Promise<T> {
  const server = await connectDatabase({ databaseUrl, dataDir: folder.path, exclusive: false });
  const db = openDatabase({ url: server.url, maxConnections: 1, applicationName: 'bench' });
  try {
    return await work(server.url, db);
  } finally {
    await db.close();
    await server.stop();
  }
}

interface Start {
  inspect?: boolean;
  cores?: string | undefined;
  /** Gets each line of its log, which is not printed then. Wants `inspect`. */
  onLog?: ((line: string) => void) | undefined;
  /** The database and key of a service that it joins as another node; they need the same ENCRYPTION_KEYS. */
  joins?: { databaseUrl: string; key: string };
  /** Its database, unless it joins another's. Absent: what the variable DATABASE asks for. */
  database?: DatabaseChoice | undefined;
}

/**
 * Further variables come from `settings` and from the environment of the bench (but for DATABASE_URL). With `inspect`
 * the memory of each of its threads can be measured (`heap/memory.ts`); `cores` are the only ones that it and its database run on.
 */
export async function startService(
  settings: Record<string, string> = {},
  { inspect = false, cores, onLog, joins, database = databaseChoice() }: Start = {},
): Promise<BenchService> {
  await mkdir('.data', { recursive: true });
  // Beside the default DATA_DIR, not in the system's temporary folder, which may be memory: fsync has to cost.
  const folder = new TemporaryFolder(join(process.cwd(), '.data/bench-'));
  const dataDir = folder.path;
  let stock: StockDatabase | undefined;
  let child: ChildProcess | undefined;
  try {
    if (!joins && database !== 'embedded') {
      stock = await startStockDatabase(database, join(dataDir, 'stock'), cores);
    }
    const databaseUrl = joins?.databaseUrl ?? stock?.url;
    const { DATABASE_URL: _, ...inherited } = process.env;
    const fixed = { LOG_FORMAT: 'json', PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir };
    const env = {
      ...(stock && { ENCRYPTION_KEYS: await newEncryptionKeys(dataDir) }),
      ...{ LOG_LEVEL: 'warn', ...inherited, ...settings, ...fixed },
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    };
    const [command, args] = onCores(cores, process.execPath, [
      ...(inspect ? ['--inspect=127.0.0.1:0'] : []),
      ...profileArguments(),
      PROGRAM,
    ]);
    child = spawn(command, args, { env, stdio: ['ignore', 'pipe', inspect ? 'pipe' : 'inherit'] });
    const parts = { child, folder, addresses: await addressesOf(child, onLog), stock, databaseUrl };
    return new BenchService(parts, joins?.key ?? (await keyOf(parts)));
  } catch (error) {
    if (child) await end(child);
    await stock?.server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function keyOf(parts: Parts): Promise<string> {
  if (parts.stock) return withDatabase(parts, (_, db) => newKey(db));
  return (await readFile(join(parts.folder.path, 'demo-key'), 'utf8')).trim();
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
