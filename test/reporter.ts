import { Transform, type TransformCallback } from 'node:stream';
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

/**
 * What `npm test` prints: a line for each test file as it ends, what failed with its diagnostics below it, and at the end every
 * failure once more, then the last line `N passed, N failed`, which continuous integration reads. Passing assertions are counted.
 */
export default class Reporter extends Transform {
  readonly #parser = new Parser();
  readonly #failures: string[] = [];
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  constructor() {
    super({ encoding: 'utf8' });
    this.#parser.on('pass', () => {
      this.#passed += 1;
    });
    this.#parser.on('fail', (result: Result) => this.#fail(result));
    for (const kind of ['skip', 'todo']) {
      this.#parser.on(kind, () => {
        this.#skipped += 1;
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
      if (this.#skipped > 0) this.#print(`${this.#skipped} skipped`);
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
    const text = [result.fullname, ...describe(result.diag)].join('\n').replaceAll('\n', '\n    ');
    this.#failures.push(`  not ok ${text}`);
    this.#print(`  not ok ${text}`);
  }

  #print(line: string): void {
    this.push(`${line}\n`);
  }
}

/** The diagnostics of a failed assertion, the difference as lines; the source around it stands in the file that `at` names. */
function describe(diagnostics: Record<string, unknown> | null): string[] {
  if (!diagnostics) return [];
  const { source: _, diff, ...rest } = diagnostics;
  return [inspect(rest, { depth: 8, breakLength: 120 }), ...(typeof diff === 'string' ? [diff.trimEnd()] : [])];
}
