import { costOf } from '../kit/cost/cost.js';
import { Meter, type Usage } from '../kit/cost/meter.js';
import { runProgram } from '../kit/program.js';
import { withProgress } from '../kit/progress.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { spreadOf } from '../kit/spread.js';
import { coresPlot } from '../load/rounds.js';
import type { Posting } from './callbacks/baseline.js';
import { type CallbackFixture, callbackFixture, eventRecorder } from './callbacks/fixture.js';
import type { Tally } from './callbacks/receiver.js';

const OPTIONS = {
  events: { means: 'events recorded', default: 100_000 },
  subscriptions: { means: 'subscriptions, spread over the connections', default: 10 },
  serviceConnections: {
    means: 'connections of the service that the events are spread over; an event goes to all subscriptions of its own',
    default: 10,
  },
  concurrency: { means: 'posts of the baseline under way at once', default: 80 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'receivers that are far, slow or many: one on loopback answers at once',
  'connections to the receiver being made: they are kept alive, in the baseline too',
  'where events come from: they are recorded by this program with the statement the service records with',
];

/** How many callbacks a second the service makes, beside how many undici alone posts to the same receiver. */
export const deliveries = defineScenario({
  name: 'deliveries',
  summary: 'callbacks a second, signed, logged and durable, against plain undici posts of the same bodies',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const each = Math.max(1, Math.floor(options.subscriptions / options.serviceConnections));
    const expected = options.events * each;
    say('starting the service and the receiver');
    await using fixture = await callbackFixture();
    const connectionIds = await fixture.service.createSimulated(options.serviceConnections);
    const paths = await subscribeAll(fixture, connectionIds, each);
    const delivered = await deliver(fixture, connectionIds, options.events, each, say);
    const tally = await fixture.tally();
    say('the same posts without the service');
    const posted = fixture.expect(expected);
    const posting: Posting = {
      origin: fixture.receiverUrl,
      paths,
      count: expected,
      concurrency: options.concurrency,
      ca: fixture.ca,
      body: tally.body,
    };
    const baseline_s = await runProgram<number>(new URL('./callbacks/baseline.js', import.meta.url), posting);
    await posted;
    return report(options, { expected, ...delivered, tally, baseline_s });
  },
});

/** Gives each connection that many subscriptions; their paths at the receiver. */
async function subscribeAll(fixture: CallbackFixture, connectionIds: string[], each: number): Promise<string[]> {
  const paths: string[] = [];
  for (const id of connectionIds) {
    for (let i = 0; i < each; i++) {
      const path = `/hook/${paths.length}`;
      await fixture.subscribe(id, path);
      paths.push(path);
    }
  }
  return paths;
}

/** Records the events after a round that is not measured, and waits until the last callback is accepted. */
function deliver(
  fixture: CallbackFixture,
  connectionIds: string[],
  events: number,
  each: number,
  say: (line: string) => void,
): Promise<Delivered> {
  return fixture.service.withDatabase(async (_, db) => {
    const expected = events * each;
    const record = await eventRecorder(db);
    const warm = fixture.expect(connectionIds.length * each);
    await record(connectionIds, connectionIds.length);
    await warm;
    say(`recording ${events} events, ${expected} deliveries`);
    const meter = await Meter.open([fixture.service.pid], db);
    const { value, usage } = await meter.during(async () => {
      const startedAt = performance.now();
      const done = fixture.expect(expected);
      const recorded = await record(connectionIds, events);
      if (recorded !== expected) throw new Error(`${recorded} deliveries were recorded, not ${expected}`);
      const recorded_s = (performance.now() - startedAt) / 1000;
      say(`recorded in ${recorded_s.toFixed(1)} s`);
      await withProgress(say, () => 'callbacks are still coming', done);
      return { seconds: (performance.now() - startedAt) / 1000, recorded_s };
    });
    return { ...value, usage };
  });
}

interface Delivered {
  /** From the first event recorded to the last callback accepted. */
  seconds: number;
  recorded_s: number;
  usage: Usage;
}

interface Measured extends Delivered {
  expected: number;
  tally: Tally;
  baseline_s: number;
}

function report(
  options: Options,
  { expected, seconds, recorded_s, usage, tally, baseline_s }: Measured,
): Promise<Report> {
  const perSecond = expected / seconds;
  const baselinePerSecond = expected / baseline_s;
  const ratio = perSecond / baselinePerSecond;
  const { accepted, repeated, checked, forged } = tally;
  const lost = expected - (accepted - repeated);
  const cost = costOf([{ operations: expected, usage }]);
  return reportOf({
    scenario: 'deliveries',
    options,
    method:
      'events are recorded at once, as a node records them, and the time until the last callback was accepted is taken',
    lines: rows([
      [
        'delivered',
        `${number(perSecond)} callbacks/s (${number(expected)} in ${number(seconds, 1)} s, from the first event recorded)`,
      ],
      ['recorded', `${number(options.events / recorded_s)} events/s (${number(recorded_s, 1)} s of the above)`],
      ['lost', number(lost)],
      ['repeated', number(repeated)],
      ['signature', `${number(checked)} checked, ${number(forged)} wrong`],
      ['baseline', `${number(baselinePerSecond)} posts/s by undici alone (${number(baseline_s, 1)} s)`],
      ['load', `${options.subscriptions} subscriptions on ${options.serviceConnections} connections`],
    ]),
    costs: { 'callback, with the recording': cost },
    ratios: [`${number(ratio, 2)} callbacks for each plain post`],
    notMeasured: NOT_MEASURED,
    plots: [coresPlot('deliveries', usage)],
    headline: { what: 'callbacks/s', spread: spreadOf([perSecond]) },
    data: {
      ...{ perSecond, seconds, recorded_s, baselinePerSecond, ratio },
      ...{ expected, accepted, lost, repeated, checked, forged, cost, usage },
    },
  });
}
