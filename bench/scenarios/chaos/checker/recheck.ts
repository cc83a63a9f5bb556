import { readFile } from 'node:fs/promises';
import type { Evidence } from '../evidence.js';
import { check } from './check.js';
import { figures } from './figures.js';
import { storiesOf, storyOf } from './story.js';

/**
 * Judges evidence that a run kept: `recheck.js <evidence.json>` prints its figures and violations, with what is known of the first
 * operations that they name, and ends with status 1 when there are any; with ids of operations after it, what is known of those.
 */
const [file, ...operations] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: recheck.js <evidence.json> [operation id]...');
const evidence = JSON.parse(await readFile(file, 'utf8')) as Evidence;

if (operations.length > 0) {
  for (const id of operations) console.log(storyOf(evidence, id).join('\n  '));
} else {
  const violations = check(evidence);
  console.log(JSON.stringify(figures(evidence), null, 2));
  for (const { invariant, what } of violations) console.log(`${invariant}: ${what}`);
  for (const story of storiesOf(evidence, violations)) console.log(story);
  if (violations.length > 0) process.exitCode = 1;
}
