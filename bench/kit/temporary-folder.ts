import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';

/** Those that stand now. */
const folders = new Set<string>();

/** A folder of a run, deleted with everything in it when it is disposed of, or when a signal ends the bench. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;

  /** Its path begins with `prefix`. */
  constructor(prefix: string) {
    this.path = mkdtempSync(prefix);
    folders.add(this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    folders.delete(this.path);
  }
}

/** Before the process exits: what runs on would make others. */
export function deleteTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
