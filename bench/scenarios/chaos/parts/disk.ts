import { mkdir, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../kit/processes.js';
import { LIMITS } from '../limits.js';

/**
 * A file system of its own, in a sparse image that is mounted on a folder, so that it can be full without harm to others.
 * Mounting wants root and loop devices.
 */
export class FullableDisk implements AsyncDisposable {
  /** The folder that it is mounted on. */
  readonly folder: string;
  readonly #image: string;
  readonly #ballast: string;

  private constructor(dir: string) {
    this.folder = join(dir, 'disk');
    this.#image = join(dir, 'disk.img');
    this.#ballast = join(this.folder, 'ballast');
  }

  /** Null where nothing can be mounted. */
  static async mount(dir: string): Promise<FullableDisk | null> {
    const disk = new FullableDisk(dir);
    if (process.getuid?.() !== 0 || process.platform !== 'linux') return null;
    try {
      await mkdir(disk.folder, { recursive: true });
      await writeFile(disk.#image, '');
      await truncate(disk.#image, LIMITS.disk_mib * 2 ** 20);
      // No share kept back for root: full is full for everybody. Inodes are written when they are needed.
      await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=1', disk.#image]);
      await run('mount', ['-o', 'loop', disk.#image, disk.folder]);
      return disk;
    } catch {
      await disk.#forget();
      return null;
    }
  }

  /** Takes every byte that is left. */
  async fill(): Promise<void> {
    // What is freed meanwhile is taken as well, once.
    for (const name of ['', '-rest']) {
      const { bavail, bsize } = await statfs(this.folder);
      if (bavail > 0) await run('fallocate', ['-l', String(bavail * bsize), this.#ballast + name]).catch(() => {});
    }
  }

  async empty(): Promise<void> {
    for (const name of ['', '-rest']) await rm(this.#ballast + name, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run('umount', [this.folder]).catch(() => run('umount', ['--lazy', this.folder]).catch(() => {}));
    await this.#forget();
  }

  #forget(): Promise<void> {
    return rm(this.#image, { force: true });
  }
}
