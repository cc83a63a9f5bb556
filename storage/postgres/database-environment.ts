import { childEnvironment } from '../process/child-environment.js';

/** A locale that every system has: the shell may name one that is not installed, with which no database is made. */
const LOCALE = { LC_ALL: 'C', LANG: 'C' };

/** The environment of the embedded PostgreSQL and of what makes its data: nothing of its language comes from the shell. */
export function databaseEnvironment(): Record<string, string> {
  const own = childEnvironment();
  for (const name of Object.keys(own)) if (/^(?:LC_|LANG)/.test(name)) delete own[name];
  return { ...own, ...LOCALE };
}

/**
 * Takes out of this process's environment what clients of PostgreSQL read there (`PGSSLMODE`, `PGOPTIONS`, `PGHOST` and their kind): a shell sets
 * them for other servers. Called before threads are started, which get a copy, and only where the database is the embedded one.
 */
export function forgetClientVariables(): void {
  for (const name of Object.keys(process.env)) if (/^PG[A-Z]+$/.test(name)) delete process.env[name];
}
