import { requireNode } from '../process/required-node.js';

/** `npm run schema`: writes `schema.sql`. `--check` only compares, and ends with status 1 when the page is stale. */
requireNode('npm run schema');
const { updatePage } = await import('./schema-page.js');
const wrong = await updatePage({ check: process.argv.includes('--check') });
if (wrong) {
  process.stderr.write(`${wrong}\n`);
  process.exitCode = 1;
}
