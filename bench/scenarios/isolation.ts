import { setTimeout as wait } from 'node:timers/promises';
import { type CallbackFixture, callbackFixture } from '../callbacks/fixture.js';
import { LIMITS } from '../limits.js';
import { quantile, reportOf, rows } from '../report.js';
import { defineScenario, type OptionValues, type Report } from '../scenario.js';

const OPTIONS = {
  subscriptions: { means: 'subscriptions, the dead and the slow one among them', default: 50 },
  serviceConnections: { means: 'connections of the service they are spread over', default: 10 },
  eventsPerSecond: { means: 'pace of the events; each goes to all subscriptions of its connection', default: 20 },
  seconds: { means: 'how long to measure, each of the two', default: 30 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'full load: the events come at a fixed pace, so that what is measured is waiting and not a queue that grows',
  'receivers that drip or cut: the dead one accepts and never answers, the slow one answers after 3 s',
];

/** What one dead and one slow receiver cost the others (EVT-10): their p99 with the two, beside that without. */
export const isolation = defineScenario({
  name: 'isolation',
  summary: 'how late callbacks are while one receiver is dead and one slow, against without the two',
  options: OPTIONS,
  async run(options, say) {
    say('starting the service and the receiver');
    await using fixture = await callbackFixture();
    const connectionIds = await fixture.service.createSimulated(options.serviceConnections);
    const unwell: string[] = [];
    for (let i = 0; i < options.subscriptions; i++) {
      const kind = i === 0 ? 'dead' : i === 1 ? 'slow' : 'healthy';
      // The two stand with healthy ones of the same connection: the worst place for those.
      const connectionId = connectionIds[i < 2 ? 0 : i % connectionIds.length] as string;
      const id = await fixture.subscribe(connectionId, `/${kind}/${i}`);
      if (i < 2) unwell.push(id);
    }
    for (const id of unwell) await fixture.setActive(id, false);
    const phase = (name: string) => {
      say(`${name}: ${options.seconds} s`);
      return measure(fixture, connectionIds, options);
    };
    await phase('warming up');
    const without = await phase('without the dead and the slow one');
    for (const id of unwell) await fixture.setActive(id, true);
    const beside = await phase('beside them');
    return report(options, without, beside);
  },
});

interface Latency {
  count: number;
  p50_ms: number;
  p99_ms: number;
}

async function measure(fixture: CallbackFixture, connectionIds: string[], options: Options): Promise<Latency> {
  void fixture.expect(Number.MAX_SAFE_INTEGER);
  const startedAt = performance.now();
  for (let event = 0; event < options.seconds * options.eventsPerSecond; event++) {
    await fixture.emit(connectionIds[event % connectionIds.length] as string);
    const due_ms = startedAt + ((event + 1) * 1000) / options.eventsPerSecond;
    await wait(Math.max(0, due_ms - performance.now()));
  }
  await wait(LIMITS.last_callbacks_ms);
  const { healthy_ms } = await fixture.tally();
  return { count: healthy_ms.length, p50_ms: quantile(healthy_ms, 0.5), p99_ms: quantile(healthy_ms, 0.99) };
}

function report(options: Options, without: Latency, beside: Latency): Promise<Report> {
  const { subscriptions, serviceConnections, eventsPerSecond } = options;
  const ratio = beside.p99_ms / without.p99_ms;
  const shown = ({ count, p50_ms, p99_ms }: Latency) => `p50 ${p50_ms} ms, p99 ${p99_ms} ms (${count} callbacks)`;
  return reportOf({
    scenario: 'isolation',
    options,
    lines: rows([
      ['without', shown(without)],
      ['beside', shown(beside)],
      ['ratio', `${ratio.toFixed(2)} of the p99`],
      ['load', `${subscriptions} subscriptions on ${serviceConnections} connections, ${eventsPerSecond} events/s`],
    ]),
    notMeasured: NOT_MEASURED,
    data: { without, beside, ratio },
  });
}
