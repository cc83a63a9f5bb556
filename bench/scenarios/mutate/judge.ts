import type { Fault } from './fault.js';
import { LIMITS } from './limits.js';
import { runTest, type TestEnd } from './run-test.js';
import type { Tree } from './tree.js';

/** What became of a fault. `not tested`: no test that could judge it imports its file. */
export interface Judged extends Omit<Fault, 'text'> {
  number: number;
  folder: string;
  outcome: 'caught' | 'survived' | 'not tested';
  /** The test that told of it, and how. */
  by: { test: string; end: TestEnd } | null;
  /** Those that ran with it. */
  tests: string[];
}

/**
 * Runs the tests of faults. A test that fails has caught the fault if it passes without it, which is asked once of each test and only then:
 * what passes with a fault has nothing to prove. One that fails without a fault as well judges none.
 */
export class Judge {
  readonly #tree: Tree;
  readonly #most: number;
  readonly #clean = new Map<string, { end: TestEnd; took_ms: number }>();

  /** `most`: test files that run for a fault. */
  constructor(tree: Tree, most: number) {
    this.#tree = tree;
    this.#most = most;
  }

  /** Test files that judge nothing, with how they ended without a fault. */
  get unfit(): { test: string; end: TestEnd }[] {
    return [...this.#clean].flatMap(([test, { end }]) => (end === 'passed' ? [] : [{ test, end }]));
  }

  async judge(fault: Fault, number: number, folder: string): Promise<Judged> {
    const { text, ...told } = fault;
    const base = { ...told, number, folder, by: null };
    const tests: string[] = [];
    for (const test of this.#tree.testsOf(fault.file)) {
      if (tests.length === this.#most) break;
      if (!this.#isFit(test)) continue;
      const { end } = await this.#tree.with(fault.file, text, () => this.#run(test));
      if (end !== 'passed' && !(await this.#caught(test, end))) continue;
      tests.push(test);
      if (end !== 'passed') return { ...base, outcome: 'caught', by: { test, end }, tests };
    }
    return { ...base, outcome: tests.length > 0 ? 'survived' : 'not tested', tests };
  }

  async #caught(test: string, end: TestEnd): Promise<boolean> {
    const clean = this.#clean.get(test) ?? (await this.#run(test));
    this.#clean.set(test, clean);
    return this.#isFit(test) && (end === 'failed' || clean.took_ms < LIMITS.test_ms / 2);
  }

  #isFit(test: string): boolean {
    const clean = this.#clean.get(test);
    return clean === undefined || clean.end === 'passed';
  }

  #run(test: string): ReturnType<typeof runTest> {
    return runTest(this.#tree.path, test, LIMITS.test_ms);
  }
}
