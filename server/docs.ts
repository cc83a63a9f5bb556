import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withTables } from './docs/readme.js';

/**
 * Writes the tables of the README that are made from records (`npm run docs`). With `--check` it only compares, and ends
 * with status 1 when the page is stale.
 */
const FILE = join(import.meta.dirname, '../../README.md');

const page = await readFile(FILE, 'utf8');
const current = withTables(page);
if (!process.argv.includes('--check')) await writeFile(FILE, current);
else if (current !== page) {
  process.stderr.write('README.md is stale: run npm run docs\n');
  process.exitCode = 1;
}
