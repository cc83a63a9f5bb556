import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Cost, costOf } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import { LIMITS } from '../kit/limits.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { quantile } from '../kit/spread.js';
import { type CallbackFixture, callbackFixture } from './callbacks/fixture.js';

const OPTIONS = {
  subscriptions: { means: 'subscriptions, the dead and the slow one among them', default: 50 },
  silent: {
    means: 'subscriptions to one more receiver, which accepts connections and says nothing',
    default: 332,
  },
  serviceConnections: { means: 'connections of the service they are spread over', default: 10 },
  eventsPerSecond: { means: 'pace of the events; each goes to all subscriptions of its connection', default: 20 },
  seconds: { means: 'how long to measure, each of the three', default: 30 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'the cost of a callback at full load: at a fixed pace what the service does while it waits is in it',
  'full load: the events come at a fixed pace, so that what is measured is waiting and not a queue that grows',
  'receivers that drip or cut: the dead one accepts and never answers, the slow one answers after 3 s',
];

/**
 * What dead and slow receivers cost the others (EVT-10, EVT-17): their p99 beside one dead and one slow, and beside many subscriptions to
 * a silent one, against that without them.
 */
export const isolation = defineScenario({
  name: 'isolation',
  summary:
    'how late callbacks are beside a dead and a slow receiver, and beside hundreds of subscriptions to a silent one, against without',
  options: OPTIONS,
  startsService: true,
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
    for (const id of unwell) await fixture.setActive(id, false);
    await using silent = await silentReceiver(new URL(fixture.receiverUrl).hostname);
    for (let i = 0; i < options.silent; i++)
      await fixture.subscribeTo(connectionIds[i % connectionIds.length] as string, `${silent.url}/${i}`);
    const besideSilent = await phase(`beside ${options.silent} subscriptions to a silent one`);
    return report(options, { without, beside, besideSilent });
  },
});

/** Accepts connections and says nothing, not even in TLS. */
async function silentReceiver(host: string): Promise<AsyncDisposable & { url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  }).listen(0, host);
  await once(server, 'listening');
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What healthy subscriptions saw of a phase, and what each of their callbacks took of the service. */
interface Phase {
  cost: Cost;
  count: number;
  p50_ms: number;
  p99_ms: number;
}

function measure(fixture: CallbackFixture, connectionIds: string[], options: Options): Promise<Phase> {
  const { service } = fixture;
  return service.withDatabase(async (_, db) => {
    const meter = await Meter.open([service.pid], db);
    const { value: healthy_ms, usage } = await meter.during(() => sendEvents(fixture, connectionIds, options));
    const cost = costOf([{ operations: healthy_ms.length, usage }]);
    return { cost, count: healthy_ms.length, p50_ms: quantile(healthy_ms, 0.5), p99_ms: quantile(healthy_ms, 0.99) };
  });
}

/** From the record of an event to each callback to a healthy receiver, in milliseconds. */
async function sendEvents(fixture: CallbackFixture, connectionIds: string[], options: Options): Promise<number[]> {
  void fixture.expect(Number.MAX_SAFE_INTEGER);
  const startedAt = performance.now();
  for (let event = 0; event < options.seconds * options.eventsPerSecond; event++) {
    await fixture.emit(connectionIds[event % connectionIds.length] as string);
    const due_ms = startedAt + ((event + 1) * 1000) / options.eventsPerSecond;
    await wait(Math.max(0, due_ms - performance.now()));
  }
  await wait(LIMITS.last_callbacks_ms);
  return (await fixture.tally()).healthy_ms;
}

function report(options: Options, measured: Record<'without' | 'beside' | 'besideSilent', Phase>): Promise<Report> {
  const { subscriptions, serviceConnections, eventsPerSecond, silent } = options;
  const { without, beside, besideSilent } = measured;
  const ratio = beside.p99_ms / without.p99_ms;
  const silentRatio = besideSilent.p99_ms / without.p99_ms;
  const shown = ({ count, p50_ms, p99_ms }: Phase) => `p50 ${p50_ms} ms, p99 ${p99_ms} ms (${count} callbacks)`;
  return reportOf({
    scenario: 'isolation',
    options,
    method:
      'events at a fixed pace, the same phases with and without unwell receivers; from the record of an event to its callback',
    lines: rows([
      ['without', shown(without)],
      ['beside', shown(beside)],
      [`beside ${silent} silent`, shown(besideSilent)],
      ['load', `${subscriptions} subscriptions on ${serviceConnections} connections, ${eventsPerSecond} events/s`],
    ]),
    costs: {
      'callback at this pace, without': without.cost,
      'beside the dead and the slow': beside.cost,
      'beside the silent': besideSilent.cost,
    },
    ratios: [
      `${ratio.toFixed(2)} of the p99 beside the dead and the slow one`,
      `${silentRatio.toFixed(2)} of the p99 beside ${silent} silent ones`,
    ],
    sampled: `${number(without.count + beside.count + besideSilent.count)} callbacks, one round of each phase`,
    notMeasured: NOT_MEASURED,
    data: { ...measured, ratio, silentRatio },
  });
}
