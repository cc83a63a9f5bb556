import { InvalidArgumentError } from 'commander';
import type { Cost } from '../kit/cost/cost.js';
import { embeddedBinaries, type PostgresBinaries, postgresBinaries } from '../kit/postgres/binaries.js';
import { type DatabaseChoice, databaseChoice } from '../kit/postgres/choice.js';
import { number, reportOf, rows, spreadText, tableLines } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report, type Scenario, valuesOf } from '../kit/scenario.js';
import { COMPARED, turnOf } from './stock/figures.js';
import { steadyTurn } from './stock/steady.js';
import { type Compared, compare, costsOf, ORDER, type Side, type Turn, type TurnsBySide } from './stock/turn.js';

const OPTIONS = {
  version: { means: 'of the stock server: 15, 16, 17 or 18', default: 15 },
  rounds: { means: 'rounds of four turns: stock, embedded, embedded, stock', default: 1 },
  seconds: { means: 'how long a scenario measures in a turn', default: 4 },
  steadySeconds: { means: 'how long the load at a fixed rate is measured in a turn', default: 10 },
  warmup: { means: 'seconds before measuring', default: 2 },
  events: { means: 'events that deliveries records in a turn', default: 20_000 },
  parts: { means: `what is compared: all, or some of ${[...COMPARED, 'steady'].join(', ')}`, default: 'all' },
};
type Options = OptionValues<typeof OPTIONS>;

/** A figure that is so many times worse on the stock server is a fault. */
const WORSE = 1.3;

const METHOD =
  'each scenario runs on a server with default settings and on the embedded one in turns, a new service and database each time; medians of the turns are compared';
const NOT_MEASURED = [
  'the same server with two settings: the embedded one is PostgreSQL 18, has 256 MB of shared buffers and up to 2 GB of log between checkpoints, and is reached through a socket; a stock one has 128 MB and 1 GB, and is reached by TCP',
  'what compiling statements costs a server without LLVM: jit is on by default and does nothing there',
  'a server on another machine, and one that others use as well',
  'checkpoints that come by time: a turn is shorter than five minutes',
];

/** What the service loses on a PostgreSQL as its users install it, against the embedded one that every other scenario is used to. */
export const stockOf = (scenarios: Scenario[]): Scenario =>
  defineScenario({
    name: 'stock',
    summary: 'the main scenarios on a PostgreSQL with default settings, against the embedded one, in turns',
    options: OPTIONS,
    startsService: true,
    async run(options, say) {
      const choices: Record<Side, DatabaseChoice> = { stock: versionOf(options), embedded: 'embedded' };
      const parts = partsOf(options, scenarios);
      const server = await postgresBinaries(versionOf(options), say);
      const compared: Compared[] = [];
      const costs: Record<string, Cost> = {};
      const faults: string[] = [];
      for (const [name, part] of parts) {
        const turns: TurnsBySide = { stock: [], embedded: [] };
        for (let round = 1; round <= options.rounds; round++) {
          for (const side of ORDER) {
            say(`${name}, round ${round}: ${side}`);
            const turn = await part(choices[side], options, (line) => say(`  ${line}`));
            turns[side].push(turn);
            faults.push(...turn.faults.map((fault) => `${name} on ${choices[side]}: ${fault}`));
          }
        }
        compared.push(...compare(name, turns));
        Object.assign(costs, costsOf(name, turns));
      }
      return report(options, server, { compared, costs, faults });
    },
  });

function versionOf({ version }: Options): PostgresBinaries['version'] {
  try {
    const choice = databaseChoice(String(version));
    if (choice !== 'embedded') return choice;
  } catch {
    // Not one that the service supports.
  }
  throw new InvalidArgumentError(`--version ${version}: it wants 15, 16, 17 or 18`);
}

type Part = (database: DatabaseChoice, options: Options, say: (line: string) => void) => Promise<Turn>;

function partsOf({ parts }: Options, scenarios: Scenario[]): [name: string, part: Part][] {
  const all: [string, Part][] = COMPARED.flatMap((name) => {
    const scenario = scenarios.find((one) => one.name === name);
    return scenario ? [[name, partOf(scenario)] satisfies [string, Part]] : [];
  });
  all.push([
    'steady',
    (database, { steadySeconds, warmup }, say) => steadyTurn(database, { seconds: steadySeconds, warmup }, say),
  ]);
  if (parts === 'all') return all;
  return parts.split(',').map((name) => {
    const found = all.find(([one]) => one === name);
    if (!found)
      throw new InvalidArgumentError(`--parts ${name}: it wants all, or some of ${all.map(([one]) => one).join(', ')}`);
    return found;
  });
}

/** Runs the scenario as a command line with the variable DATABASE would. */
function partOf(scenario: Scenario): Part {
  return async (database, { seconds, warmup, events }, say) => {
    const before = process.env.DATABASE;
    process.env.DATABASE = String(database);
    try {
      const values = valuesOf(scenario, { seconds, warmup, events, rounds: 1, nodes: 3 });
      return turnOf(scenario.name, await scenario.run(values, say));
    } finally {
      if (before === undefined) delete process.env.DATABASE;
      else process.env.DATABASE = before;
    }
  };
}

const buildText = ({ version, from, compiles }: PostgresBinaries): string =>
  `PostgreSQL ${version} from ${from}, ${compiles ? 'with LLVM: its default jit = on compiles statements' : 'without LLVM: jit does nothing'}`;

interface Found {
  compared: Compared[];
  costs: Record<string, Cost>;
  faults: string[];
}

function report(options: Options, server: PostgresBinaries, { compared, costs, faults }: Found): Promise<Report> {
  const worst = compared.toSorted((a, b) => b.worse - a.worse)[0];
  const goals = compared.flatMap(({ name, unit, stock, goal }) =>
    goal === undefined
      ? []
      : { name, met: stock.median < goal, text: `${name} below ${goal} ${unit} on the stock server` },
  );
  return reportOf({
    scenario: 'stock',
    options,
    method: METHOD,
    lines: [
      ...tableOf(compared),
      '',
      ...rows([
        ['stock', buildText(server)],
        ['embedded', buildText(embeddedBinaries())],
        ...goals.map(({ text, met }) => ['goal', `${text}: ${met ? 'met' : 'NOT met'}`] as const),
      ]),
    ],
    costs,
    ratios: worst
      ? [`${number(worst.worse, 2)} of the embedded database's at the worst, where more is worse: ${worst.name}`]
      : [],
    notMeasured: NOT_MEASURED,
    data: { server, compared },
    plots: [
      {
        title: 'how many times worse on the stock server',
        x: { label: 'figure', names: compared.map(({ name }) => name) },
        y: 'times',
        series: [{ name: 'worse', values: compared.map(({ worse }) => worse) }],
      },
    ],
    faults: [
      ...faults,
      ...compared
        .filter(({ worse }) => !(worse <= WORSE))
        .map(({ name, worse }) => `${name} is ${number(worse, 2)} times worse on PostgreSQL ${server.version}`),
      ...goals.filter(({ met }) => !met).map(({ text }) => `missed: ${text}`),
    ],
  });
}

function tableOf(compared: Compared[]): string[] {
  const decimals = ({ unit }: Compared) => (unit === 'ms' ? 2 : 0);
  const cells = compared.map((one) => [
    one.name,
    spreadText(one.stock, one.unit, decimals(one)),
    spreadText(one.embedded, one.unit, decimals(one)),
    number(one.ratio, 2),
  ]);
  return tableLines([['', 'stock', 'embedded', 'stock/embedded'], ...cells]);
}
