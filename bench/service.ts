import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import typia from 'typia';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { connectDatabase } from '../storage/postgres/embedded.js';

/** The real service as a child process, on a database of its own under `.data/`, deleted afterwards. */
export interface BenchService extends AsyncDisposable {
  url: string;
  /** With every scope. */
  key: string;
  pid: number;
  dataDir: string;
  /** Prometheus text. */
  metricsUrl: string;
  /** Steers the stand-in network. */
  controlUrl: string;
  /** Where its inspector listens; undefined unless it was started with one. */
  inspectorUrl: string | undefined;
  createSimulated(count: number): Promise<string[]>;
  /** Makes a connection of each body and gives their ids, in the same order. */
  createConnections(bodies: object[]): Promise<string[]>;
  /** Works on the service's database, which is started anew when the service has been stopped. */
  withDatabase<T>(work: (url: string, db: Database) => Promise<T>): Promise<T>;
  /** Asks it to end (SIGTERM) and waits until it has. */
  stop(): Promise<void>;
}

const PROGRAM = new URL('../server/main.js', import.meta.url).pathname;
/** Connections made at once before a run. */
const CREATE_CONCURRENCY = 16;

/**
 * Further variables come from `settings` and from the environment of the bench (but for DATABASE_URL). With `inspect`
 * the process can be asked what each of its threads holds (`memory.ts`).
 */
export async function startService(
  settings: Record<string, string> = {},
  { inspect = false } = {},
): Promise<BenchService> {
  await mkdir('.data', { recursive: true });
  // Beside the default DATA_DIR, not in the system's temporary folder, which may be memory: fsync has to cost.
  const dataDir = await mkdtemp(join(process.cwd(), '.data/bench-'));
  const { DATABASE_URL: _, ...inherited } = process.env;
  const fixed = { LOG_FORMAT: 'json', PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir };
  const env = { LOG_LEVEL: 'warn', ...inherited, ...settings, ...fixed };
  const args = inspect ? ['--inspect=127.0.0.1:0', PROGRAM] : [PROGRAM];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', inspect ? 'pipe' : 'inherit'] });
  const stop = () => end(child);
  try {
    const inspectorUrl = child.stderr ? inspectorLine(child.stderr) : undefined;
    const { url, metrics_url, sandbox_control_url } = await readyLine(child);
    const key = (await readFile(join(dataDir, 'demo-key'), 'utf8')).trim();
    const createConnections = (bodies: object[]) => create(url, key, bodies);
    return {
      url,
      key,
      pid: child.pid ?? 0,
      dataDir,
      metricsUrl: metrics_url,
      controlUrl: sandbox_control_url,
      inspectorUrl: await inspectorUrl,
      stop,
      createConnections,
      createSimulated: (count) =>
        createConnections(
          Array.from({ length: count }, (_, number) => ({
            provider: 'simulated',
            external_actor: { kind: 'person', id: `bench-${number}` },
          })),
        ),
      async withDatabase(work) {
        const server = await connectDatabase({ dataDir, exclusive: false });
        const db = openDatabase({ url: server.url, maxConnections: 1, applicationName: 'bench' });
        try {
          return await work(server.url, db);
        } finally {
          await db.close();
          await server.stop();
        }
      },
      async [Symbol.asyncDispose]() {
        await stop();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

interface Ready {
  ready: true;
  url: string;
  metrics_url: string;
  sandbox_control_url: string;
}

async function readyLine(child: ChildProcess): Promise<Ready> {
  if (!child.stdout) throw new Error('the service has no stdout');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the service ended (status ${code})`)));
  const [text] = (await Promise.race([line, ended])) as [string];
  return typia.json.assertParse<Ready>(text);
}

/** The address the inspector announces; whatever else the service says there is passed on. */
function inspectorLine(stderr: Readable): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stderr }).on('line', (line) => {
      const announced = /^Debugger listening on (ws:\S+)/.exec(line)?.[1];
      if (announced) resolve(announced);
      else if (!/^(For help, see|Debugger (attached|ending))/.test(line)) process.stderr.write(`${line}\n`);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function create(url: string, key: string, bodies: object[]): Promise<string[]> {
  const ids: string[] = [];
  const left = bodies.entries();
  const worker = async () => {
    for (const [number, connection] of left) {
      const response = await fetch(`${url}/v1/connections`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(connection),
      });
      const body = await response.text();
      if (response.status !== 201) throw new Error(`a connection was not made: ${response.status} ${body}`);
      ids[number] = typia.json.assertParse<{ id: string }>(body).id;
    }
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, worker));
  return ids;
}
