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

  /**
   * The test files that import this source, as paths in `dist`: those first that are closest to it by imports and, of these, that stand in
   * the folder of the same name.
   */
  testsOf(source: string): string[] {
    const found = importersOf(this.#imports, source.replace(/ts$/, 'js'));
    const tests = [...found].filter(([file]) => file.endsWith('.test.js'));
    const shared = (file: string) => sharedFolders(source, file.slice('test/'.length));
    const order = tests.sort(([a, near], [b, far]) => near - far || shared(b) - shared(a) || (a < b ? -1 : 1));
    return order.map(([file]) => join('dist', file));
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

/** How many folders two paths have in common from their beginning. */
function sharedFolders(one: string, other: string): number {
  const [a, b] = [one.split('/'), other.split('/')];
  const apart = a.findIndex((name, i) => name !== b[i]);
  return apart < 0 ? a.length : apart;
}
