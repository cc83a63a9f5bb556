import { InvalidArgumentError } from 'commander';
import { ORDER, ratioLines, ratiosOf, sidesOf, type Turns } from '../compare/ratios.js';
import { THIS_TREE, treeOf } from '../compare/tree.js';
import { turnOf } from '../compare/turn.js';
import type { Cost } from '../cost/cost.js';
import { number, reportOf } from '../report.js';
import { defineScenario, type Scenario } from '../scenario.js';

const OPTIONS = {
  base: { means: 'the commit to compare with: built once, in .data/compare', default: 'HEAD' },
  scenario: { means: 'what is measured: one scenario, or some, with commas between', default: 'poll,end-to-end' },
  rounds: { means: 'rounds of four turns: base, this, this, base', default: 2 },
  seconds: { means: 'how long a scenario measures in a turn', default: 5, fraction: true },
  warmup: { means: 'seconds before measuring, where a scenario warms up', default: 2, fraction: true },
  worst: {
    means: 'processor time that is more than so many times that of the base is a fault',
    default: 1.25,
    fraction: true,
  },
};

const METHOD =
  "each turn is a run of the scenario by its tree's own program, with a new service and database; medians of the turns are compared";
const NOT_MEASURED = [
  'what the program of the bench itself changed: each tree measures with its own',
  'rates: they follow what else the machine does',
  'a change of less than a tenth: two runs of one commit differ by as much',
];

/** What a change costs or saves an operation: this tree against a commit, in turns. */
export const compareOf = (scenarios: Scenario[]): Scenario =>
  defineScenario({
    name: 'compare',
    summary: 'processor time of an operation against another commit, in turns',
    options: OPTIONS,
    async run(options, say) {
      const { base, rounds, seconds, warmup, worst } = options;
      const chosen = options.scenario.split(',').map((name) => scenarioOf(scenarios, name));
      const trees = { base: await treeOf(base, say), this: THIS_TREE };
      const costs: Record<string, Cost> = {};
      const ratios = [];
      for (const { name, options: known } of chosen) {
        const flags = Object.entries({ seconds, warmup, rounds: 1 }).flatMap(([flag, value]) =>
          flag in known ? [`--${flag}`, String(value)] : [],
        );
        const turns: Turns = { base: [], this: [] };
        for (let round = 1; round <= rounds; round++) {
          for (const side of ORDER) {
            say(`${name}, round ${round}: ${side === 'base' ? base : 'this'}`);
            turns[side].push(await turnOf(trees[side], name, flags));
          }
        }
        const sides = sidesOf(turns);
        ratios.push(...ratiosOf(sides));
        for (const [kind, { base: former, this: own }] of sides) {
          costs[`${kind}, base`] = former;
          costs[`${kind}, this`] = own;
        }
      }
      const dearest = ratios.toSorted((a, b) => b.ratio - a.ratio)[0];
      return reportOf({
        scenario: 'compare',
        options,
        method: METHOD,
        lines: [...ratioLines(ratios), ''],
        costs,
        ratios: dearest
          ? [`${number(dearest.ratio, 2)} of ${base} at the worst: ${dearest.figure} of ${dearest.kind}`]
          : [],
        notMeasured: NOT_MEASURED,
        data: { compared: ratios },
        faults: ratios
          .filter(({ ratio }) => !(ratio <= worst))
          .map(({ kind, figure, ratio }) => `${kind}: ${figure} are ${number(ratio, 2)} of ${base}`),
      });
    },
  });

function scenarioOf(scenarios: Scenario[], name: string): Scenario {
  const found = scenarios.find((one) => one.name === name && one.startsService);
  if (found) return found;
  const names = scenarios.filter(({ startsService }) => startsService).map((one) => one.name);
  throw new InvalidArgumentError(`--scenario ${name}: it wants one of ${names.join(', ')}`);
}
