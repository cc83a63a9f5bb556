import { ExecutedLines } from './executed.js';
import type { Execution } from './executions.js';
import type { Fault } from './fault.js';
import { LIMITS } from './limits.js';
import { runTest, type TestEnd } from './run-test.js';
import type { Tree } from './tree.js';

/** What became of a fault. `not executed`: no test that passes executes its line. */
export interface Judged extends Omit<Fault, 'text'> {
  number: number;
  folder: string;
  outcome: 'caught' | 'survived' | 'not executed';
  /** The test that told of it, and how. */
  by: { test: string; end: TestEnd } | null;
  /** Those that ran with it. */
  tests: string[];
}

/**
 * Runs the tests of faults: those that execute the line of the fault, the ones first that import its file and execute most of it. A test
 * that fails, or takes far longer than without the fault, has caught it. What fails without a fault judges none.
 */
export class Judge {
  readonly #tree: Tree;
  readonly #executions: readonly Execution[];
  readonly #most: number;
  readonly #lines: ExecutedLines;

  /** `most`: test files that run for a fault. */
  constructor(tree: Tree, executions: readonly Execution[], most: number) {
    this.#tree = tree;
    this.#executions = executions;
    this.#most = most;
    this.#lines = new ExecutedLines(tree.path);
  }

  async judge(fault: Fault, number: number, folder: string): Promise<Judged> {
    const { text, ...told } = fault;
    const base = { ...told, number, folder, by: null };
    const line = await this.#lines.lineOf(fault.file, fault.line);
    const chosen = this.#testsOf(fault.file, line).slice(0, this.#most);
    const tests: string[] = [];
    for (const { test, took_ms } of chosen) {
      const limit_ms = LIMITS.test_with_fault_ms + LIMITS.times_as_long * took_ms;
      const run = () => runTest(this.#tree.path, test, limit_ms);
      const { end } = await this.#tree.with(fault.file, text, run);
      tests.push(test);
      if (end !== 'passed') return { ...base, outcome: 'caught', by: { test, end }, tests };
    }
    return { ...base, outcome: tests.length > 0 ? 'survived' : 'not executed', tests };
  }

  #testsOf(file: string, line: number): Execution[] {
    const importers = this.#tree.importersOf(file);
    const isDirect = ({ test }: Execution) => importers.get(test.replace(/^dist\//, '')) === 1;
    const executes = ({ executed }: Execution) => executed.get(file)?.size ?? 0;
    return this.#executions
      .filter(({ end, executed }) => end === 'passed' && executed.get(file)?.has(line))
      .sort((a, b) => Number(isDirect(b)) - Number(isDirect(a)) || executes(b) - executes(a) || a.took_ms - b.took_ms);
  }
}
