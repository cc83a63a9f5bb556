import { Transform, type TransformCallback } from 'node:stream';
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

/** Of one failure at most. */
const LINES = 60;

/**
 * What `npm test` prints: a line for each test file as it ends, what failed with its diagnostics below it, and at the end every
 * failure once more with its first lines, what was skipped and why, then the last line `N passed, N failed`, which continuous integration reads. Passing assertions are counted.
 */
export default class Reporter extends Transform {
  readonly #parser = new Parser();
  readonly #failures: string[] = [];
  #passed = 0;
  #failed = 0;
  /** Each with its reason. */
  readonly #skipped: string[] = [];

  constructor() {
    super({ encoding: 'utf8' });
    this.#parser.on('pass', () => {
      this.#passed += 1;
    });
    this.#parser.on('fail', (result: Result) => this.#fail(result));
    for (const kind of ['skip', 'todo'] as const) {
      this.#parser.on(kind, (result: Result) => {
        const reason = typeof result[kind] === 'string' ? result[kind] : `no reason (${kind})`;
        this.#skipped.push(`${result.fullname}: ${reason}`);
      });
    }
    this.#parser.on('child', (file: Parser) => this.#follow(file));
    this.#parser.on('bailout', (reason: string) => this.#print(`broken off: ${reason}`));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#parser.write(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#parser.on('complete', ({ ok }) => {
      if (this.#failures.length > 0) this.#print(['', 'Failed:', ...this.#failures].join('\n'));
      // The run can fail without a failed assertion: a file that ran none, or a plan that was not kept.
      if (!ok && this.#failed === 0) this.#failed = 1;
      for (const one of this.#skipped) this.#print(`skipped ${one}`);
      if (this.#skipped.length > 0) this.#print(`${this.#skipped.length} skipped`);
      this.#print(`${this.#passed} passed, ${this.#failed} failed`);
      done();
    });
    this.#parser.end();
  }

  #follow(file: Parser): void {
    const before = { passed: this.#passed, failed: this.#failed };
    file.on('complete', () => {
      const passed = this.#passed - before.passed;
      const failed = this.#failed - before.failed;
      const name = file.name.replace(/^dist\/test\//, '').replace(/\.test\.js$/, '');
      const seconds = ((file.time ?? 0) / 1000).toFixed(1).padStart(6);
      this.#print(`${failed > 0 ? 'FAIL' : 'pass'} ${seconds} s ${String(passed + failed).padStart(5)}  ${name}`);
    });
  }

  #fail(result: Result): void {
    this.#failed += 1;
    const lines = [result.fullname, ...describe(result.diag)].join('\n').split('\n');
    const left = lines.length - LINES;
    if (left > 0) lines.splice(LINES - 1, left + 1, `… ${left + 1} more lines`);
    const text = `  not ok ${lines.join('\n    ')}`;
    this.#failures.push(text);
    this.#print(text);
  }

  #print(line: string): void {
    this.push(`${line}\n`);
  }
}

/** The diagnostics of a failed assertion, the difference as lines; the source around it stands in the file that `at` names. */
function describe(diagnostics: Record<string, unknown> | null): string[] {
  if (!diagnostics) return [];
  const { source: _, diff, ...rest } = diagnostics;
  const shown = inspect(rest, { depth: 8, breakLength: 120, maxStringLength: 2_000, maxArrayLength: 30 });
  return [shown, ...(typeof diff === 'string' ? [diff.trimEnd()] : [])];
}
