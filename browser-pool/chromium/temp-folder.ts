import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { holdLock, isLocked } from '../../storage/process/file-lock.js';

/*
 * The temporary files of one thread's browsers: profiles, and what Playwright keeps beside them. They stand in a folder of the thread's own in
 * the system's, which is deleted when its host ends. Of a process that was killed the next one that starts a browser deletes it:
 * a lock in it tells whether somebody uses it.
 */
const PREFIX = 'connection-service-browser-';
const LOCK = 'in-use';

/** Of this thread. It keeps its name as long as the thread lives, because Playwright does not ask twice. */
let own: string | undefined;
/** Where the system has the thread's temporary files, in the variable of before. */
let before: string | undefined;

/**
 * Makes the folder, and has this thread and its children use it for temporary files. Throws when there is none to be had: they use the
 * system's then.
 */
export function useTempFolder(): void {
  if (own === undefined) {
    const hidden = mkdtempSync(join(tmpdir(), `.${PREFIX}`));
    prepare(hidden);
    own = join(dirname(hidden), basename(hidden).slice(1)); // not swept before it is locked
    renameSync(hidden, own);
    before = process.env.TMPDIR;
  } else {
    mkdirSync(own, { recursive: true });
    prepare(own);
  }
  process.env.TMPDIR = own;
}

function prepare(folder: string): void {
  chmodSync(folder, 0o1777); // a browser that root starts runs as another user
  holdLock(join(folder, LOCK));
}

/** Deletes the folder of this thread, whose browsers have ended. */
export async function removeTempFolder(): Promise<void> {
  if (own === undefined) return;
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  await rm(own, { recursive: true, force: true, maxRetries: 3 });
}

/** Deletes the folders whose process has ended, in `folder`, the system's; gives how many those were. */
export async function sweepTempFolders(folder: string): Promise<number> {
  const names = await readdir(folder);
  const left = names.filter((name) => name.startsWith(PREFIX) && isLeft(join(folder, name)));
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
  return left.length;
}

/** Whether it is a folder of this user's, and certainly of nobody who still runs. */
function isLeft(path: string): boolean {
  try {
    const found = lstatSync(path);
    return found.isDirectory() && found.uid === process.getuid?.() && isLocked(join(path, LOCK)) === false;
  } catch {
    return false; // swept by another just now
  }
}
