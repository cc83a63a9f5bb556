import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from '../../limits.js';
import { Backoff } from '../../process/backoff.js';
import type { Finding } from '../server-checks/inspect.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type RunningKeeper, startKeeper } from './keeper-process.js';
import { requireNamedUser } from './postgres-user.js';
import { postmasterParent } from './postmaster.js';
import { type RoleOptions, roleSetup, SERVICE_ROLE } from './service-role.js';

/**
 * The default database: a real PostgreSQL from npm, running on DATA_DIR/postgres with fsync on. One keeper process at a
 * time (keeper.ts) runs it.
 */
export interface DatabaseServer {
  url: string;
  /** What was found of a server that is not the embedded one: nothing that refuses a start. */
  findings: Finding[];
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

/** Characters of base64url. */
const PASSWORD_LENGTH = 32;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  'jit=off',
];

/** What is told of an embedded server that ends by itself. */
export interface RestartEvents {
  /** It ended, or did not start again, for this reason; it is started again. */
  ended(reason: string): void;
  started(): void;
  /** It ended too often: it is started no more. */
  gaveUp(reason: string): void;
}

export interface EmbeddedOptions extends RoleOptions {
  /** PostgreSQL's data; made when it is new. */
  dir: string;
  /** Written for other commands: `Running`. */
  runningFile: string;
  /** Locked while the server runs (`file-lock.ts`). */
  lockFile: string;
  /** Further PostgreSQL settings, `name=value`. */
  settings: string[];
  /** Called when the lock is held, and the server about to start. */
  held: (() => void) | undefined;
  /** Absent: a server that ends by itself is not started again. */
  restarts: RestartEvents | undefined;
}

/** Starts the embedded server. Throws `DatabaseUnavailable`. */
export async function startEmbedded(options: EmbeddedOptions): Promise<DatabaseServer> {
  const { dir, runningFile, restarts } = options;
  requireNamedUser();
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const server = new EmbeddedServer(options, await passwordOf(dir), await holdsSockets(dir));
  await server.start().catch((error: Error) => {
    if (error instanceof DatabaseUnavailable) throw error;
    throw new DatabaseUnavailable(`DATA_DIR: the embedded database in ${dir} does not start: ${error.message}`);
  });
  if (restarts) void server.keepRunning(restarts);
  return {
    url: server.url,
    findings: [],
    async stop() {
      await server.stop();
      await rm(runningFile, { force: true });
    },
  };
}

/**
 * The embedded PostgreSQL of a process, started again at the same address when it ends by itself, or its keeper does.
 *
 *     running ─ ends ─▶ waiting (back-off) ─▶ running | waiting | given up, after LIMITS.database_restarts within a while
 *     any ─ stop ─▶ stopped
 */
class EmbeddedServer {
  readonly #options: EmbeddedOptions;
  readonly #password: string;
  /** Reached by a socket in its folder; else over TCP, which costs an operation a tenth more. */
  readonly #bySocket: boolean;
  readonly #stopping = new AbortController();
  #keeper: RunningKeeper | undefined;
  #postmaster = 0;
  /** Settles when nothing of a restart is under way. */
  #restart: Promise<void> = Promise.resolve();

  constructor(options: EmbeddedOptions, password: string, bySocket: boolean) {
    this.#options = options;
    this.#password = password;
    this.#bySocket = bySocket;
  }

  get url(): string {
    const password = encodeURIComponent(this.#password);
    const socket = this.#bySocket ? `?host=${encodeURIComponent(this.#options.dir)}` : '';
    return `postgres://${SERVICE_ROLE}:${password}@127.0.0.1:${this.#keeper?.port}/postgres${socket}`;
  }

  /** Starts it, at the address that it had before. */
  async start(): Promise<void> {
    const { dir, runningFile, lockFile, settings, held } = this.#options;
    const order = {
      dir,
      port: this.#keeper?.port,
      initialised: existsSync(join(dir, 'PG_VERSION')),
      flags: [...SETTINGS, `unix_socket_directories=${this.#bySocket ? dir : ''}`, ...settings],
      role: await roleSetup(dir, this.#password, this.#options),
    };
    this.#keeper = await startKeeper(lockFile, order, held);
    this.#postmaster = Number((await readFile(join(dir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    const running: Running = { url: this.url, keeper: this.#keeper.pid, postmaster: this.#postmaster };
    await writeFile(runningFile, JSON.stringify(running), { mode: 0o600 });
  }

  async keepRunning(events: RestartEvents): Promise<void> {
    const { signal } = this.#stopping;
    const waits = new Backoff({ first_ms: LIMITS.database_restart_ms, cap_ms: LIMITS.database_restart_cap_ms });
    let ends: number[] = [];
    let reason = await this.#keeper?.ended;
    while (reason !== undefined && !signal.aborted) {
      const now = performance.now();
      ends = [...ends.filter((at) => now - at < LIMITS.database_restarts_ms), now];
      if (ends.length > LIMITS.database_restarts) return events.gaveUp(reason);
      if (ends.length === 1) waits.reset();
      events.ended(reason);
      await delay(waits.next_ms(), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const started = this.#again();
      this.#restart = started.then(() => {});
      const failure = await started;
      if (failure === undefined) events.started();
      reason = failure ?? (await this.#keeper?.ended);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restart;
    await this.#keeper?.stop();
  }

  /** A keeper that was killed leaves PostgreSQL behind, which nobody else stops. */
  async #orphanEnded(): Promise<void> {
    const { dir } = this.#options;
    if (postmasterParent(this.#postmaster, dir) === undefined) return;
    process.kill(this.#postmaster, 'SIGINT');
    const until = performance.now() + LIMITS.database_stop_ms;
    while (postmasterParent(this.#postmaster, dir) !== undefined) {
      if (performance.now() > until) throw new Error('it lost its keeper and does not stop');
      await delay(LIMITS.database_stop_poll_ms);
    }
  }

  /** Starts it once more; gives the reason when it does not start. */
  async #again(): Promise<string | undefined> {
    try {
      await this.#orphanEnded();
      await this.start();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

/** The longest path of a socket that every system takes, in bytes. */
const SOCKET_PATH_bytes = 103;

/**
 * Whether PostgreSQL can be reached by a socket in this folder: its path is short and plain enough for an address and a setting, and its file
 * system holds sockets, which one that is shared over a network or with a virtual machine may not.
 */
async function holdsSockets(dir: string): Promise<boolean> {
  const path = join(dir, '.s.PGSQL.probe'); // as long as PostgreSQL's own
  if (!/^[\w./-]+$/.test(path) || Buffer.byteLength(path) > SOCKET_PATH_bytes) return false;
  await rm(path, { force: true }); // of a start that was killed
  const server = createServer();
  const held = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(path, () => resolve(true));
  });
  server.close();
  return held;
}

/** The password of the service's role. A password that is missing, or was written by halves, is made anew: each start sets it. */
async function passwordOf(dir: string): Promise<string> {
  const file = join(dir, '..', 'postgres-password');
  const existing = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (existing.trim().length >= PASSWORD_LENGTH) return existing.trim();
  const password = randomBytes((PASSWORD_LENGTH * 3) / 4).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}
