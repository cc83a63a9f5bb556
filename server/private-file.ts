import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The text of a private file, made with mode 0600 when it is not there. Whole or not at all, and the same for two
 * processes that start together: the text is written beside it and linked into place, which only one of them can.
 */
export function loadOrCreate(file: string, text: () => string): string {
  const existing = read(file);
  if (existing !== null) return existing;
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    writeSync(fd, text());
    fsyncSync(fd);
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(fd);
    rmSync(draft);
  }
  return readFileSync(file, 'utf8');
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
