import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.js';

/**
 * Makes DATA_DIR, and sees that this process may use it and what is in it, where anything is kept there: nothing is with a database
 * and a provider of the operator's own.
 * @throws ConfigError that names DATA_DIR and the path
 */
export function requireDataDir({ dataDir, databaseUrl, provider }: Config): void {
  if (databaseUrl !== null && provider.kind !== 'sandbox') return;
  usable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  });
  const user = process.geteuid?.() ?? 0;
  if (user === 0) return;
  for (const path of MADE.map((name) => join(dataDir, name))) {
    const owner = usable(dataDir, () => statSync(path, { throwIfNoEntry: false }))?.uid ?? user;
    if (owner !== user) throw new ConfigError(`DATA_DIR: ${path} belongs to user ${owner}, ${NOT_OURS(user)}`);
  }
}

/** What the service keeps there, private to the user who made it: root, say, in a start before one as the service's own user. */
const MADE = [
  'postgres',
  'postgres-password',
  'running.json',
  'lock',
  'encryption-keys',
  'demo-key',
  'receiver.json',
  'sandbox',
];

const NOT_OURS = (user: number | undefined) =>
  `and the service runs as user ${user}: give the folder to that user, with all that is in it, or name another`;

function usable<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new ConfigError(`DATA_DIR: ${path} ${whatIsWrong((error as NodeJS.ErrnoException).code)}`);
  }
}

function whatIsWrong(code: string | undefined): string {
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'is not a folder: name one that the service may write to';
    case 'EACCES':
    case 'EPERM':
      return `may not be written to, ${NOT_OURS(process.geteuid?.())}`;
    case 'EROFS':
      return 'is on a file system that cannot be written: name a folder that can be';
    default:
      return `cannot be used (${code}): name a folder that the service may write to`;
  }
}
