import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import { ExecutedLines, type LinesOf } from './executed.js';
import { LIMITS } from './limits.js';
import { runTest, type TestEnd } from './run-test.js';
import type { Tree } from './tree.js';

/** A test file without a fault: how it ended, and the lines of sources that it executed in all of its processes. */
export interface Execution {
  test: string;
  end: TestEnd;
  took_ms: number;
  executed: LinesOf;
}

/** As they are kept between runs, for the `dist` that they are of. */
interface Kept {
  built: string;
  executions: (Omit<Execution, 'executed'> & { executed: Record<string, number[]> })[];
}

/**
 * Every test file of the tree, run once by itself, with what it executed. The result is kept in `file`, and holds for as long as `dist` is
 * the same.
 */
export async function executionsOf(tree: Tree, file: string, say: (text: string) => void): Promise<Execution[]> {
  const built = createHash('sha256')
    .update(await readFile(join(tree.path, 'dist/.built')))
    .digest('hex');
  const kept = await read(file);
  if (kept?.built === built) return kept.executions.map(withSets);
  const lines = new ExecutedLines(tree.path);
  const tests = tree.tests();
  let done = 0;
  const run = async (test: string): Promise<Execution> => {
    const folder = join(tree.path, '.data/executed', test.replaceAll('/', '-'));
    const ended = await runTest(tree.path, test, LIMITS.test_ms, folder);
    done++;
    if (done % 20 === 0) say(`reading what each test executes: ${done} of ${tests.length}`);
    return { test, ...ended, executed: await lines.take(folder) };
  };
  const executions = await mapConcurrent(tests, run, LIMITS.tests_at_a_time);
  await writeFile(file, JSON.stringify({ built, executions: executions.map(withLists) } satisfies Kept));
  return executions;
}

async function read(file: string): Promise<Kept | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Kept;
  } catch {
    return null; // None was kept, or not the whole of it.
  }
}

function withLists({ executed, ...rest }: Execution): Kept['executions'][number] {
  return { ...rest, executed: Object.fromEntries([...executed].map(([file, lines]) => [file, [...lines]])) };
}

function withSets({ executed, ...rest }: Kept['executions'][number]): Execution {
  return { ...rest, executed: new Map(Object.entries(executed).map(([file, lines]) => [file, new Set(lines)])) };
}
