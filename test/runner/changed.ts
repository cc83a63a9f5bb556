import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { importersOf, readImports } from '../../bench/scenarios/mutate/imports.js';
import { FOLDERS } from '../syntax.js';

const DIST = join(import.meta.dirname, '../..');

/**
 * Of these compiled test files those that import a source that differs from the commit, or are new or changed themselves. A test that
 * starts the service as a process imports nothing of it.
 */
export function changedTests(files: string[], commit: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  const sources = [...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')];
  const imports = readImports(DIST, FOLDERS, ['.js']);
  const concerned = sources.flatMap((source) => {
    const compiled = source.replace(/\.tsx?$/, '.js');
    return [compiled, ...importersOf(imports, compiled).keys()];
  });
  return files.filter((file) => concerned.includes(file.replace(/^dist\//, '')));
}
