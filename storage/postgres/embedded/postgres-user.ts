import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { childEnvironment } from '../../process/child-environment.js';
import { DatabaseUnavailable } from './database-unavailable.js';

/** How to start a process as another user: a command to put before its own, or options of `spawn`. */
export interface ProcessIdentity {
  command: string[];
  options: { uid?: number; gid?: number };
}

/**
 * PostgreSQL refuses to run as root, so root runs it as the system user `postgres`, which is made when it is missing. That
 * user must reach the data and the programs; where a folder on the way is closed to others (a home of mode 0700), `setpriv` gives it
 * the one capability to pass through. Throws `DatabaseUnavailable`.
 */
export async function postgresUser(dir: string, program: string): Promise<ProcessIdentity> {
  const { uid, gid } = listedUser() ?? systemUser();
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
    execFileSync(setpriv[0] as string, [...setpriv.slice(1), 'true'], { stdio: 'ignore', env: childEnvironment() });
  } catch {
    throw new DatabaseUnavailable(
      `the embedded database runs as the user "postgres", which cannot pass ${blocked}: allow it (chmod o+x), move the project, or set DATABASE_URL`,
    );
  }
  return { command: setpriv, options: {} };
}

/** Throws `DatabaseUnavailable` where this process's user has no name on the system, as in an image: PostgreSQL wants one. */
export function requireNamedUser(): void {
  try {
    userInfo();
  } catch {
    const uid = process.getuid?.();
    throw new DatabaseUnavailable(
      `the embedded database wants a user with a name, and ${uid} has none on this system: run as another user, name it in /etc/passwd, or set DATABASE_URL`,
    );
  }
}

const idOf = (flag: '-u' | '-g') =>
  Number(
    execFileSync('id', [flag, 'postgres'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: childEnvironment(),
    }),
  );

interface User {
  uid: number;
  gid: number;
}

const idsOf = (): User => ({ uid: idOf('-u'), gid: idOf('-g') });

/** `postgres` as the file of users has it: to ask the system costs two processes. Undefined where it does not: users may stand elsewhere. */
function listedUser(): User | undefined {
  try {
    const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
    return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
  } catch {
    return undefined;
  }
}

/** `postgres` as the system has it, which is made when it is missing. */
function systemUser(): User {
  try {
    return idsOf();
  } catch {
    try {
      execFileSync(
        'useradd',
        ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', '--user-group', 'postgres'],
        { stdio: 'ignore', env: childEnvironment() },
      );
      return idsOf();
    } catch {
      throw new DatabaseUnavailable(
        'the embedded database cannot run as root and no user "postgres" could be made: run as another user, or set DATABASE_URL',
      );
    }
  }
}

function foldersUp(path: string): string[] {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  return folder === dirname(folder) ? [folder] : [folder, ...foldersUp(dirname(folder))];
}
