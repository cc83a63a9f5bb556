import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireNode } from '../storage/process/required-node.js';

/**
 * Writes the tables of the operators' pages that are made from records (`npm run docs`). With `--check` it only compares, and ends
 * with status 1 when a page is stale.
 */
const ROOT = join(import.meta.dirname, '../..');

requireNode('npm run docs');
const { TABLES, withTables } = await import('./docs/page.js');
for (const name of Object.keys(TABLES)) {
  const file = join(ROOT, name);
  const page = await readFile(file, 'utf8');
  const current = withTables(name, page);
  if (!process.argv.includes('--check')) await writeFile(file, current);
  else if (current !== page) {
    process.stderr.write(`${name} is stale: run npm run docs\n`);
    process.exitCode = 1;
  }
}
