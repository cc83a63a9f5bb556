import { glob } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import t, { TapFile, type TapFileOpts } from 'tap';
import { AT_LENGTH } from '../fixture/size.js';
import { changedTests } from './changed.js';
import { Lane } from './lanes.js';
import { inOrder, Queue } from './order.js';
import Reporter from './reporter.js';

/*
 * `npm test` and `npm run test:long`: runs test files, several at a time, and prints what the reporter makes of them.
 */
const MOST_JOBS = 12;
const ROOT = join(import.meta.dirname, '../../..');

const program = new Command('npm test --')
  .description('runs the tests')
  .argument('[files...]', 'compiled test files, or patterns of their names', [
    AT_LENGTH ? 'dist/test/**/*.{test,long}.js' : 'dist/test/**/*.test.js',
  ])
  .option('--jobs <n>', 'files at a time', atLeastOne, usualJobs())
  .option('--timeout <seconds>', 'for each file', atLeastOne, 600)
  .option('--changed [commit]', 'only the files that import what was changed since then', false)
  .parse();
const { jobs, timeout, changed } = program.opts<{ jobs: number; timeout: number; changed: boolean | string }>();

/** Two for each processor, since files wait as well; three are no faster. Each has a gibibyte, for itself and its service. */
function usualJobs(): number {
  const memory = Math.floor(totalmem() / 2 ** 30);
  return Math.max(2, Math.min(2 * availableParallelism(), memory, MOST_JOBS));
}

function atLeastOne(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number of at least 1');
  return value;
}

const found: string[] = [];
for await (const file of glob(program.args.length > 0 ? program.args : program.processedArgs[0], { cwd: ROOT }))
  found.push(file);
const named = changed === false ? found : changedTests(found, changed === true ? 'HEAD' : changed);
if (found.length === 0) program.error('there is no such test file');
if (named.length === 0) {
  process.stdout.write('no test file imports what was changed\n');
  process.exit();
}

const nameOf = (file: string) => relative('dist/test', file).replace(/(\.test)?\.js$/, '');
const queue = new Queue(inOrder(named, nameOf), nameOf);

/** Ids stay above what the clock of their process has shown: files behind these in one process would have ids of the future. */
const MOVES_CLOCK = new Set(['actors/deliveries/dispatcher']);

/** One file, as a test of the whole run. */
class FileRun extends TapFile {
  readonly #lane: Lane;

  constructor(options: TapFileOpts & { lane: Lane }) {
    super(options);
    this.#lane = options.lane;
  }

  override main(done: () => void): void {
    const alone = AT_LENGTH || MOVES_CLOCK.has(nameOf(this.name));
    const { tap, end } = this.#lane.run(join(ROOT, this.name), { timeout_ms: timeout * 1000, alone });
    this.tapStream = tap as unknown as NonNullable<typeof this.tapStream>;
    super.main(() =>
      end.then(({ left, broken, said }) => {
        if (said && (broken || left.length > 0 || !this.parser.ok)) process.stderr.write(said);
        if (broken) t.fail(`${this.name} ended its process`);
        if (this.counts.total === 0) t.fail(`${this.name} asserts nothing`);
        for (const one of left) t.fail(`${this.name} left running: ${one}`);
        done();
      }),
    );
  }
}

t.jobs = jobs;
t.setTimeout(0);
t.register();
t.pipe(new Reporter()).pipe(process.stdout);

/** Runs files one after the other, until there is none left. */
async function runLane(): Promise<void> {
  const lane = new Lane();
  for (let file = queue.next(lane); file !== undefined; file = queue.next(lane))
    await t.sub(FileRun, { name: file, lane, buffered: true, at: null });
  lane.close();
}

await Promise.all(Array.from({ length: jobs }, runLane));
t.end();
