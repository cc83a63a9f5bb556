import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { type ProcessIdentity, postgresUser } from '../../../storage/postgres/embedded/postgres-user.js';
import { childEnvironment } from '../../../storage/process/child-environment.js';
import { steadyPort } from '../../sandbox/steady-port.js';
import { onCores } from '../cores.js';
import { eventually } from '../eventually.js';
import { LIMITS } from '../limits.js';
import type { PostgresBinaries } from './binaries.js';
import { Postmaster } from './postmaster.js';

export interface PostgresServerOptions {
  binaries: PostgresBinaries;
  /** An empty folder, for the cluster and its log. */
  folder: string;
  /** Settings that differ from the server's defaults, beside its port; without any it opens no socket but on TCP. */
  settings?: Record<string, string>;
  /** Makes a standby of this server, which streams from it, in place of a new cluster. Only Debian's packages can. */
  standbyOf?: PostgresServer;
  /** Absent: `postgres.log` in the folder. */
  logFile?: string;
  /** Given: a server that ends although nobody ended it is started again after so many milliseconds. */
  restart_ms?: number;
  /** The only processor cores that it runs on. */
  cores?: string | undefined;
}

/** A PostgreSQL of its own with default settings but the port, as its users install it. Its superuser `postgres` has a password. */
export interface PostgresServer extends AsyncDisposable {
  readonly binaries: PostgresBinaries;
  readonly port: number;
  /** Of the superuser, database `postgres`, over TCP. */
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  /** A role that owns a new database of the same name, and nothing else; gives its address. */
  createOwner(name: string, password?: string): Promise<string>;
  /** Runs statements as the superuser, in this database. */
  run(text: string, database?: string): Promise<pg.QueryResult>;
  /** A fast shutdown: clients are disconnected. */
  stop(): Promise<void>;
  /** SIGKILL of the server and of every backend. */
  kill(): Promise<void>;
  /** Starts it unless it runs, at the same port; resolves once it answers. */
  start(): Promise<void>;
}

/** Makes a cluster in the folder, and starts a server on it. Throws with what the server said last. */
export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const server = await Server.prepare(options);
  await server.start();
  return server;
}

class Server implements PostgresServer {
  readonly port: number;
  readonly #options: PostgresServerOptions;
  readonly #dir: string;
  readonly #password: string;
  readonly #identity: ProcessIdentity;
  readonly #log: WriteStream;
  readonly #postmaster: Postmaster;
  #lastLines = '';

  private constructor(
    options: PostgresServerOptions,
    parts: { port: number; dir: string; password: string; identity: ProcessIdentity },
  ) {
    this.#options = options;
    this.port = parts.port;
    this.#dir = parts.dir;
    this.#password = parts.password;
    this.#identity = parts.identity;
    this.#log = createWriteStream(options.logFile ?? join(options.folder, 'postgres.log'), { flags: 'a' });
    this.#postmaster = new Postmaster(() => this.#spawned(), options.restart_ms);
  }

  static async prepare(options: PostgresServerOptions): Promise<Server> {
    const { folder, binaries } = options;
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755); // the server's user passes through it
    const dir = join(folder, 'data');
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const identity =
      process.getuid?.() === 0 ? await postgresUser(dir, binaries.postgres) : { command: [], options: {} };
    const { standbyOf } = options;
    const password = standbyOf ? decodeURIComponent(new URL(standbyOf.url).password) : randomPassword();
    const server = new Server(options, { port: await steadyPort(), dir, password, identity });
    if (standbyOf) server.#copy(standbyOf);
    else await server.#initialise();
    return server;
  }

  get binaries(): PostgresBinaries {
    return this.#options.binaries;
  }

  get folder(): string {
    return this.#options.folder;
  }

  get pid(): number {
    return this.#postmaster.pid;
  }

  get url(): string {
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.port}/postgres`;
  }

  async createOwner(name: string, password = randomPassword()): Promise<string> {
    await this.run(`create role ${name} login password ${pg.escapeLiteral(password)}`);
    await this.run(`create database ${name} owner ${name}`);
    return `postgres://${name}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/${name}`;
  }

  /** A server that runs, or is to, is asked for a connection until it gives one: a machine without time for it is no failure of the statement. */
  async run(text: string, database = 'postgres'): Promise<pg.QueryResult> {
    const connected = () => this.#connect(database).catch((error: Error) => error);
    const made = (answer: pg.Client | Error) => answer instanceof pg.Client || this.#postmaster.isOver;
    const patience = { ms: LIMITS.postgres_start_ms };
    const client = await eventually('PostgreSQL lets a client in', connected, made, patience);
    if (client instanceof Error) throw client;
    try {
      return await client.query(text);
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** One attempt. */
  async #connect(database: string): Promise<pg.Client> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: LIMITS.postgres_connect_ms });
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  async start(): Promise<void> {
    this.#postmaster.start();
    const answers = async () => {
      try {
        await (await this.#connect('postgres')).end();
        return true;
      } catch {
        return this.#postmaster.isOver; // a standby that is behind, or any server that lets nobody in yet, is asked again
      }
    };
    await eventually('PostgreSQL answers', answers, Boolean, { ms: LIMITS.postgres_start_ms });
    if (this.#postmaster.isOver) throw new Error(`PostgreSQL ended: ${this.#lastLines.trim()}`);
  }

  stop(): Promise<void> {
    return this.#postmaster.stop();
  }

  kill(): Promise<void> {
    return this.#postmaster.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#log.end();
  }

  async #initialise(): Promise<void> {
    const passwordFile = join(this.#dir, '..', 'password');
    await writeFile(passwordFile, this.#password, { mode: 0o644 });
    try {
      this.#toEnd(this.binaries.initdb, [
        ...['-D', this.#dir, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
        ...['--locale=C', '--encoding=UTF8', '--no-sync'],
      ]);
    } finally {
      await rm(passwordFile, { force: true });
    }
  }

  #copy(primary: PostgresServer): void {
    const program = join(dirname(this.binaries.postgres), 'pg_basebackup');
    this.#toEnd(program, ['-D', this.#dir, '-R', '--checkpoint=fast', '--no-sync', '-d', primary.url]);
  }

  #toEnd(program: string, all: string[]): void {
    const [command = '', ...args] = [...this.#identity.command, program, ...all];
    execFileSync(command, args, { ...this.#identity.options, cwd: '/', stdio: 'pipe', env: childEnvironment() });
  }

  #spawned(): ChildProcess {
    const { settings, cores } = this.#options;
    // No socket: its path must not exceed 107 bytes, and the folder of a run may.
    const flags = Object.entries({ unix_socket_directories: '', ...settings }).flatMap(([name, value]) => [
      ...['-c', `${name}=${value}`],
    ]);
    const all = [this.binaries.postgres, '-D', this.#dir, '-p', String(this.port), ...flags];
    const [first = '', ...others] = [...this.#identity.command, ...all];
    const [command, args] = onCores(cores, first, others);
    const child = spawn(command, args, {
      ...this.#identity.options,
      cwd: '/',
      env: childEnvironment(),
      detached: true, // a terminal's Ctrl-C is for the run, which ends it in its turn
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.pipe(this.#log, { end: false });
    child.stderr?.on('data', (chunk) => {
      this.#lastLines = (this.#lastLines + chunk).slice(-500);
    });
    return child;
  }
}

const randomPassword = () => randomBytes(12).toString('base64url');
