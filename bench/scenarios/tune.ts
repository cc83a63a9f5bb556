import { InvalidArgumentError } from 'commander';

import type { Plot } from '../kit/page/plot.js';
import { number, reportOf, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report, type Scenario, valuesOf } from '../kit/scenario.js';
import { kneeOf, type Tried } from './tune/knee.js';
import { TUNABLES, type Tunable } from './tune/tunables.js';

const OPTIONS = {
  scenario: { means: `whose rate is looked at: ${Object.keys(TUNABLES).join(', ')}`, default: 'end-to-end' },
  seconds: { means: 'how long a round of it measures, where it has rounds', default: 5 },
  rounds: { means: 'rounds of each setting, where it has rounds', default: 2 },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'one variable after the other is swept with a new service for each setting, the ones before it at their knee: the smallest setting within 5 % of the best';
const NOT_MEASURED = [
  'settings beside each other: of several variables, only the last is swept with the others in place',
  'other loads than that of the scenario: what is best for it may not be for another',
  'latency: among settings of the same rate, one may answer sooner',
];

interface Sweep {
  variable: string;
  what: string;
  tried: Tried[];
  knee: number;
}

/** Sweeps the settings that decide the rate of one of these scenarios. */
export const tuneOf = (scenarios: Scenario[]): Scenario =>
  defineScenario({
    name: 'tune',
    summary: 'sweeps the settings that decide the rate of a scenario and prints the smallest good ones',
    options: OPTIONS,
    startsService: true,
    async run(options, say) {
      const tunables = TUNABLES[options.scenario];
      const scenario = scenarios.find(({ name }) => name === options.scenario);
      if (!tunables || !scenario)
        throw new InvalidArgumentError(`--scenario: it wants one of ${Object.keys(TUNABLES).join(', ')}`);
      const before = tunables.map(({ variable }) => [variable, process.env[variable]] as const);
      const sweeps: Sweep[] = [];
      try {
        for (const tunable of tunables) sweeps.push(await sweep(scenario, tunable, options, say));
      } finally {
        for (const [variable, value] of before) {
          if (value === undefined) delete process.env[variable];
          else process.env[variable] = value;
        }
      }
      return report(options, sweeps);
    },
  });

/** Leaves the variable at its knee. */
async function sweep(
  scenario: Scenario,
  { variable, settings }: Tunable,
  { seconds, rounds }: Options,
  say: (line: string) => void,
): Promise<Sweep> {
  const tried: Tried[] = [];
  let what = '';
  for (const setting of settings) {
    process.env[variable] = String(setting);
    say(`${variable}=${setting}`);
    const { headline } = await scenario.run(valuesOf(scenario, { seconds, rounds, kind: 'read' }), (line) =>
      say(`  ${line}`),
    );
    if (!headline) throw new Error(`${scenario.name} has no rate to tune by`);
    what = headline.what;
    tried.push({ setting, rate: headline.spread });
  }
  const knee = kneeOf(tried).setting;
  process.env[variable] = String(knee);
  return { variable, what, tried, knee };
}

function report(options: Options, sweeps: Sweep[]): Promise<Report> {
  return reportOf({
    scenario: 'tune',
    options,
    method: METHOD,
    lines: sweeps
      .flatMap(({ variable, what, tried, knee }) => {
        const best = Math.max(...tried.map(({ rate }) => rate.median));
        return [
          `${variable}:`,
          ...tried.map(({ setting, rate }) => {
            const share = `${number(rate.median / best, 2)} of the best`;
            return `${String(setting).padStart(6)}  ${spreadText(rate, what).padEnd(44)}${share}${setting === knee ? '  <- knee' : ''}`;
          }),
          '',
        ];
      })
      .concat([
        'settings for this machine and load:',
        '',
        ...sweeps.map(({ variable, knee }) => `    ${variable}=${knee}`),
        '',
      ]),
    costs: 'the scenario that is swept tells it: run that with the settings found',
    ratios: sweeps.map(({ variable, tried, knee }) => {
      const [at, first] = [tried.find(({ setting }) => setting === knee), tried[0]];
      const ratio = (at?.rate.median ?? Number.NaN) / (first?.rate.median ?? Number.NaN);
      return `${number(ratio, 2)} of the rate with ${variable}=${first?.setting} at ${knee}`;
    }),
    sampled: `${number(sweeps.reduce((sum, { tried }) => sum + tried.length, 0))} settings, each with the rounds of the scenario`,
    notMeasured: NOT_MEASURED,
    data: { sweeps, settings: Object.fromEntries(sweeps.map(({ variable, knee }) => [variable, knee])) },
    plots: sweeps.map(plotOf),
  });
}

const plotOf = ({ variable, what, tried, knee }: Sweep): Plot => ({
  title: `${variable}: ${what}; the knee is at ${knee}`,
  x: { label: variable, values: tried.map(({ setting }) => setting) },
  y: what,
  series: (['median', 'min', 'max'] as const).map((name) => ({ name, values: tried.map(({ rate }) => rate[name]) })),
});
