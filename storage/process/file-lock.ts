import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { childEnvironment } from './child-environment.js';

/**
 * Who uses a folder alone holds a lock of the kernel on a file of it (flock): it is free again when every process that has the file open has
 * ended, however it did. Of a data folder those are the keeper and PostgreSQL, of a folder for browsers' temporary files the service. Numbers
 * of processes and files that name them can be old, copied with a folder, or of another container; the lock cannot. Where the program
 * `flock` (util-linux) is missing, as on macOS, or the file system knows no locks, there is none.
 */

/** How `flock` ends when another has the lock. */
const LOCKED = 75;
/** How long a start waits for it, in seconds: of a database that is just ending, the last processes hold it a moment longer. */
const WAIT_s = 3;
/** The number of the open file in the keeper. Node closes those up to 16 to its children; those behind a gap, PostgreSQL inherits. */
const KEPT_AT = 40;

/** Locks an open file, whoever has it open then. False when another has the lock; undefined where there are no locks. */
function lockOpen(file: number, wait_s: number): boolean | undefined {
  const wanted = wait_s > 0 ? ['--timeout', `${wait_s}`] : ['--nonblock'];
  try {
    execFileSync('flock', [...wanted, '--conflict-exit-code', `${LOCKED}`, '3'], {
      stdio: ['ignore', 'ignore', 'ignore', file],
      env: childEnvironment(),
    });
    return true;
  } catch (error) {
    // Anything else: there is no such program, it is another of that name, or the file system has no locks.
    return (error as { status?: number }).status === LOCKED ? false : undefined;
  }
}

/** Opens a file, or makes it, and holds its lock until this process, or this thread, has ended. False where that cannot be had. */
export function holdLock(path: string): boolean {
  const file = openSync(path, 'a', 0o600);
  if (lockOpen(file, 0)) return true;
  closeSync(file);
  return false;
}

/** Runs `start` with what a child is to have open, beside its first three files, to hold the lock. Throws when another has it. */
export function holdingLock<T>(path: string, start: (open: (number | null)[]) => T): T {
  const file = openSync(path, 'a', 0o600);
  try {
    const taken = lockOpen(file, WAIT_s);
    if (taken === false) throw new Error('another running service uses the folder');
    return start(taken ? [...Array.from({ length: KEPT_AT - 3 }, () => null), file] : []);
  } finally {
    closeSync(file);
  }
}

/** Whether somebody holds the lock of this file; undefined where there are no locks. */
export function isLocked(path: string): boolean | undefined {
  const file = openSync(path, 'a', 0o600);
  try {
    const taken = lockOpen(file, 0);
    return taken === undefined ? undefined : !taken;
  } finally {
    closeSync(file);
  }
}
