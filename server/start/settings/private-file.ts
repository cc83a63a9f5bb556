import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/* Files of mode 0600 in DATA_DIR. Each is complete or absent: it is written beside its place, then moved into it. */

/** The text of the file, made by `text` when it does not exist; two processes that start together get the same one. */
export async function loadOrCreate(file: string, text: () => string | Promise<string>): Promise<string> {
  const existing = await load(file);
  if (existing !== null) return existing;
  const draft = await writeDraft(file, await text());
  // A link, unlike a move, fails when another process was first.
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return readFile(file, 'utf8');
}

/** The text of the file, or null when it does not exist. */
export async function load(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** Replaces the file, which need not exist. */
export async function replace(file: string, text: string): Promise<void> {
  await rename(await writeDraft(file, text), file);
}

async function writeDraft(file: string, text: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
}
