import { type SplitCores, splitCores } from '../kit/cores.js';
import { type Cost, costOf } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import type { Latency } from '../kit/latencies.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { signInFleet } from './fleet/members.js';
import { bestRate } from './soak/drive.js';
import { leftOf } from './soak/ending.js';
import { LIMITS } from './soak/limits.js';
import type { LoadOrder, LoadResult } from './soak/messages.js';
import { type Soaked, soaked } from './soak/soaked.js';
import { creepOf, type Verdict, verdictsOf } from './soak/verdicts.js';
import { findPerson, type SoakWorld, withWorld } from './soak/world.js';

const OPTIONS = {
  minutes: { means: 'how long the load lasts', default: 20, fraction: true },
  share: { means: 'of the best rate at which operations end, what is submitted', default: 0.5, fraction: true },
  connections: { means: 'simulated connections; every other one has a subscription', default: 256 },
  social: { means: 'connections to the stand-in network, signed in with a browser', default: 4 },
  socialRate: { means: 'submissions a second to those', default: 0.5, fraction: true },
  seconds: { means: 'how long the best rate is measured', default: 20 },
  warmup: { means: 'seconds before measuring', default: 5 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'days: what grows by less than its bound in the second half of the given time goes unseen, and what is done once a day',
  'what is kept for good: nothing that has ended is deleted, so operations, events and deliveries grow; of them the bytes a row are measured',
  'connections and subscriptions that come and go: they are made once',
  'a network, distant providers and receivers: client, service, PostgreSQL, network and receiver share this machine',
  'callbacks that came twice: the receiver counts, and keeps nothing of a callback',
  'the memory of PostgreSQL and of the stand-in network',
];

/** Whether the service holds no more the longer it works, at a share of the rate that it can carry. */
export const soak = defineScenario({
  name: 'soak',
  summary: 'whether memory, handles, connections, contexts and tables stay level at half load for a long time',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service and the receiver');
    const cores = splitCores();
    const measured = await withWorld(cores, (world) => measure(world, cores, options, say));
    return report(options, measured);
  },
});

async function measure(
  world: SoakWorld,
  cores: SplitCores | null,
  options: Options,
  say: (line: string) => void,
): Promise<Measured> {
  const order = await workers(world, options);
  say(`warming up for ${options.warmup} s, then the best rate for ${options.seconds} s`);
  await bestRate(world, cores, { ...order, run: 'warmup', seconds: options.warmup });
  const best = await bestRate(world, cores, { ...order, run: 'best', seconds: options.seconds });
  const rate = best * options.share;
  say(`${number(best)} operations end a second at best; ${number(rate)} are submitted for ${options.minutes} min`);
  const steady = { ...order, run: 'soak', seconds: options.minutes * 60, rate };
  return world.service.withDatabase(async (_, db) => {
    const meter = await Meter.open([world.service.pid], db);
    const { value, usage } = await meter.during(() => soaked(world, db, cores, steady, say));
    const cost = costOf([{ operations: value.load.accepted, usage }]);
    return { best, rate, ...value, cost, callbacks: await world.callbacks() };
  });
}

/** Makes the connections and gives the order that they are in; the load is not in it yet. */
async function workers(world: SoakWorld, options: Options): Promise<Omit<LoadOrder, 'run' | 'seconds'>> {
  const { addresses, api, key } = world.service;
  const simulated = await world.simulated(options.connections);
  const fleet = await signInFleet(api, options.social);
  const social = fleet.map(({ connectionId, actorId }) => ({ connectionId, actor: actorId }));
  const person = fleet[0] ? await findPerson(world.service, fleet[0].connectionId) : '';
  return { url: addresses.url, key, simulated, social, person, socialRate: options.socialRate };
}

interface Measured extends Soaked {
  /** Operations a second. */
  best: number;
  rate: number;
  /** Of an operation, with its events and callbacks, and with what the samples read. */
  cost: Cost;
  callbacks: number;
}

/** Whether the time was long enough to tell what grows. */
const isJudged = (verdicts: Verdict[]) => verdicts.some(({ level }) => level !== undefined);

