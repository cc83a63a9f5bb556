import { operationCounts } from '../../storage/partitions/inspection.js';
import { Meter } from '../kit/cost/meter.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { type Spread, spreadOf } from '../kit/spread.js';
import { capacityText, clientCapacity } from '../load/capacity.js';
import { drive } from '../load/drive.js';
import { insertBaseline } from '../load/insert-baseline.js';
import type { LoadOrder } from '../load/messages.js';
import { errorsOf, faultsAmong, roundOf } from '../load/round.js';
import { type Round, roundPlots, type Summary, summaryLines, summaryOf } from '../load/rounds.js';

/** Inputs that each capability accepts; others are given with --input. */
const INPUTS: Record<string, Record<string, unknown>> = {
  'social.identity.get': {},
  'social.profile.get': { profile_id: 'ada-lovelace' },
  'social.connections.list': { count: 25 },
  'social.people.search': { keywords: 'engineer', count: 10 },
  'social.message.send': { recipient_actor_id: 'ada-lovelace', body: 'Hello' },
};

const OPTIONS = {
  seconds: { means: 'how long a round measures, each of the two', default: 10 },
  connections: { means: 'HTTP connections of the client, one request at a time each', default: 64 },
  rounds: { means: 'rounds of each', default: 3 },
  capability: { means: 'what is submitted', default: 'social.profile.get' },
  input: { means: 'its input as JSON, when it is none of the usual ones', default: '' },
  simulatedConnections: { means: 'connections of the service that take the operations', default: 256 },
  warmup: { means: 'seconds before measuring', default: 2 },
  baselineConnections: { means: 'PostgreSQL connections of the baseline', default: 32 },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'closed loop: each HTTP connection sends when it was answered; an answer 202 counts, which is sent after the commit';
const NOT_MEASURED = [
  'browsers and the provider: the connections are simulated',
  'callbacks, polling and reads',
  'a network: client, service and PostgreSQL share this machine, so the client costs the service cores',
  'an open arrival rate: each client waits for its answer before it sends again, so a slow service gets fewer requests',
];

/**
 * How many submissions a second the service accepts, beside how many plain INSERT transactions the same PostgreSQL
 * takes into the same table: what durability costs here, with and without batching.
 */
export const submit = defineScenario({
  name: 'submit',
  summary: 'accepted submissions a second, against single-row INSERT transactions into the same table',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const input = options.input === '' ? INPUTS[options.capability] : (JSON.parse(options.input) as object);
    if (!input) throw new Error(`${options.capability} needs --input`);
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.simulatedConnections);
    const order: Omit<LoadOrder, 'run' | 'seconds'> = {
      ...{ urls: [service.addresses.url], key: service.key, connectionIds, operationIds: [], kinds: ['submit'] },
      ...{ clients: options.connections, body: JSON.stringify({ capability: options.capability, input }) },
    };
    const measured = await service.withDatabase(async (_, db) => {
      const meter = await Meter.open([service.pid], db);
      await drive('warmup', { ...order, run: 'warmup', seconds: options.warmup }, say);
      const before = await counts(service);
      const rounds: Round[] = [];
      const errors: string[] = [];
      for (let round = 1; round <= options.rounds; round++) {
        const one = { ...order, run: `round ${round}`, seconds: options.seconds };
        const { value, usage } = await meter.during(() => drive(one.run, one, say));
        rounds.push(roundOf(value, usage));
        errors.push(...errorsOf(value));
      }
      const after = await counts(service);
      return { rounds, errors, executed: after.executed - before.executed, waiting: after.waiting };
    });
    const capacity = await clientCapacity({ ...order, run: 'alone' }, options.warmup, say);
    say('stopping the service; its database stays for the baseline');
    await service.stop();
    const baseline = await service.withDatabase(async (url) => {
      const rates: number[] = [];
      for (let round = 1; round <= options.rounds; round++) {
        const one = { url, connectionIds, seconds: options.seconds, connections: options.baselineConnections };
        say(`baseline, round ${round}`);
        rates.push((await insertBaseline(one)).perSecond);
      }
      return spreadOf(rates);
    });
    return report(options, measured, baseline, capacity);
  },
});

async function counts(service: BenchService): Promise<{ executed: number; waiting: number }> {
  return service.withDatabase(async (_, db) => {
    const byStatus = await operationCounts(db);
    const waiting = (byStatus.queued ?? 0) + (byStatus.running ?? 0);
    return { waiting, executed: Object.values(byStatus).reduce((sum, count) => sum + count, 0) - waiting };
  });
}

interface Measured {
  rounds: Round[];
  errors: string[];
  /** Operations that ended while the rounds were measured, and that waited at their end. */
  executed: number;
  waiting: number;
}

function report(options: Options, measured: Measured, baseline: Spread, capacity: number): Promise<Report> {
  const { rounds, errors, executed, waiting } = measured;
  const summary: Summary = summaryOf(rounds);
  const perSecond = summary.per_second.median;
  const ratio = perSecond / baseline.median;
  return reportOf({
    scenario: 'submit',
    options,
    method: METHOD,
    lines: [
      ...summaryLines(summary, 'submissions'),
      ...rows([
        ['errors', errors.join(', ') || 'none'],
        [
          'executed',
          `${number(executed)} operations ended while measuring, ${number(waiting)} waited at the end: the cost has theirs in it`,
        ],
        ['baseline', spreadText(baseline, 'single-row INSERTs/s')],
        ['load', `${options.connections} clients, ${options.capability}, ${options.simulatedConnections} connections`],
        ['', `baseline over ${options.baselineConnections} PostgreSQL connections, the service stopped`],
        ['', capacityText(capacity, perSecond)],
      ]),
    ],
    costs: { submission: summary },
    ratios: [`${number(ratio, 2)} submissions for each INSERT`],
    notMeasured: NOT_MEASURED,
    data: { perSecond, ...summary, errors, executed, waiting, baseline, ratio, client_capacity: capacity, rounds },
    plots: roundPlots('submit', rounds, 'submissions'),
    headline: { what: 'submissions/s', spread: summary.per_second },
    faults: faultsAmong(errors),
  });
}
