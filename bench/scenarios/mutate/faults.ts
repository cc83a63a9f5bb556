import { SourceMap } from 'node:module';
import { SeededRandom } from '../../sandbox/data/seeded-random.js';
import { codeEdits } from './code-edits.js';
import type { Edit, Fault, Rule } from './fault.js';
import { LIMITS } from './limits.js';
import { Lines } from './lines.js';

/** A compiled file, the source that it was made of, and the map from one to the other. */
export interface Compiled {
  file: string;
  source: string;
  text: string;
  map: ConstructorParameters<typeof SourceMap>[0];
}

/** A fault before its file is written: where it is, and what makes it. */
interface Site {
  compiled: Compiled;
  edit: Edit;
  line: number;
}

/**
 * So many faults of these files, drawn from the seed; fewer where there are no more. Every rule comes once before any comes again, and no
 * line has two. What a compiler wrote that no source line has, such as a validator, has none.
 */
export function drawFaults(files: readonly Compiled[], seed: number, count: number): Fault[] {
  const random = new SeededRandom('mutate', seed);
  const byRule = Map.groupBy(files.flatMap(sitesOf), ({ edit }) => edit.rule);
  const taken = new Set<string>();
  const faults: Fault[] = [];
  let bag: Rule[] = [];
  while (faults.length < count && byRule.size > 0) {
    if (bag.length === 0) bag = [...byRule.keys()].sort();
    const [rule] = bag.splice(random.between(0, bag.length - 1), 1);
    const site = rule && drawn(byRule, rule, random);
    if (!site) continue;
    const place = `${site.compiled.file}:${site.line}`;
    if (!taken.has(place)) faults.push(faultOf(site));
    taken.add(place);
  }
  return faults;
}

/** Takes one of the rule's sites out, and the rule with its last one. */
function drawn(byRule: Map<Rule, Site[]>, rule: Rule, random: SeededRandom): Site | undefined {
  const sites = byRule.get(rule) ?? [];
  const [site] = sites.splice(random.between(0, Math.max(0, sites.length - 1)), 1);
  if (sites.length === 0) byRule.delete(rule);
  return site;
}

function sitesOf(compiled: Compiled): Site[] {
  const map = new SourceMap(compiled.map);
  const [text, source] = [new Lines(compiled.text), new Lines(compiled.source)];
  return codeEdits(compiled.text).flatMap((edit) => {
    const line = sourceLine(map, text, source, edit);
    return line === undefined ? [] : [{ compiled, edit, line }];
  });
}

/**
 * The source's line of what an edit is part of, from 1. A literal has the lines of its source. Undefined for what the compiler made by
 * itself: the source has something else where that is mapped to.
 */
function sourceLine(map: SourceMap, text: Lines, source: Lines, { mapped, shownFrom }: Edit): number | undefined {
  const row = text.rowOf(mapped);
  const entry = map.findEntry(row, mapped - text.offset(row, 0));
  if (!('originalLine' in entry)) return undefined;
  const { generatedLine, generatedColumn, originalLine, originalColumn } = entry;
  const isExact = text.offset(generatedLine, generatedColumn) === mapped;
  const isSame = text.after(mapped) === source.after(source.offset(originalLine, originalColumn));
  return isExact && isSame ? originalLine + 1 + text.rowOf(shownFrom) - row : undefined;
}

function faultOf({ compiled: { file, text }, edit, line }: Site): Fault {
  const { rule, from, to, by, shownFrom, shownTo } = edit;
  const before = shown(text.slice(shownFrom, shownTo));
  const after = shown(text.slice(shownFrom, from) + by + text.slice(to, shownTo));
  return { rule, file, line, before, after, text: text.slice(0, from) + by + text.slice(to) };
}

function shown(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ').trim();
  return line.length > LIMITS.shown_characters ? `${line.slice(0, LIMITS.shown_characters)}…` : line;
}
