import { costOf } from '../kit/cost/cost.js';
import { Meter, type Usage } from '../kit/cost/meter.js';
import type { Plot } from '../kit/page/plot.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { startService } from '../kit/service.js';
import { spreadOf } from '../kit/spread.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import { newestIds } from '../load/ends.js';
import type { KindResult, LoadOrder, LoadResult } from '../load/messages.js';
import { errorsOf, faultsAmong, withClient } from '../load/round.js';
import { runToEnd } from '../load/run-to-end.js';

const OPTIONS = {
  seconds: { means: 'how long a round is measured', default: 10 },
  rounds: { means: 'rounds of waits and of the baseline, in turns', default: 3 },
  share: {
    means: 'of the peak at which operations that are waited for end, what is submitted',
    default: 0.5,
    fraction: true,
  },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client; a wait holds one', default: 512 },
  warmup: { means: 'seconds before measuring', default: 3 },
};
type Options = OptionValues<typeof OPTIONS>;

/** What the p99 from an end to its waiter's answer should not exceed. */
const GOAL_ms = 5;

const METHOD =
  'submitted at a fixed rate, each then waited for with Prefer: wait; from updated_at of the answer, which the database sets as the transaction of the end begins, to the answer at the client: the commit is in it';
const NOT_MEASURED = [
  'what is below a millisecond: updated_at has no more digits, so a figure may be a millisecond too high',
  'waits at another node than the one that runs the operation: there is one node',
  'a network: client, service and PostgreSQL share this machine and its clock',
];

/** Operations that take longer than the way back and forth, so that their clients wait by the time they end. */
const FOLLOW = {
  kinds: ['follow' as const],
  body: JSON.stringify({ ...WORK.read, input: { profile_id: 'sim-delay-30' } }),
};

interface Round {
  woken: KindResult;
  baseline: KindResult;
  ended_before: number;
  usage: Usage;
  errors: string[];
}

/** How long after an operation's end a client that waits for it has its answer. */
export const wait = defineScenario({
  name: 'wait',
  summary: "from an operation's end to the answer of a waiting client, at half the peak load, against plain polls",
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.connections);
    return await service.withDatabase(async (_, db) => {
      const meter = await Meter.open([service.pid], db);
      const measured = { metricsUrls: [service.addresses.metricsUrl], db, meter };
      const order = (run: string, seconds: number, change: Partial<LoadOrder> = {}): LoadOrder => ({
        ...{ urls: [service.addresses.url], key: service.key, run, seconds, kinds: ['submit'], connectionIds },
        ...{ body: JSON.stringify(WORK.read), operationIds: [], clients: 64, ...change },
      });
      await runToEnd('warmup', measured, order('warmup', options.warmup), say);
      const closed = { clients: options.clients, operationIds: await newestIds(db, 1_000) };
      await drive('waits, warmup', order('waits-warmup', options.warmup, { ...closed, ...FOLLOW }), say);
      const best = await drive('waits, peak', order('peak', options.seconds, { ...closed, ...FOLLOW }), say);
      const peak = best.answered / best.seconds;
      const rate = Math.max(1, Math.floor(peak * options.share));
      say(`${number(peak)} operations end a second at the peak; ${number(rate)} are submitted`);
      const open = { ...closed, rate };
      const rounds: Round[] = [];
      for (let round = 1; round <= options.rounds; round++) {
        const waits = order(`waits-${round}`, options.seconds, { ...open, ...FOLLOW });
        const { value: waited, usage } = await meter.during(() => drive(`waits, round ${round}`, waits, say));
        const polls = order(`polls-${round}`, options.seconds, { ...open, kinds: ['submit', 'poll'], rate: rate * 2 });
        const polled = await drive(`polls, round ${round}`, polls, say);
        rounds.push(roundOf(waited, polled, usage));
      }
      return report(options, { peak, rate, rounds });
    });
  },
});

/** Throws when nobody waited: everything had ended before. */
function roundOf(waited: LoadResult, polled: LoadResult, used: Usage): Round {
  const { woken, ended_before } = waited;
  const baseline = polled.kinds.poll;
  if (!woken || !baseline) throw new Error('no operation was waited for');
  const usage = withClient(used, waited);
  return { woken, baseline, ended_before, usage, errors: [...errorsOf(waited), ...errorsOf(polled)] };
}

function report(
  options: Options,
  { peak, rate, rounds }: { peak: number; rate: number; rounds: Round[] },
): Promise<Report> {
  const spread = (of: (round: Round) => number) => spreadOf(rounds.map(of));
  const p50_ms = spread(({ woken }) => woken.p50_ms);
  const p99_ms = spread(({ woken }) => woken.p99_ms);
  const poll_p99_ms = spread(({ baseline }) => baseline.p99_ms);
  const ratio = p99_ms.median / poll_p99_ms.median;
  const waited = rounds.reduce((sum, { woken }) => sum + woken.count, 0);
  const before = rounds.reduce((sum, { ended_before }) => sum + ended_before, 0);
  const errors = rounds.flatMap((round) => round.errors);
  const cost = costOf(
    rounds.map(({ usage, woken, ended_before }) => ({ usage, operations: woken.count + ended_before })),
  );
  const met = p99_ms.median <= GOAL_ms;
  return reportOf({
    scenario: 'wait',
    options,
    method: METHOD,
    lines: rows([
      ['woken', `p50 ${spreadText(p50_ms, 'ms', 2)}, p99 ${spreadText(p99_ms, 'ms', 2)} after the end`],
      ['goal', `p99 of ${GOAL_ms} ms: ${met ? 'met' : 'NOT met'}`],
      ['load', `${number(rate)} submissions/s, ${number(options.share, 2)} of the peak of ${number(peak)} waits/s`],
      ['baseline', `p99 ${spreadText(poll_p99_ms, 'ms', 2)} of a plain poll at the same rate of submissions`],
      ['errors', errors.join(', ') || 'none'],
    ]),
    costs: { 'waited operation': cost },
    ratios: [`${number(ratio, 2)} of a poll's p99`],
    sampled: `${number(waited)} waits in ${rounds.length} rounds; ${number(before)} more began after the end`,
    notMeasured: NOT_MEASURED,
    data: { cost, peak, rate, p50_ms, p99_ms, goal_ms: GOAL_ms, met, poll_p99_ms, ratio, rounds },
    plots: rounds.slice(0, 1).flatMap(latencyPlots),
    faults: faultsAmong(errors),
  });
}

const latencyPlots = ({ woken, baseline }: Round): Plot[] =>
  (
    [
      ['from the end to the waiting client', woken],
      ['a plain poll', baseline],
    ] as const
  ).map(([what, { distribution }]) => ({
    title: `${what}: what share takes no longer`,
    x: { label: 'milliseconds', values: distribution.map(([, ms]) => ms), log: true },
    y: '%',
    series: [{ name: 'share', values: distribution.map(([share]) => share * 100) }],
  }));
