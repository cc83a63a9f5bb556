import { Meter } from '../kit/cost/meter.js';
import { type Allocation, allocationDuring } from '../kit/heap/allocation.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { type Spread, spreadOf } from '../kit/spread.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import { newestIds } from '../load/ends.js';
import type { LoadOrder } from '../load/messages.js';
import { plainSelects } from '../load/poll-baseline.js';
import { errorsOf, faultsAmong, roundOf } from '../load/round.js';
import { type Round, roundPlots, summaryLines, summaryOf } from '../load/rounds.js';
import { runToEnd } from '../load/run-to-end.js';

const OPTIONS = {
  seconds: { means: 'how long a round measures, each of the two', default: 10 },
  rounds: { means: 'rounds of each, in turns', default: 3 },
  clients: { means: 'HTTP connections of the client, one request at a time each', default: 64 },
  operations: { means: 'operations that are polled in turn', default: 10_000 },
  warmup: { means: 'seconds before measuring', default: 2 },
  baselineConnections: { means: 'PostgreSQL connections of the baseline', default: 32 },
  allocation: { means: 'tell what a poll allocates, by a round of its own', default: false },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD = 'closed loop over operations that have ended: each HTTP connection sends when it was answered';
const NOT_MEASURED = [
  'a cold cache: the rows are in memory',
  'work beside the reads: the service is otherwise idle',
  'a network: client, service and PostgreSQL share this machine, so the client costs the service cores',
];

/** How many polls a second are answered, beside prepared selects of the same rows. */
export const poll = defineScenario({
  name: 'poll',
  summary: 'polls of operations a second, against prepared selects of the same rows',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService({}, { inspect: options.allocation });
    const connectionIds = await service.createSimulated(64);
    return await service.withDatabase(async (url, db) => {
      const meter = await Meter.open([service.pid], db);
      const order: LoadOrder = {
        ...{ urls: [service.addresses.url], key: service.key, run: 'filled', seconds: 5, kinds: ['submit'] },
        ...{ connectionIds, operationIds: [], clients: options.clients, body: JSON.stringify(WORK.read) },
      };
      await runToEnd('making operations', { metricsUrls: [service.addresses.metricsUrl], db, meter }, order, say);
      const operationIds = await newestIds(db, options.operations);
      const polling: LoadOrder = { ...order, kinds: ['poll'], operationIds };
      await drive('warmup', { ...polling, seconds: options.warmup }, say);
      const rounds: Round[] = [];
      const errors: string[] = [];
      const baseline: number[] = [];
      for (let round = 1; round <= options.rounds; round++) {
        const one = { ...polling, seconds: options.seconds };
        const { value, usage } = await meter.during(() => drive(`round ${round}`, one, say));
        rounds.push(roundOf(value, usage));
        errors.push(...errorsOf(value));
        say(`baseline, round ${round}`);
        baseline.push(await plainSelects(url, operationIds, options.seconds, options.baselineConnections));
      }
      const allocated = options.allocation
        ? await allocationOf(service, { ...polling, seconds: options.seconds }, say)
        : null;
      return report(options, { rounds, errors, baseline: spreadOf(baseline), allocated });
    });
  },
});

interface Measured {
  rounds: Round[];
  errors: string[];
  baseline: Spread;
  /** Of one poll; null: not asked for. */
  allocated: Allocation | null;
}

/** What the main thread allocates for a poll. The other threads do nothing for one. */
async function allocationOf(service: BenchService, order: LoadOrder, say: (line: string) => void): Promise<Allocation> {
  const { inspectorUrl } = service.addresses;
  const { value, allocation } = await allocationDuring(inspectorUrl, () => drive('allocation', order, say));
  const each = (bytes: number) => bytes / Math.max(1, value.answered);
  return {
    bytes: each(allocation.bytes),
    places: allocation.places.map(({ place, bytes }) => ({ place, bytes: each(bytes) })),
  };
}

const allocationLines = (allocated: Allocation | null): [string, string][] =>
  allocated === null
    ? []
    : [
        ['allocation', `${number(allocated.bytes)} bytes a poll on the main thread's heap, sampled`],
        ...allocated.places.map(({ place, bytes }): [string, string] => ['', `${number(bytes)} ${place}`]),
      ];

function report(options: Options, { rounds, errors, baseline, allocated }: Measured): Promise<Report> {
  const summary = summaryOf(rounds);
  const ratio = summary.per_second.median / baseline.median;
  return reportOf({
    scenario: 'poll',
    options,
    method: METHOD,
    lines: [
      ...summaryLines(summary, 'polls'),
      ...rows([
        ['errors', errors.join(', ') || 'none'],
        ['baseline', `${spreadText(baseline, 'selects/s')} over ${options.baselineConnections} PostgreSQL connections`],
        ...allocationLines(allocated),
      ]),
    ],
    costs: { poll: summary },
    ratios: [`${number(ratio, 2)} polls for each select`],
    notMeasured: NOT_MEASURED,
    data: { ...summary, baseline, ratio, errors, rounds, allocated },
    plots: roundPlots('poll', rounds, 'polls'),
    headline: { what: 'polls/s', spread: summary.per_second },
    faults: faultsAmong(errors),
  });
}
