import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireNode } from '../storage/required-node.js';

/**
 * Writes the tables of the operators' reference that are made from records (`npm run docs`). With `--check` it only compares, and ends
 * with status 1 when the page is stale.
 */
const FILE = join(import.meta.dirname, '../../server/REFERENCE.md');

requireNode('npm run docs');
const { withTables } = await import('./docs/page.js');
const page = await readFile(FILE, 'utf8');
const current = withTables(page);
if (!process.argv.includes('--check')) await writeFile(FILE, current);
else if (current !== page) {
  process.stderr.write('server/REFERENCE.md is stale: run npm run docs\n');
  process.exitCode = 1;
}
