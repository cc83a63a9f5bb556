import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../child-environment.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type ProcessIdentity, postgresUser } from './postgres-user.js';

/**
 * The default database: a real PostgreSQL from npm, running on DATA_DIR/postgres with fsync on. One keeper process at a
 * time (keeper.ts) runs it.
 */
export interface DatabaseServer {
  url: string;
  /** Stops the server when this call started it; does nothing for one that was running already, or for DATABASE_URL. */
  stop(): Promise<void>;
}

/** The embedded database of a data folder, as `running.json` names it for other commands of this machine. */
export interface Running {
  url: string;
  keeper: number;
  postmaster: number;
}

export async function readRunning(file: string): Promise<Running | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Running;
  } catch {
    return undefined;
  }
}

/** True while the process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // Where no process collects orphans, one that has ended stays as a zombie and still takes signals.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/^\d+ \(.*\) [ZX]/.test(readFileSync(stat, 'utf8'));
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  'jit=off',
];

/** Starts the server of `dir`, which is made when it is new, and writes `runningFile`. Throws `DatabaseUnavailable`. */
export async function startEmbedded(dir: string, runningFile: string, settings: string[]): Promise<DatabaseServer> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const initialised = existsSync(join(dir, 'PG_VERSION'));
  const password = await passwordOf(dir, initialised);
  const program = join(import.meta.dirname, 'keeper.js');
  const identity = process.getuid?.() === 0 ? await postgresUser(dir, program) : { command: [], options: {} };
  const keeper = spawnKeeper(program, identity);
  const ended = new Promise<void>((done) => keeper.once('exit', () => done()));
  const answer = await new Promise<{ port?: number; error?: string }>((done) => {
    createInterface({ input: keeper.stdout }).once('line', (line) => done(JSON.parse(line)));
    keeper.once('error', (error) => done({ error: error.message }));
    void ended.then(() => done({ error: 'its process ended' }));
    keeper.stdin.on('error', () => {});
    keeper.stdin.write(`${JSON.stringify({ dir, password, initialised, flags: [...SETTINGS, ...settings] })}\n`);
  });
  if (!answer.port) {
    keeper.stdin.end();
    throw new DatabaseUnavailable(`DATA_DIR: the embedded database in ${dir} does not start: ${answer.error}`);
  }
  keeper.unref();
  const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${answer.port}/postgres`;
  const postmaster = Number((await readFile(join(dir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const running: Running = { url, keeper: keeper.pid ?? 0, postmaster };
  await writeFile(runningFile, JSON.stringify(running), { mode: 0o600 });
  return {
    url,
    async stop() {
      keeper.ref();
      keeper.stdin.end();
      await ended;
      await rm(runningFile, { force: true });
    },
  };
}

/** The password of the server, made before its first start. */
async function passwordOf(dir: string, initialised: boolean): Promise<string> {
  const file = join(dir, '..', 'postgres-password');
  if (!initialised && !existsSync(file)) {
    await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  }
  return (await readFile(file, 'utf8')).trim();
}

function spawnKeeper(program: string, identity: ProcessIdentity) {
  const [command = process.execPath, ...args] = [...identity.command, process.execPath, program];
  return spawn(command, args, {
    ...identity.options,
    cwd: '/',
    env: childEnvironment(), // PostgreSQL inherits it from the keeper
    detached: true, // its own session: a terminal's Ctrl-C must not stop the database under a draining service
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
