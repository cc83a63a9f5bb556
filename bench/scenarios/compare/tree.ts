import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InvalidArgumentError } from 'commander';

const ROOT = join(import.meta.dirname, '../../../..');
/** Built trees are kept here, by commit. */
const KEPT = join(ROOT, '.data/compare');

/** The tree that runs. */
export const THIS_TREE = ROOT;

/** The commit that changes are compared with: it is moved on purpose, by a commit that says why the cost is another now. */
export async function baseline(): Promise<string> {
  return (await readFile(join(ROOT, 'bench/baseline'), 'utf8')).trim();
}

/**
 * A commit of this repository, built in a folder of its own, which is there the next time. It takes the packages of this tree where its lock file
 * is the same. Throws when there is no such commit, or it cannot be built.
 */
export async function treeOf(commit: string, say: (line: string) => void): Promise<string> {
  const hash = await hashOf(commit);
  const folder = join(KEPT, hash.slice(0, 12));
  const lock = await run('git', ['show', `${hash}:package-lock.json`]);
  const samePackages = lock.stdout === (await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  if (await isBuilt(folder, samePackages)) return folder;
  say(`building ${hash.slice(0, 12)}`);
  const unfinished = `${folder}.unfinished`;
  for (const one of [folder, unfinished]) await rm(one, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const archive = `${unfinished}.tar`;
  await run('git', ['archive', '--format=tar', '--output', archive, hash]);
  await run('tar', ['-xf', archive, '-C', unfinished]);
  await rm(archive);
  if (samePackages) await symlink(join(ROOT, 'node_modules'), join(unfinished, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund'], unfinished);
  await run(process.execPath, ['server/start/compile.mjs'], unfinished);
  await rename(unfinished, folder);
  return folder;
}

async function hashOf(commit: string): Promise<string> {
  try {
    const { stdout } = await run('git', ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`]);
    return stdout.trim();
  } catch {
    throw new InvalidArgumentError(`--base ${commit}: git has no such commit here`);
  }
}

/** Whole, and with packages that are still those of its lock file. */
async function isBuilt(folder: string, samePackages: boolean): Promise<boolean> {
  if (!existsSync(join(folder, 'dist/.built'))) return false;
  const packages = await lstat(join(folder, 'node_modules')).catch(() => undefined);
  return packages?.isSymbolicLink() === samePackages;
}

async function run(program: string, args: string[], cwd = ROOT): Promise<{ stdout: string }> {
  try {
    return await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as Partial<Record<'stderr' | 'stdout', string>> & Error;
    const last = `${stdout}\n${stderr}`.trim().split('\n').at(-1);
    throw new Error(`${program} ${args[0]} failed: ${last || message}`);
  }
}
