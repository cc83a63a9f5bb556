import { InvalidArgumentError } from 'commander';
import type { Plot } from '../kit/page/plot.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { startService } from '../kit/service.js';
import { faultsAmong } from '../load/round.js';
import { type IdleMemory, idleMemory } from './growth/idle.js';
import { type Figure, Growth, type Size, WORKS } from './growth/sizes.js';

const OPTIONS = {
  from: { means: 'operations stored at first; each size is ten times the one before', default: 10_000 },
  upTo: { means: 'operations stored at the most', default: 1_000_000 },
  seconds: { means: 'how long each kind of work is measured at each size', default: 5 },
  connections: { means: 'connections that the operations are spread over', default: 256 },
  idle: { means: 'connections that have run an operation and then idle', default: 100_000 },
  only: { means: 'what is measured: sizes, idle or both', default: 'both' },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'rows are made by SQL, copies of an operation that ran, then vacuumed; at each size the same closed loops follow each other: submit with run, poll of old ones, list of the newest';
const NOT_MEASURED = [
  'a table that grew by work: the copies lie in order, and no dead rows are among them',
  'a cold cache: what of the table fits into memory is there',
  'more than one round of each: see the other scenarios for how far a figure can be trusted',
];

/** Whether operations cost more the more of them are stored, and what connections that do nothing hold. */
export const growth = defineScenario({
  name: 'growth',
  summary: 'submit, run, poll and list with 10,000 to 10,000,000 operations stored; memory of 100,000 idle connections',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const { only, idle } = options;
    if (!['sizes', 'idle', 'both'].includes(only))
      throw new InvalidArgumentError('--only: it wants sizes, idle or both');
    const sizes = only === 'idle' ? [] : await measureSizes(options, say);
    return report(options, sizes, only === 'sizes' ? undefined : await idleMemory(idle, say));
  },
});

async function measureSizes(options: Options, say: (line: string) => void): Promise<Size[]> {
  say('starting the service');
  await using service = await startService();
  const connectionIds = await service.createSimulated(options.connections);
  return await service.withDatabase(async (_, db) => {
    const growth = await Growth.begin(service, db, connectionIds, say);
    const sizes: Size[] = [];
    for (let copies = options.from; copies <= options.upTo; copies *= 10) {
      sizes.push(await growth.measure(copies, options.seconds));
    }
    return sizes;
  });
}

const MEASURES = {
  per_second: 'a second',
  p99_ms: 'p99',
  service_us: 'service each',
  postgres_us: 'PostgreSQL each',
} satisfies Record<keyof Figure, string>;

const UNITS: Record<keyof Figure, string> = { per_second: '', p99_ms: ' ms', service_us: ' µs', postgres_us: ' µs' };

const COLUMNS = WORKS.flatMap((work) =>
  (Object.keys(MEASURES) as (keyof Figure)[]).map((measure) => ({ work, measure })),
);

function report(options: Options, sizes: Size[], idle: IdleMemory | undefined): Promise<Report> {
  const [first] = sizes;
  const ratio = (size: Size, work: (typeof WORKS)[number], measure: keyof Figure) =>
    size.figures[work][measure] / (first?.figures[work][measure] || Number.NaN);
  const errors = sizes.flatMap(({ stored, errors }) => errors.map((what) => `${number(stored)} stored: ${what}`));
  const cell = (size: Size, work: (typeof WORKS)[number], measure: keyof Figure) =>
    `${number(size.figures[work][measure], measure === 'p99_ms' ? 1 : 0)} (${ratio(size, work, measure).toFixed(2)})`.padStart(
      17,
    );
  return reportOf({
    scenario: 'growth',
    options,
    method: METHOD,
    lines: [
      `${'stored'.padStart(32)}${sizes.map(({ stored }) => number(stored).padStart(17)).join('')}`,
      ...COLUMNS.map(
        ({ work, measure }) =>
          `${`${work}, ${MEASURES[measure]}${UNITS[measure]}`.padEnd(32)}${sizes.map((size) => cell(size, work, measure)).join('')}`,
      ),
      '',
      'in brackets: relative to the smallest size; submit and run are one load, with one processor time',
      ...rows([
        ['idle', idle ? idleText(idle) : 'not measured'],
        ['errors', errors.join(', ') || 'none'],
      ]),
    ],
    costs: Object.fromEntries(
      sizes.flatMap(({ stored, costs }) =>
        Object.entries(costs).map(([work, cost]) => [`${work} with ${number(stored)} stored`, cost]),
      ),
    ),
    ratios:
      sizes.length > 1
        ? sizes
            .slice(1)
            .map(
              (size) =>
                `${ratioText(size, ratio)} of the rates at the smallest size with ${number(size.stored)} stored`,
            )
        : 'fewer than two sizes were measured',
    sampled: `one round of ${options.seconds} s of each work at each size`,
    notMeasured: NOT_MEASURED,
    data: { sizes, idle, errors },
    plots: (Object.keys(MEASURES) as (keyof Figure)[]).map((measure) => plotOf(sizes, measure, ratio)),
    faults: faultsAmong(errors),
  });
}

const idleText = ({ connections, kib, rss_kib }: IdleMemory): string =>
  `${number(connections)} connections: ${number(kib, 3)} KiB of heap and buffers each, ${number(rss_kib, 3)} KiB resident`;

const ratioText = (size: Size, ratio: Ratio): string =>
  WORKS.map((work) => `${number(ratio(size, work, 'per_second'), 2)} (${work})`).join(', ');

type Ratio = (size: Size, work: (typeof WORKS)[number], measure: keyof Figure) => number;

const plotOf = (sizes: Size[], measure: keyof Figure, ratio: Ratio): Plot => ({
  title: `${MEASURES[measure]}, relative to the smallest size`,
  x: { label: 'operations stored', values: sizes.map(({ stored }) => stored), log: true },
  y: 'times',
  series: WORKS.map((work) => ({ name: work, values: sizes.map((size) => ratio(size, work, measure)) })),
});
