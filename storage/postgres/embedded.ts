import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/**
 * The default database: a real PostgreSQL from npm, running on DATA_DIR/postgres with fsync on.
 * One keeper process at a time runs it; `running.json` tells other commands of this machine where it listens.
 */
export interface DatabaseServer {
  url: string;
  /** Stops the server when this call started it; a no-op for one that was running already, or for DATABASE_URL. */
  stop(): Promise<void>;
}

export interface ConnectOptions {
  databaseUrl?: string | undefined;
  dataDir: string;
  /** True for the service, which must own its database; false for a command, which may share a running one. */
  exclusive: boolean;
  /** Further PostgreSQL settings, `name=value`. */
  settings?: string[];
}

/** Why there is no database, in one line that says what to do. */
export class DatabaseUnavailable extends Error {}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  'jit=off',
];

/** How long a database that another process is stopping may take, in milliseconds. */
const STOPPING_MS = 15_000;

/** Gives a database that answers: DATABASE_URL's, else the embedded one of `dataDir`, started when it is not running. */
export async function connectDatabase(options: ConnectOptions): Promise<DatabaseServer> {
  if (options.databaseUrl) {
    await probe(options.databaseUrl).catch((error: Error) => {
      throw new DatabaseUnavailable(
        `DATABASE_URL: the database does not answer (${reason(error)}); start it or correct the address`,
      );
    });
    return { url: options.databaseUrl, stop: async () => {} };
  }
  const dir = resolve(options.dataDir, 'postgres');
  const runningFile = join(dir, '..', 'running.json');
  const until = Date.now() + STOPPING_MS;
  for (;;) {
    const running = await readRunning(runningFile);
    if (!running) break;
    if (!alive(running.postmaster)) break;
    if (!alive(running.keeper)) {
      process.kill(running.postmaster, 'SIGINT'); // its keeper was killed: nobody else will stop it
    } else if (!options.exclusive) return { url: running.url, stop: async () => {} };
    if (Date.now() > until) {
      throw new DatabaseUnavailable(
        `DATA_DIR: ${options.dataDir} is in use by another running service (process ${running.keeper})`,
      );
    }
    await delay(100);
  }
  return start(dir, runningFile, options.settings ?? []);
}

interface Running {
  url: string;
  keeper: number;
  postmaster: number;
}

async function readRunning(file: string): Promise<Running | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Running;
  } catch {
    return undefined;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // Where nobody collects orphans, one that ended stays as a zombie and still takes signals.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/^\d+ \(.*\) [ZX]/.test(readFileSync(stat, 'utf8'));
}

async function start(dir: string, runningFile: string, settings: string[]): Promise<DatabaseServer> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const passwordFile = join(dir, '..', 'postgres-password');
  const initialised = existsSync(join(dir, 'PG_VERSION'));
  if (!initialised && !existsSync(passwordFile)) {
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  }
  const password = (await readFile(passwordFile, 'utf8')).trim();
  const keeperFile = join(import.meta.dirname, 'keeper.js');
  const identity = process.getuid?.() === 0 ? await postgresUser(dir, keeperFile) : { command: [], options: {} };
  const [command = process.execPath, ...args] = [...identity.command, process.execPath, keeperFile];
  const keeper = spawn(command, args, {
    ...identity.options,
    cwd: '/',
    detached: true, // its own session: a terminal's Ctrl-C must not stop the database under a draining service
    stdio: ['pipe', 'pipe', 'inherit'],
  });
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

/**
 * PostgreSQL refuses to run as root, so root runs it as the system user `postgres`. That user must reach the data and
 * the programs; where a folder on the way keeps others out (a home of mode 0700), `setpriv` lends it the one
 * capability to pass through.
 */
async function postgresUser(
  dir: string,
  program: string,
): Promise<{ command: string[]; options: { uid?: number; gid?: number } }> {
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  let uid: number;
  try {
    uid = id('-u');
  } catch {
    try {
      execFileSync(
        'useradd',
        ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', '--user-group', 'postgres'],
        { stdio: 'ignore' },
      );
      uid = id('-u');
    } catch {
      throw new DatabaseUnavailable(
        'the embedded database cannot run as root and no user "postgres" could be made: run as another user, or set DATABASE_URL',
      );
    }
  }
  const gid = id('-g');
  await chown(dir, uid, gid);
  await chmod(dir, 0o700);
  const blocked = [dirname(dir), program, process.execPath]
    .flatMap(foldersUp)
    .find((folder) => (statSync(folder).mode & 0o001) === 0);
  if (!blocked) return { command: [], options: { uid, gid } };
  const setpriv = [
    'setpriv',
    '--securebits=+no_setuid_fixup', // or access(2), which initdb asks with, would not count the capability
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_read_search',
    '--ambient-caps=+dac_read_search',
  ];
  try {
    execFileSync(setpriv[0] as string, [...setpriv.slice(1), 'true'], { stdio: 'ignore' });
  } catch {
    throw new DatabaseUnavailable(
      `the embedded database runs as the user "postgres", which cannot pass ${blocked}: allow it (chmod o+x), move the project, or set DATABASE_URL`,
    );
  }
  return { command: setpriv, options: {} };
}

function foldersUp(path: string): string[] {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  return folder === dirname(folder) ? [folder] : [folder, ...foldersUp(dirname(folder))];
}

async function probe(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end().catch(() => {});
  }
}

function reason(error: Error): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return String((inner as Error | undefined)?.message ?? error).split('\n')[0] as string;
}