/** What was promised and did not hold, a sentence each. */
function faultsOf({ load, ending, callbacks }: Measured, verdicts: Verdict[]): string[] {
  const grown = verdicts.filter(({ level }) => level === false);
  return [
    ...grown.map(
      ({ measure, growth, bound, last }) =>
        `${measure} is not level: grew by ${number(growth, 1)} over the second half (bound ${number(bound, 1)}), to ${number(last, 1)}`,
    ),
    ...(isJudged(verdicts) ? creepOf(load.quarters) : []),
    ...(load.leftOut > 0 ? [`${load.leftOut} submissions were left out: too many had no answer`] : []),
    ...(load.refused > 0 ? [`${load.refused} submissions were refused with 503`] : []),
    ...Object.entries(load.errors).map(([what, count]) => `${count} × ${what}`),
    ...leftOf(ending, callbacks),
  ];
}

function report(options: Options, measured: Measured): Promise<Report> {
  const { best, rate, load, samples, ending, callbacks, cost } = measured;
  const verdicts = verdictsOf(samples);
  const faults = faultsOf(measured, verdicts);
  const counts = (of: Record<string, number>) => Object.entries(of).map(([what, count]) => `${number(count)} ${what}`);
  const pools = Object.entries(samples.at(-1)?.pools ?? {}).map(([name, count]) => `${name}: ${count}`);
  const judged = isJudged(verdicts);
  const lines = [
    ...rows([
      ['best', `${number(best)} operations end a second in a closed loop`],
      ['rate', `${number(rate)} submitted a second for ${options.minutes} min`],
      ['accepted', `${number(load.accepted)} of ${number(load.sent)}, ${number(load.accepted / load.sent, 4)} of them`],
      ['ends', `${counts(ending.operations).join(', ')}, ${number(ending.seconds, 1)} s after the load`],
      ['callbacks', `${number(callbacks)}; deliveries: ${counts(ending.deliveries).join(', ') || 'none'}`],
      ...latencyRows(load),
      [
        'left out',
        `${number(load.leftOut)}, 503: ${number(load.refused)}, errors: ${counts(load.errors).join(', ') || 'none'}`,
      ],
      ['database', pools.join(', ')],
    ]),
    '',
    judged ? 'medians of the first and the last quarter, and growth over the second half:' : TOO_SHORT,
    ...verdictLines(verdicts),
  ];
  return reportOf({
    scenario: 'soak',
    options,
    method: 'a fixed rate at half the best; samples every few seconds, the slope of the second half of the time',
    lines,
    costs: { 'operation, with its events and callbacks': cost },
    ratios: [
      `${number(rate / best, 2)} of the best rate; latencies of each quarter of the time, and growth over its second half, above`,
    ],
    sampled: `${samples.length} of what is held, one each ${LIMITS.sample_ms / 1_000} s; ${number(load.accepted)} operations`,
    notMeasured: judged
      ? NOT_MEASURED
      : [...NOT_MEASURED, 'growth and creeping latencies: the run was too short to tell'],
    faults: faults.slice(0, LIMITS.printed_faults),
    data: { best, rate, load, ending, callbacks, verdicts, faults, samples },
  });
}

const TOO_SHORT = `neither growth nor creeping latencies are judged: the second half was shorter than ${LIMITS.judged_ms / 1_000} s`;

/** Of each quarter of the time: a latency that grows from the left to the right creeps. */
function latencyRows({ quarters }: LoadResult): [string, string][] {
  const line = (read: (quarter: LoadResult['quarters'][number]) => Latency) =>
    quarters
      .map(read)
      .map(({ p50_ms, p99_ms }) => `${number(p50_ms, 1)} / ${number(p99_ms, 1)}`)
      .join(', ');
  return [
    ['202', `${line(({ accepted }) => accepted)} ms (p50 / p99), in each quarter of the time`],
    ['ended', `${line(({ ended }) => ended)} ms, of simulated connections`],
    ['', `${line(({ socialEnded }) => socialEnded)} ms, of the stand-in network's`],
  ];
}

/** What is small and does not grow is left out. */
function verdictLines(verdicts: Verdict[]): string[] {
  const told = verdicts.filter(({ measure, last, level }) => !measure.includes(': ') || last >= 1 || level === false);
  const left = verdicts.length - told.length;
  return [...told.map(verdictLine), `  and ${left} more of tables, each below 1 and not growing: --json has them`];
}

function verdictLine({ measure, first, last, growth, bound, level }: Verdict): string {
  const said = level === undefined ? 'not judged' : level ? 'level' : 'GROWS';
  const values = [first, last, growth, bound].map((value) => number(value, 1).padStart(10)).join('');
  return `  ${measure.padEnd(38)}${values}  ${said}`;
}
