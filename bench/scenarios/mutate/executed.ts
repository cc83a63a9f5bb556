import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Lines } from './lines.js';

/** Lines of sources, from 1, by the path of the source. */
export type LinesOf = Map<string, Set<number>>;

/** What begins a line that nobody executes: a remark, an import, or the end of a block. */
const NO_CODE = /^(?:\/\/|\/?\*|import\b|\} from\b|[)\]},;]+$)/;

/** A line of a compiled file or bundle: where its code begins, and the line of the source that it was made of. */
interface Place {
  offset: number;
  source: string;
  line: number;
}

/** What V8 tells of one file that a process loaded: each function with its blocks, and how often each of them ran. */
interface Script {
  url: string;
  functions: { ranges: Block[] }[];
}

interface Block {
  startOffset: number;
  endOffset: number;
  count: number;
}

/**
 * Reads which lines of a tree's sources were executed, from what processes and threads write that run with `NODE_V8_COVERAGE`. A line that
 * is executed when its module loads is counted as well: imports and constants say nothing of a test.
 */
export class ExecutedLines {
  readonly #tree: string;
  readonly #places = new Map<string, Promise<Place[]>>();

  constructor(tree: string) {
    this.#tree = tree;
  }

  /** The lines that the processes of this folder executed. The folder is removed. */
  async take(folder: string): Promise<LinesOf> {
    const executed: LinesOf = new Map();
    for (const name of existsSync(folder) ? await readdir(folder) : []) {
      const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: Script[] };
      for (const script of result) await this.#add(executed, script);
    }
    await rm(folder, { recursive: true, force: true });
    return executed;
  }

  /** Every line of a source that has code of its own. */
  async linesWithCode(source: string): Promise<Set<number>> {
    const places = await this.#placesOf(join(this.#tree, 'dist', source.replace(/ts$/, 'js')));
    return new Set(places.map(({ line }) => line));
  }

  /** The line that is executed with this one: where its statement or argument begins, as inside of a literal no line is told of. */
  async lineOf(source: string, line: number): Promise<number> {
    const lines = await this.linesWithCode(source);
    return Math.max(...[...lines].filter((one) => one <= line));
  }

  async #add(executed: LinesOf, { url, functions }: Script): Promise<void> {
    const file = url.startsWith('file:') ? fileURLToPath(url) : '';
    if (!file.startsWith(join(this.#tree, 'dist/'))) return;
    const blocks = functions.flatMap((one) => one.ranges).sort(outerFirst);
    const around: Block[] = [];
    let next = 0;
    for (const { offset, source, line } of await this.#placesOf(file)) {
      for (; next < blocks.length && blocks[next]!.startOffset <= offset; next++) around.push(blocks[next]!);
      while (around.length > 0 && around.at(-1)!.endOffset <= offset) around.pop();
      if (around.at(-1)?.count) linesIn(executed, source).add(line);
    }
  }

  #placesOf(file: string): Promise<Place[]> {
    const known = this.#places.get(file) ?? this.#read(file);
    this.#places.set(file, known);
    return known;
  }

  async #read(file: string): Promise<Place[]> {
    if (!existsSync(`${file}.map`)) return [];
    const [text, json] = await Promise.all([readFile(file, 'utf8'), readFile(`${file}.map`, 'utf8')]);
    const [lines, map] = [new Lines(text), new SourceMap(JSON.parse(json))];
    return lines.begin().flatMap(({ row, column, offset, code }): Place[] => {
      if (NO_CODE.test(code)) return [];
      const entry = map.findEntry(row, column);
      if (!('originalLine' in entry) || entry.generatedLine !== row) return [];
      const source = relative(join(this.#tree, 'dist'), resolve(dirname(file), entry.originalSource));
      return [{ offset, source: source.slice('../'.length), line: entry.originalLine + 1 }];
    });
  }
}

/** Each block before those inside it. */
function outerFirst(a: Block, b: Block): number {
  return a.startOffset - b.startOffset || b.endOffset - a.endOffset;
}

function linesIn(executed: LinesOf, source: string): Set<number> {
  const lines = executed.get(source) ?? new Set();
  executed.set(source, lines);
  return lines;
}
