import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { number, reportOf } from '../kit/report.js';
import { defineScenario } from '../kit/scenario.js';
import { TemporaryFolder } from '../kit/temporary-folder.js';
import { ExecutedLines } from './mutate/executed.js';
import { type Execution, executionsOf } from './mutate/executions.js';
import { drawFaults } from './mutate/faults.js';
import { Judge, type Judged } from './mutate/judge.js';
import { Tree } from './mutate/tree.js';

const PRODUCT = ['storage', 'browser-pool', 'actors', 'server'];

const OPTIONS = {
  folder: { means: 'all, or a folder of the product, as storage or storage/deliveries', default: 'all' },
  count: { means: 'faults in each folder', default: 30 },
  seed: { means: 'the same seed makes the same faults of the same sources', default: 1 },
  tests: { means: 'test files that run for a fault, of those that execute its line', default: 12 },
  minutes: { means: 'for each folder; after them no further fault of it is tried', default: 60 },
  only: { means: 'numbers of faults of this seed, with commas between them; empty for all', default: '' },
};

const METHOD =
  'one-line faults made by rule in the compiled files of a copy of dist, one at a time; the test files that execute the line run until one fails or takes too long';
const NOT_MEASURED = [
  'what a process executed that was killed: V8 tells of it when it ends by itself',
  'a fault that changes nothing that anybody could see survives as well; only a person can tell',
  'faults of several lines, of migrations, and of pages of the console',
  'a fault that is caught by a syntax or type error: none is made that does not compile',
];

/** Which faults of the product no test would tell of. */
export const mutate = defineScenario({
  name: 'mutate',
  summary: 'which one-line faults, put into the product one by one, no test tells of',
  options: OPTIONS,
  async run(options, say) {
    const folders = foldersOf(options.folder);
    const only = numbersOf(options.only);
    await mkdir('.data', { recursive: true });
    await using copy = new TemporaryFolder(join(process.cwd(), '.data/bench-mutate-'));
    say('copying dist');
    const tree = await Tree.copy(process.cwd(), copy.path);
    const executions = await executionsOf(tree, join(process.cwd(), '.data/mutate-executed.json'), say);
    const judge = new Judge(tree, executions, options.tests);
    const judged: Judged[] = [];
    for (const folder of folders) {
      const faults = drawFaults(await tree.compiled(folder), options.seed, options.count);
      const until = performance.now() + options.minutes * 60_000;
      for (const [i, fault] of faults.entries()) {
        if (performance.now() > until) break;
        if (only.size > 0 && !only.has(i + 1)) continue;
        say(`${folder} ${i + 1} of ${faults.length}: ${fault.file}:${fault.line}, ${fault.rule}`);
        judged.push(await judge.judge(fault, i + 1, folder));
        say(`${folder} ${i + 1} of ${faults.length}: ${endOf(judged.at(-1)!)}`);
      }
    }
    const unfit = executions.filter(({ end }) => end !== 'passed').map(({ test, end }) => ({ test, end }));
    const lines = await Promise.all(folders.map((folder) => linesOf(tree, executions, folder)));
    return reportOf({
      scenario: 'mutate',
      options,
      method: METHOD,
      lines: [
        ...folders.map((folder, i) => summaryOf(folder, judged, lines[i]!)),
        '',
        ...leftOf(judged),
        ...unfitOf(unfit),
      ],
      costs: 'no operation is counted here',
      ratios: 'the share that is caught is one',
      sampled: `${judged.length} faults`,
      notMeasured: NOT_MEASURED,
      data: {
        faults: judged,
        unfit,
        lines,
        shares: Object.fromEntries(folders.map((one) => [one, shareOf(one, judged)])),
      },
    });
  },
});

function foldersOf(text: string): string[] {
  if (text === 'all') return PRODUCT;
  const folder = text.replace(/\/+$/, '');
  if (PRODUCT.includes(folder.split('/')[0] ?? '')) return [folder];
  throw new InvalidArgumentError(`--folder ${text}: it wants all, or a folder in ${PRODUCT.join(', ')}`);
}

function numbersOf(text: string): Set<number> {
  const numbers = text === '' ? [] : text.split(',').map(Number);
  if (numbers.every((one) => Number.isInteger(one) && one > 0)) return new Set(numbers);
  throw new InvalidArgumentError(`--only ${text}: it wants whole numbers with commas between them`);
}

/** The share of a folder's faults that were caught, from 0 to 1; null where there were none. */
function shareOf(folder: string, judged: readonly Judged[]): number | null {
  const own = judged.filter((one) => one.folder === folder);
  return own.length === 0 ? null : own.filter(({ outcome }) => outcome === 'caught').length / own.length;
}

function summaryOf(folder: string, judged: readonly Judged[], lines: Lines): string {
  const counts = Map.groupBy(
    judged.filter((one) => one.folder === folder),
    ({ outcome }) => outcome,
  );
  const told = (['caught', 'survived', 'not executed'] as const).map((one) => `${counts.get(one)?.length ?? 0} ${one}`);
  const share = shareOf(folder, judged);
  const caught = share === null ? '' : `: ${number(share * 100)} % caught`;
  const executed = `tests execute ${number((lines.executed / lines.all) * 100)} % of ${lines.all} lines`;
  return `${folder.padEnd(14)} ${told.join(', ')}${caught}; ${executed}`;
}

/** How many lines of a folder's sources have code, and how many of them some test executed. */
interface Lines {
  all: number;
  executed: number;
}

async function linesOf(tree: Tree, executions: readonly Execution[], folder: string): Promise<Lines> {
  const reader = new ExecutedLines(tree.path);
  const lines = { all: 0, executed: 0 };
  for (const { file } of await tree.compiled(folder)) {
    for (const line of await reader.linesWithCode(file)) {
      lines.all++;
      if (executions.some(({ executed }) => executed.get(file)?.has(line))) lines.executed++;
    }
  }
  return lines;
}

/** Two lines for each fault that nobody told of. */
function leftOf(judged: readonly Judged[]): string[] {
  return judged
    .filter(({ outcome }) => outcome !== 'caught')
    .flatMap((one) => [
      `${one.file}:${one.line}  ${one.rule}, ${endOf(one)} (number ${one.number})`,
      `    ${one.before}`,
      `  → ${one.after || 'nothing'}`,
    ]);
}

function unfitOf(unfit: readonly Pick<Execution, 'test' | 'end'>[]): string[] {
  return unfit.length === 0
    ? []
    : ['', ...unfit.map(({ test, end }) => `judged nothing, as it ${end} without a fault: ${test}`)];
}

function endOf({ outcome, by, tests }: Judged): string {
  if (by) return `${outcome} by ${by.test}, which ${by.end}`;
  return outcome === 'survived' ? `survived ${tests.length} test files` : outcome;
}
