import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Compiled } from './faults.js';
import { importersOf, readImports, withPrograms } from './imports.js';

/** Made anew in a copy, or of no use to tests. */
const OWN = ['dist', '.data', '.git', '.tap'];
/** What tests have downloaded: too much to do it again for each copy. */
const DOWNLOADED = ['.data/test-packages', '.data/postgres-programs'];
const FOLDERS = ['storage', 'browser-pool', 'actors', 'server', 'bench', 'test'];

/** A copy of the project in which the compiled files can be changed, and with them the bundles: `dist` is copied, everything else is linked. */
export class Tree {
  readonly #folder: string;
  /** The change of which `dist/bundled-changed` was made. */
  #changed = '';
  readonly #imports: ReturnType<typeof readImports>;

  /** Use `copy`. */
  constructor(folder: string) {
    this.#folder = folder;
    const dist = join(folder, 'dist');
    this.#imports = withPrograms(dist, readImports(dist, FOLDERS, ['.js']));
  }

  static async copy(root: string, folder: string): Promise<Tree> {
    for (const name of await readdir(root)) {
      if (!OWN.includes(name)) await symlink(join(root, name), join(folder, name));
    }
    await mkdir(join(folder, '.data'));
    for (const name of DOWNLOADED)
      if (existsSync(join(root, name))) await symlink(join(root, name), join(folder, name));
    const dist = join(root, 'dist');
    // What V8 made of the files is told by their paths, which are others here.
    await cp(dist, join(folder, 'dist'), { recursive: true, filter: (file) => file !== join(dist, '.compiled') });
    return new Tree(folder);
  }

  get path(): string {
    return this.#folder;
  }

  /** The compiled files of a folder of the project; the bundles of its pages have no source of their own. */
  async compiled(folder: string): Promise<Compiled[]> {
    const hasSource = (file: string) => existsSync(join(this.#folder, file.replace(/js$/, 'ts')));
    const inside = [...this.#imports.keys()].filter((file) => file.startsWith(`${folder}/`) && hasSource(file));
    return Promise.all(
      inside.sort().map(async (name) => {
        const file = name.replace(/js$/, 'ts');
        const [source, text, map] = await Promise.all(
          [join(this.#folder, file), this.#path(name), `${this.#path(name)}.map`].map((path) => readFile(path, 'utf8')),
        );
        return { file, source: source!, text: text!, map: JSON.parse(map!) };
      }),
    );
  }

  /** Every test file of the suite, as a path in the tree. */
  tests(): string[] {
    const isTest = (file: string) => file.startsWith('test/') && file.endsWith('.test.js');
    return [...this.#imports.keys()]
      .filter(isTest)
      .sort()
      .map((file) => join('dist', file));
  }

  /** The compiled files that import this source, with how many imports lie between, from 1. */
  importersOf(source: string): Map<string, number> {
    return importersOf(this.#imports, source.replace(/ts$/, 'js'));
  }

  /** Has the copy compiled with this text in place of a source's own while `work` runs. */
  async with<T>(source: string, text: string, work: () => Promise<T>): Promise<T> {
    const path = this.#path(source.replace(/ts$/, 'js'));
    const own = await readFile(path, 'utf8');
    await replace(path, text);
    try {
      return await this.#bundled(source + text, work);
    } finally {
      await replace(path, own);
    }
  }

  /** With bundles of this change in place of the own ones: threads and processes run bundles, whoever starts them. */
  async #bundled<T>(change: string, work: () => Promise<T>): Promise<T> {
    const [bundled, own, changed] = ['bundled', 'bundled-own', 'bundled-changed'].map((name) => this.#path(name));
    if (!existsSync(bundled!)) return work(); // a project without programs
    await rename(bundled!, own!);
    try {
      if (this.#changed === change) await rename(changed!, bundled!);
      else await bundle(this.#path(''));
      this.#changed = change;
      return await work();
    } finally {
      await rm(changed!, { recursive: true, force: true });
      await rename(bundled!, changed!);
      await rename(own!, bundled!);
    }
  }

  #path(file: string): string {
    return join(this.#folder, 'dist', file);
  }
}

async function bundle(dist: string): Promise<void> {
  const program = new URL('../../../../server/start/bundle.mjs', import.meta.url).href;
  const { bundlePrograms } = (await import(program)) as { bundlePrograms(dist: string): Promise<void> };
  await bundlePrograms(dist);
}

/** At once, so that no process reads half of it. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
