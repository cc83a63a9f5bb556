import { InvalidArgumentError } from 'commander';
import { costOf } from '../kit/cost/cost.js';
import { Meter, type Usage } from '../kit/cost/meter.js';
import { number, reportOf } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { startService } from '../kit/service.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import { EndCounter } from '../load/end-counter.js';
import { newestIds } from '../load/ends.js';
import type { Kind, LoadOrder, LoadResult } from '../load/messages.js';
import { errorsOf, faultsAmong, withClient } from '../load/round.js';
import { runToEnd } from '../load/run-to-end.js';
import { kindsOf } from './mix.js';

const OPTIONS = {
  seconds: { means: 'how long each step is measured', default: 10 },
  mix: { means: 'how many of each kind of request: submit, poll, list', default: 'submit:4,poll:12,list:1' },
  steps: { means: 'of the best rate of a closed loop, what is sent', default: '0.1,0.25,0.5,0.75,0.9,1,1.2' },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client', default: 256 },
  warmup: { means: 'seconds before measuring', default: 3 },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'requests are sent when they are due, whatever the answers take, and timed from then: a stall is told by all that were due meanwhile';
const NOT_MEASURED = [
  'browsers and the provider: the connections are simulated; callbacks: nobody has subscribed',
  'arrivals in bursts: requests are due at even distances',
  'a network: client, service and PostgreSQL share this machine, so the client costs the service cores',
];

interface Step {
  share: number;
  rate: number;
  result: LoadResult;
  usage: Usage;
}

/** What a mix of requests takes at steps of an open rate of arrival, up to and past what can be carried. */
export const mixed = defineScenario({
  name: 'mixed',
  summary: 'latency of submissions, polls and lists against an open rate of arrival, from when each was due',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const kinds = kindsOf(options.mix);
    const shares = options.steps.split(',').map(Number);
    if (!shares.every((share) => share > 0))
      throw new InvalidArgumentError(`--steps ${options.steps}: it wants numbers above 0`);
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.connections);
    return await service.withDatabase(async (_, db) => {
      const metricsUrls = [service.addresses.metricsUrl];
      const filling: LoadOrder = {
        ...{
          urls: [service.addresses.url],
          key: service.key,
          run: 'filling',
          seconds: options.warmup,
          kinds: ['submit'],
        },
        ...{ connectionIds, operationIds: [], clients: 64, body: JSON.stringify(WORK.read) },
      };
      const meter = await Meter.open([service.pid], db);
      await runToEnd('filling', { metricsUrls, db, meter }, filling, say);
      const operationIds = await newestIds(db, 1_000);
      const run = async (name: string, change: Partial<LoadOrder>) => {
        const ends = await EndCounter.start(metricsUrls);
        const order = { ...filling, kinds, operationIds, run: name, ...change };
        const { value: result, usage } = await meter.during(async () => {
          const result = await drive(name, order, say);
          await ends.reach(result.kinds.submit?.count ?? 0, name, say);
          return result;
        });
        return { result, usage: withClient(usage, result) };
      };
      const { result: best } = await run('closed loop', { seconds: options.seconds });
      const peak = best.answered / best.seconds;
      const steps: Step[] = [];
      for (const share of shares) {
        const rate = Math.ceil(peak * share);
        const sent = { rate, seconds: options.seconds, clients: options.clients };
        steps.push({ share, rate, ...(await run(`${number(rate)}/s`, sent)) });
      }
      return report(options, peak, [...new Set(kinds)], steps);
    });
  },
});

function report(options: Options, peak: number, kinds: Kind[], steps: Step[]): Promise<Report> {
  const cell = ({ result }: Step, kind: Kind) => {
    const found = result.kinds[kind];
    return (found ? `${number(found.p50_ms, 1)} / ${number(found.p99_ms, 1)}` : '').padStart(20);
  };
  const done = ({ result }: Step) => result.answered / result.seconds;
  const errors = steps.flatMap(({ rate, result }) => errorsOf(result).map((what) => `at ${number(rate)}/s: ${what}`));
  const lines = steps.map((step) => {
    const sent = `${number(step.rate)}/s`.padStart(12);
    const times = `${number(step.share, 2)}`.padStart(8);
    return `${sent}${times}${`${number(done(step))}/s`.padStart(14)}${kinds.map((kind) => cell(step, kind)).join('')}`;
  });
  return reportOf({
    scenario: 'mixed',
    options,
    method: METHOD,
    lines: [
      `${'due'.padStart(12)}${'of best'.padStart(8)}${'answered'.padStart(14)}${kinds.map((kind) => `${kind} p50 / p99`.padStart(20)).join('')}`,
      ...lines,
      '',
      `milliseconds from when a request was due; best: ${number(peak)} requests/s in a closed loop of 64 clients, ${options.mix}`,
      ...(errors.length > 0 ? ['', ...errors] : []),
    ],
    costs: Object.fromEntries(
      steps.map(({ rate, result, usage }) => [
        `request at ${number(rate)}/s, its operation run`,
        costOf([{ operations: result.answered, usage }]),
      ]),
    ),
    ratios: steps.map(
      (step) => `${number(done(step) / peak, 2)} of the best rate was answered at ${number(step.rate)}/s`,
    ),
    notMeasured: NOT_MEASURED,
    data: { peak, steps, errors },
    plots: (['p50_ms', 'p99_ms'] as const).map((which) => ({
      title: `${which.replace('_ms', '')} against the rate of arrival`,
      x: { label: 'requests due a second', values: steps.map(({ rate }) => rate) },
      y: 'ms',
      series: kinds.map((kind) => ({
        name: kind,
        values: steps.map(({ result }) => result.kinds[kind]?.[which] ?? null),
      })),
    })),
    faults: faultsAmong(errors),
  });
}
