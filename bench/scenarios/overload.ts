import { type SplitCores, splitCores } from '../kit/cores.js';
import { costOf, type Metered } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import { LIMITS } from '../kit/limits.js';
import { useOf } from '../kit/process-use.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import type { LoadOrder, LoadResult } from '../load/messages.js';
import { withClient } from '../load/round.js';

const OPTIONS = {
  seconds: {
    means: 'how long the overload lasts; the best throughput is measured as long, before and after it',
    default: 10,
  },
  factor: { means: 'how many times the best throughput is sent', default: 3 },
  connections: { means: 'HTTP connections with which the best throughput is measured', default: 256 },
  simulatedConnections: { means: 'connections of the service that take the operations', default: 256 },
  warmup: { means: 'seconds before measuring', default: 3 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'the operations that end after the load: those that run meanwhile are in the cost of what is accepted',
  'browsers and the provider: the connections are simulated',
  'a network: client, service and PostgreSQL share this machine',
  'clients that wait as Retry-After asks: whoever was refused sends the next request at once',
];

/** What the overload did, and the best throughput before and after it. */
interface Measured {
  cores: SplitCores | null;
  best: Loaded[];
  overload: Loaded;
  /** Resident memory of the service, in MiB, before the overload and at the most in each half of it. */
  memory: { before: number; firstHalf: number; secondHalf: number };
}

/** Whether the service goes on at its best when it is sent several times what it can carry, and refuses the rest at once. */
export const overload = defineScenario({
  name: 'overload',
  summary: 'throughput, refusals and memory at several times the load that can be carried',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    const cores = splitCores();
    await using service = await startService({}, { cores: cores?.service });
    const connectionIds = await service.createSimulated(options.simulatedConnections);
    return await service.withDatabase(async (_, db) => {
      const meter = await Meter.open([service.pid], db);
      const load = async (run: string, seconds: number, load: Load): Promise<Loaded> => {
        const { addresses, key } = service;
        const order = { urls: [addresses.url], key, run, seconds, connectionIds, operationIds: [], ...load };
        const submits: LoadOrder = { ...order, kinds: ['submit'], body: JSON.stringify(WORK.read) };
        const { value, usage } = await meter.during(() => drive(run, submits, say, cores?.client));
        return { ...value, usage: withClient(usage, value) };
      };
      const closed = { clients: options.connections };
      say(`warming up for ${options.warmup} s, then the best throughput for ${options.seconds} s`);
      await load('warmup', options.warmup, closed);
      const first = await load('first', options.seconds, closed);
      const rate = Math.ceil((first.answered / first.seconds) * options.factor);
      say(`sending ${number(rate)} requests a second for ${options.seconds} s`);
      const memory = watchMemory(service, options.seconds);
      // A client for each request of a second: an answer may take that long before fewer are sent.
      const clients = Math.min(rate, LIMITS.overload_clients);
      const overloaded = await load('overload', options.seconds, { clients, rate, under_way: clients });
      const watched = memory.end();
      say('the best throughput again');
      const last = await load('last', options.seconds, closed);
      return report(options, { cores, best: [first, last], overload: overloaded, memory: watched });
    });
  },
});

type Load = Pick<LoadOrder, 'clients' | 'rate' | 'under_way'>;

/** What the load program saw, and what that took. */
interface Loaded extends LoadResult {
  usage: Metered['usage'];
}

function watchMemory({ pid }: BenchService, seconds: number) {
  const residentMib = () => useOf(pid)?.rss_mib ?? 0;
  const before = residentMib();
  const startedAt = performance.now();
  const most = { firstHalf: 0, secondHalf: 0 };
  const timer = setInterval(() => {
    const half = performance.now() - startedAt < (seconds * 1000) / 2 ? 'firstHalf' : 'secondHalf';
    most[half] = Math.max(most[half], residentMib());
  }, LIMITS.memory_sample_ms);
  return {
    end() {
      clearInterval(timer);
      return { before, ...most };
    },
  };
}

const metered = ({ answered, usage }: Loaded): Metered => ({ operations: answered, usage });
const perSecond = ({ answered, seconds }: LoadResult): number => answered / seconds;

function report(options: Options, { cores, best, overload: over, memory }: Measured): Promise<Report> {
  const carried = best.map(perSecond).reduce((sum, each) => sum + each, 0) / best.length;
  const ratio = perSecond(over) / carried;
  const { refused } = over;
  const accepted = over.kinds.submit;
  const others = Object.entries(over.errors).map(([what, count]) => `${number(count)} × ${what}`);
  const faults = [
    ...(ratio < LIMITS.overload_ratio ? [`throughput fell to ${number(ratio, 2)} of the best`] : []),
    ...(refused.p99_ms > LIMITS.refusal_ms ? [`refusals took ${number(refused.p99_ms)} ms (p99)`] : []),
    ...(refused.without_retry_after > 0 ? [`${refused.without_retry_after} refusals without Retry-After`] : []),
    ...(refused.count === 0 ? ['nothing was refused: this was no overload'] : []),
    ...others.map((other) => `under overload: ${other}`),
  ];
  return reportOf({
    scenario: 'overload',
    options,
    method: 'a closed loop, then a fixed rate of several times what it carried, then the closed loop again',
    lines: rows([
      [
        'cores',
        cores ? `service and database ${cores.service}, client ${cores.client}` : 'shared by service and client',
      ],
      ['best', `${best.map((one) => number(perSecond(one))).join(' and ')} accepted/s, before and after`],
      [
        'overload',
        `${number(perSecond(over))} accepted/s of ${number((over.answered + refused.count) / over.seconds)} answered`,
      ],
      [
        'accepted',
        accepted
          ? `p50 ${number(accepted.p50_ms)} ms, p99 ${number(accepted.p99_ms)} ms, longest ${number(accepted.max_ms)} ms`
          : 'none',
      ],
      [
        'refused',
        `${number(refused.count)} × 503: p50 ${number(refused.p50_ms)} ms, p99 ${number(refused.p99_ms)} ms, longest ${number(refused.max_ms)} ms`,
      ],
      ['errors', others.join(', ') || 'none'],
      [
        'memory',
        `${number(memory.before)} MiB before, ${number(memory.firstHalf)} in the first half, ${number(memory.secondHalf)} in the second`,
      ],
    ]),
    costs: {
      'accepted at best': costOf(best.map(metered)),
      'accepted under overload, with refusals': costOf([metered(over)]),
    },
    ratios: [`${number(ratio, 2)} of the best throughput`],
    sampled: `${number([...best, over].reduce((sum, { answered }) => sum + answered, 0))} accepted, two rounds at best and one of overload`,
    notMeasured: NOT_MEASURED,
    data: { cores, ratio, best, overload: over, memory },
    faults,
  });
}
