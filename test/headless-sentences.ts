import { join } from 'node:path';
import { lineAt, readSources } from './remarks.js';

/**
 * `node dist/test/headless-sentences.js`: lists the sentences of comments and pages that begin with a clause in place of a subject, with their share of
 * all sentences. It holds nothing: a sentence that is clear may stay.
 */
const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['storage', 'browser-pool', 'actors', 'server', 'bench', 'test'];

/** Words with which a clause begins that stands for the subject, or before it. */
const HEADLESS =
  /^(?:What|Whose|Whoever|Whatever|Of (?:the|those|these|what|a|one|all)|One (?:that|which|whose)|Those|Who|How|Where|That which|Nothing of)\b/;

/** Where a sentence begins: at the beginning of a remark, or behind the end of another one. */
const SENTENCE = /(?:^|[.:!?]\s+)([A-Z][^.!?]{8,}[.!?])/g;

let all = 0;
const found: string[] = [];
for (const { file, remarks } of readSources(ROOT, FOLDERS)) {
  for (const { line, text } of remarks) {
    for (const match of text.matchAll(SENTENCE)) {
      const sentence = (match[1] ?? '').replaceAll(/\s+/g, ' ');
      all++;
      if (HEADLESS.test(sentence)) found.push(`${file}:${lineAt(text, match.index, line)} ${sentence}`);
    }
  }
}
for (const one of found) console.log(one);
console.log(`${found.length} of ${all} sentences are headless, ${((100 * found.length) / all).toFixed(1)} %`);
