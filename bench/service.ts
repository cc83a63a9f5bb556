import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import typia from 'typia';
import { type Database, openDatabase } from '../storage/database.js';
import { connectDatabase } from '../storage/embedded.js';

/** The real service as a child process, on a database of its own under `.data/`, deleted afterwards. */
export interface BenchService extends AsyncDisposable {
  url: string;
  /** With every scope. */
  key: string;
  createSimulated(count: number): Promise<string[]>;
  /** Works on the service's database, which is started anew when the service has been stopped. */
  withDatabase<T>(work: (url: string, db: Database) => Promise<T>): Promise<T>;
  /** Asks it to end (SIGTERM) and waits until it has. */
  stop(): Promise<void>;
}

const PROGRAM = new URL('../server/main.js', import.meta.url).pathname;
/** Connections made at once before a run. */
const CREATE_CONCURRENCY = 16;

/** Further variables come from `settings` and from the environment of the bench (but for DATABASE_URL). */
export async function startService(settings: Record<string, string> = {}): Promise<BenchService> {
  await mkdir('.data', { recursive: true });
  // Beside the default DATA_DIR, not in the system's temporary folder, which may be memory: fsync has to cost.
  const dataDir = await mkdtemp(join(process.cwd(), '.data/bench-'));
  const { DATABASE_URL: _, ...inherited } = process.env;
  const fixed = { LOG_FORMAT: 'json', PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir };
  const env = { LOG_LEVEL: 'warn', ...inherited, ...settings, ...fixed };
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => end(child);
  try {
    const { url } = await readyLine(child);
    const key = (await readFile(join(dataDir, 'demo-key'), 'utf8')).trim();
    return {
      url,
      key,
      stop,
      createSimulated: (count) => createSimulated(url, key, count),
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

async function readyLine(child: ChildProcess): Promise<{ url: string }> {
  if (!child.stdout) throw new Error('the service has no stdout');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the service ended (status ${code})`)));
  const [text] = (await Promise.race([line, ended])) as [string];
  return typia.json.assertParse<{ ready: true; url: string }>(text);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function createSimulated(url: string, key: string, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, i) => i);
  const ids: string[] = [];
  const worker = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const response = await fetch(`${url}/v1/connections`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'simulated', external_actor: { kind: 'person', id: `bench-${number}` } }),
      });
      const body = await response.text();
      if (response.status !== 201) throw new Error(`a connection was not made: ${response.status} ${body}`);
      ids.push(typia.json.assertParse<{ id: string }>(body).id);
    }
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, worker));
  return ids;
}
