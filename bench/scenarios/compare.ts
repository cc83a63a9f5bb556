import { InvalidArgumentError } from 'commander';
import type { Cost } from '../kit/cost/cost.js';
import { number, reportOf } from '../kit/report.js';
import { defineScenario, flagName, type Scenario } from '../kit/scenario.js';
import { type Rounds, ratioLines, ratiosOf, sidesOf } from './compare/ratios.js';
import { sideBySide } from './compare/side-by-side.js';
import { baseline, THIS_TREE, treeOf } from './compare/tree.js';

const OPTIONS = {
  base: {
    means: 'the commit to compare with, built once, in .data/compare; empty: that of bench/baseline',
    default: '',
  },
  scenario: { means: 'what is measured: one scenario, or some, with commas between', default: 'poll,end-to-end' },
  rounds: { means: 'how often both are measured, with a new service and database each', default: 2 },
  seconds: {
    means: 'how long a scenario measures in a round, of which each tree has half',
    default: 10,
    fraction: true,
  },
  warmup: { means: 'seconds before measuring, where a scenario warms up', default: 3, fraction: true },
  worst: {
    means: 'processor time that is more than so many times that of the base is a fault',
    default: 1.25,
    fraction: true,
  },
};

const METHOD =
  'both trees run the scenario at once, each by its own program with a service and a database of its own; their loads take turns of 0.1 s. The ratio is the median of those of the rounds';
const NOT_MEASURED = [
  'what the program of the bench itself changed: each tree measures with its own',
  'rates, and latencies: each tree is given half of the time, and shares caches with the other',
  'a change of less than a twentieth, or of a sixth by one round: two measurements of one commit differ by as much',
];

/** What a change costs or saves an operation: this tree against a commit, side by side. */
export const compareOf = (scenarios: Scenario[]): Scenario =>
  defineScenario({
    name: 'compare',
    summary: 'processor time of an operation against another commit, side by side',
    options: OPTIONS,
    async run(options, say) {
      const { rounds, seconds, warmup, worst } = options;
      const base = options.base || (await baseline()).slice(0, 12);
      const chosen = options.scenario.split(',').map((name) => scenarioOf(scenarios, name));
      const trees = { base: await treeOf(base, say), this: THIS_TREE };
      const costs: Record<string, Cost> = {};
      const ratios = [];
      for (const { name, options: known } of chosen) {
        // What a scenario compares itself with is not asked for here: as little of it as there can be.
        const given = { seconds, warmup, rounds: 1, baselineConnections: 1 };
        const flags = Object.entries(given).flatMap(([name, value]) =>
          name in known ? [`--${flagName(name)}`, String(value)] : [],
        );
        const measured: Rounds = { base: [], this: [] };
        for (let round = 1; round <= rounds; round++) {
          say(`${name}, round ${round} of ${rounds}: this tree beside ${base}`);
          const [former, own] = await sideBySide([trees.base, trees.this], name, flags);
          if (former) measured.base.push(former);
          if (own) measured.this.push(own);
        }
        const sides = sidesOf(measured);
        ratios.push(...ratiosOf(sides));
        for (const [kind, { base: former, this: own }] of sides) {
          costs[`${kind}, base`] = former;
          costs[`${kind}, this`] = own;
        }
      }
      const dearest = ratios.toSorted((a, b) => b.ratio - a.ratio)[0];
      return reportOf({
        scenario: 'compare',
        options: { ...options, base },
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
