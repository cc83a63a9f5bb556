import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { embeddedBinaries, postgresBinaries } from '../../../kit/postgres/binaries.js';
import { type DatabaseChoice, databaseChoice } from '../../../kit/postgres/choice.js';
import { type PostgresServer, startPostgres } from '../../../kit/postgres/server.js';
import { LIMITS } from '../limits.js';
import { FullableDisk } from './disk.js';

/** What differs from PostgreSQL's defaults where the programs are those of the embedded database. */
const EMBEDDED = {
  listen_addresses: '127.0.0.1',
  max_connections: '300',
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  min_wal_size: '32MB',
  jit: 'off',
};

/**
 * PostgreSQL as a child of the run, at a port that it keeps, so that it can be killed and started again. One that ends
 * without being told to, as on a full disk, is started again as well.
 */
export class ChaosDatabase implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #disk: FullableDisk | null;

  private constructor(server: PostgresServer, disk: FullableDisk | null) {
    this.#server = server;
    this.#disk = disk;
  }

  /** Makes a cluster in the folder, on a disk of its own where one can be mounted, and starts it. */
  static async start(folder: string, choice: DatabaseChoice = databaseChoice()): Promise<ChaosDatabase> {
    const binaries =
      choice === 'embedded'
        ? embeddedBinaries()
        : await postgresBinaries(choice, (line) => process.stderr.write(`${line}\n`));
    const disk = await FullableDisk.mount(folder);
    const server = await startPostgres({
      binaries,
      folder: disk?.folder ?? join(folder, 'postgres'),
      settings: choice === 'embedded' ? EMBEDDED : {},
      logFile: join(folder, 'postgres.log'), // beside the disk: a full one must not cost the log
      restart_ms: LIMITS.restart_ms,
    });
    return new ChaosDatabase(server, disk);
  }

  /** Directly, through no link. */
  get url(): string {
    return this.#server.url;
  }

  /** True when `fill` can do something here. */
  get canBeFull(): boolean {
    return this.#disk !== null;
  }

  /** Starts it, and again whenever it ends; resolves once it answers. */
  start(): Promise<void> {
    return this.#server.start();
  }

  /** SIGKILL of the postmaster and of every process of its own, as a machine that loses power would do. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** A role of this name, which may do everything: its backends can be told from others. Gives its address of the database. */
  async addRole(name: string): Promise<string> {
    const url = new URL(this.url);
    url.username = name;
    url.password = randomBytes(12).toString('base64url');
    await this.query(`create role ${name} superuser login password ${pg.escapeLiteral(url.password)}`);
    return url.href;
  }

  /** Ends the backends of this role; gives how many. */
  async terminateBackends(role: string): Promise<number> {
    const backends = `select pg_terminate_backend(pid) from pg_stat_activity where usename = ${pg.escapeLiteral(role)}`;
    return (await this.query(backends)).rowCount ?? 0;
  }

  async fill(): Promise<void> {
    await this.#disk?.fill();
  }

  /** Makes room again, and waits until it answers. */
  async empty(): Promise<void> {
    await this.#disk?.empty();
    await this.start();
  }

  query(text: string): Promise<pg.QueryResult> {
    return this.#server.run(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disk?.empty();
    await this.#server[Symbol.asyncDispose]();
    await this.#disk?.[Symbol.asyncDispose]();
  }
}
