import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { listWorkspaces } from '../../storage/workspaces/workspaces.js';
import { Meter } from '../kit/cost/meter.js';
import { runProgram } from '../kit/program.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { startService } from '../kit/service.js';
import { spreadOf } from '../kit/spread.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import type { LoadOrder } from '../load/messages.js';
import { faultsAmong } from '../load/round.js';
import { roundPlots, summaryLines, summaryOf } from '../load/rounds.js';
import { type EndRound, runToEnd } from '../load/run-to-end.js';
import { type MainThreadUse, mainThreadOf } from './consoles/browser.js';
import { storeHour } from './consoles/hour.js';
import type { ConsolesOrder, ConsolesSeen } from './consoles/messages.js';

const OPTIONS = {
  consoles: { means: 'consoles that are open on the overview', default: 10 },
  seconds: { means: 'how long a round submits', default: 10 },
  rounds: { means: 'rounds with consoles and without, in turns', default: 8 },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client, one request at a time each', default: 64 },
  warmup: { means: 'seconds before measuring', default: 5 },
  shown: { means: 'how many seconds a browser shows the overview, beside a light load', default: 30 },
};
type Options = OptionValues<typeof OPTIONS>;

/** What the service may lose of its throughput. */
const GOAL_percent = 2;

/** What the overview may take of a browser's main thread, of each second. */
const GOAL_main_thread_ms = 50;

/** Submissions a second while a browser shows the overview: it is to change all the time, and the browser to have the processor it wants. */
const SHOWN_RATE = 50;

const METHOD =
  'submitted in a closed loop, then waited for, in turns with consoles and without; a console is signed in, holds the live channel open, asks for the limits and what needs attention whenever it is told that they changed, and for the last hour once a step; either kind of round is the first of every second pair; the loss that counts is of what the machine can do without the processor time of the consoles themselves';
const NOT_MEASURED = [
  'ten browsers: the consoles are a program that asks what the page asks; what the page costs a browser is measured with one',
  'a network: client, consoles, service and PostgreSQL share this machine, so what the consoles cost themselves is in the ratio, and is taken out of the loss by its processor time only',
];

/** What it costs the service that people look at it. */
export const consoles = defineScenario({
  name: 'consoles',
  summary: 'operations a second while consoles are open on the overview, against none',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.connections);
    return await service.withDatabase(async (_, db) => {
      const { url, metricsUrl } = service.addresses;
      const measured = { metricsUrls: [metricsUrl], db, meter: await Meter.open([service.pid], db) };
      const order = (run: string, seconds: number): LoadOrder => ({
        ...{ urls: [url], key: service.key, run, seconds, kinds: ['submit'], operationIds: [] },
        ...{ connectionIds, clients: options.clients, body: JSON.stringify(WORK.read) },
      });
      const run = (name: string, seconds: number) => runToEnd(name, measured, order(name, seconds), say);
      await run('warmup', options.warmup);
      const rounds: Rounds = { open: [], none: [], seen: [] };
      for (let round = 1; round <= options.rounds; round++) {
        const without = async () => {
          rounds.none.push(await run(`no console, round ${round}`, options.seconds));
        };
        const withThem = async () => {
          const watching: ConsolesOrder = {
            ...{ url, key: service.key, consoles: options.consoles, lead_s: LEAD_s },
            seconds: options.seconds,
          };
          const seen = runProgram<ConsolesSeen>(new URL('./consoles/program.js', import.meta.url), watching);
          const found = delay(LEAD_s * 1_000).then(() => run(`consoles, round ${round}`, options.seconds));
          const [one, theirs] = await Promise.all([found, seen]);
          rounds.open.push(one);
          rounds.seen.push(theirs);
        };
        for (const turn of round % 2 === 0 ? [withThem, without] : [without, withThem]) await turn();
      }
      say('a browser shows the overview');
      const [workspace] = await listWorkspaces(db);
      await storeHour(db, workspace?.id ?? '');
      const light = { ...order('shown', options.shown + 2 * LEAD_s), rate: SHOWN_RATE };
      const [shown] = await Promise.all([
        mainThreadOf(url, service.key, options.shown),
        drive('shown', light, () => {}),
      ]);
      return report(options, rounds, shown);
    });
  },
});

/** The consoles are open for so long before anything is submitted. */
const LEAD_s = 3;

interface Rounds {
  open: EndRound[];
  none: EndRound[];
  seen: ConsolesSeen[];
}

function report(options: Options, { open, none, seen }: Rounds, shown: MainThreadUse): Promise<Report> {
  const [withThem, without] = [summaryOf(open), summaryOf(none)];
  const rate = (round: EndRound) => round.operations / round.seconds;
  const ratio = spreadOf(open.map((round, i) => rate(round) / rate(none[i]!)));
  const service_ratio = withThem.service_us.median / without.service_us.median;
  const errors = [...open, ...none].flatMap((round) => round.errors);
  const total = (of: (one: ConsolesSeen) => number) => seen.reduce((sum, one) => sum + of(one), 0);
  const own_cores = total((one) => one.cpu_ms) / 1_000 / (seen.length * options.seconds);
  const loss_percent = (1 - ratio.median / (1 - own_cores / availableParallelism())) * 100;
  const met = loss_percent < GOAL_percent;
  return reportOf({
    scenario: 'consoles',
    options,
    method: METHOD,
    lines: [
      'without consoles:',
      ...summaryLines(without, 'ends'),
      '',
      `${number(options.consoles)} consoles:`,
      ...summaryLines(withThem, 'ends'),
      ...rows([
        ['asked for', `${spreadText(spreadOf(seen.map((one) => one.requests)), 'answers a round')}`],
        ['told', `${spreadText(spreadOf(seen.map((one) => one.changes)), 'changes a round')}`],
        ['themselves', `${number(own_cores, 3)} cores, which the service lacks on this machine`],
        [
          'goal',
          `a loss below ${GOAL_percent} % without them: ${met ? 'met' : 'NOT met'}, ${number(loss_percent, 1)} %`,
        ],
        [
          'browser',
          `${number(shown.tasks_ms, 1)} ms a second of its main thread in tasks, ${number(shown.processor_ms, 1)} ms of processor time`,
        ],
        [
          'goal',
          `below ${GOAL_main_thread_ms} ms a second: ${shown.tasks_ms < GOAL_main_thread_ms ? 'met' : 'NOT met'}`,
        ],
        ['errors', errors.join(', ') || 'none'],
      ]),
    ],
    costs: { 'without consoles': without, 'with consoles': withThem },
    ratios: [
      `${spreadText(ratio, '', 3)} of the rate without consoles, of the round beside`,
      `${number(service_ratio, 3)} of the service's processor time for an operation`,
    ],
    sampled: `${number(total((one) => one.requests))} answers to consoles, ${number(total((one) => one.bytes))} bytes`,
    notMeasured: NOT_MEASURED,
    data: {
      without,
      with: withThem,
      ratio,
      loss_percent,
      service_ratio,
      own_cores,
      goal_percent: GOAL_percent,
      met,
      shown,
      seen,
    },
    plots: [...roundPlots('without consoles', none, 'ends'), ...roundPlots('with consoles', open, 'ends')],
    headline: { what: 'ends/s with consoles', spread: withThem.per_second },
    faults: faultsAmong(errors),
  });
}
