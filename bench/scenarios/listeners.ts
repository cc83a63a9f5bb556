import typia from 'typia';
import type { Hint } from '../../actors/system.js';
import { notifyHints } from '../../storage/partitions/hints.js';
import type { ServiceApi } from '../kit/api.js';
import { type Cost, costOf } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import { eventually } from '../kit/eventually.js';
import { type MemorySample, measureMemory } from '../kit/heap/memory.js';
import { LIMITS } from '../kit/limits.js';
import { mapConcurrent } from '../kit/map-concurrent.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { type SignedIn, signInAll } from './listeners/accounts.js';
import { type Relayed, relayEvents } from './listeners/relay.js';

const OPTIONS = {
  streams: { means: 'connections whose event stream is open', default: 500 },
  events: { means: 'events that the network sends, over all streams in turn', default: 5_000 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'signing in with a browser: the form is posted through the regional proxies by a plain client, and the sessions are stored as a login would store them',
  'distance: the network and its proxies are on this machine, share its cores, and their own memory is not counted',
  'long life: memory is read twice, some seconds apart; what grows within days does not show',
  'deliveries: the connections have no subscriptions, so an event ends in the database',
];

/**
 * What one node pays for an open event stream: streams of real sessions, each over TLS through its region's proxy, on the
 * real service; then how fast their events are recorded.
 */
export const listeners = defineScenario({
  name: 'listeners',
  summary: 'memory of an open event stream, how soon all are connected, events a second recorded from them',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService({}, { inspect: true });
    const accounts = await signInAll(service, options.streams, say);
    const before = await measureMemory(service.addresses.inspectorUrl);
    say(`opening ${options.streams} streams`);
    const connected_s = await openStreams(service, accounts);
    say(`connected after ${connected_s.toFixed(1)} s`);
    const after = await measureMemory(service.addresses.inspectorUrl);
    say(`sending ${options.events} events`);
    const { value: relayed, usage } = await service.withDatabase(async (_, db) => {
      const meter = await Meter.open([service.pid], db);
      return meter.during(() => relayEvents(service, accounts, options.events));
    });
    const cost = costOf([{ operations: relayed.recorded, usage }]);
    const gaps = await gapsOf(service.api, accounts);
    return report(options, { before, after, connected_s, ...relayed, cost, gaps });
  },
});

/** Notifies the service that its connections have sessions now; gives the seconds until the last stream is connected. */
async function openStreams(service: BenchService, accounts: SignedIn[]): Promise<number> {
  const startedAt = performance.now();
  const signals = accounts.map(({ connectionId }): Hint => ({ type: 'connection', connectionId }));
  await service.withDatabase((_, db) =>
    notifyHints(
      db,
      signals.map((signal) => JSON.stringify(signal)),
    ),
  );
  for (const { connectionId } of accounts) {
    await eventually(
      `the stream of ${connectionId} is connected`,
      () => listenerOf(service.api, connectionId),
      ({ stream_status }) => stream_status === 'connected',
      { ms: LIMITS.streams_connected_ms },
    );
  }
  return (performance.now() - startedAt) / 1_000;
}

interface Listener {
  stream_status: string;
  gaps: unknown[];
}

const assertListener = typia.createAssert<Listener>();

async function listenerOf(api: ServiceApi, connectionId: string): Promise<Listener> {
  return assertListener((await api.send('GET', `/v1/connections/${connectionId}/listener`)).body);
}

async function gapsOf(api: ServiceApi, accounts: SignedIn[]): Promise<number> {
  const listeners = await mapConcurrent(accounts, ({ connectionId }) => listenerOf(api, connectionId));
  return listeners.reduce((sum, { gaps }) => sum + gaps.length, 0);
}

interface Measured extends Relayed {
  before: MemorySample;
  after: MemorySample;
  connected_s: number;
  /** Of an event, with reading it back. */
  cost: Cost;
  gaps: number;
}

function report(options: Options, measured: Measured): Promise<Report> {
  const { before, after, connected_s, recorded, lost, relayed_s, asked_s, p50_ms, p99_ms, gaps } = measured;
  const each = (read: (of: MemorySample) => number) => (read(after) - read(before)) / options.streams;
  const rss_kib = each(({ rss_kib }) => rss_kib);
  const heap_kib = each(({ heap_kib }) => heap_kib);
  const external_kib = each(({ external_kib }) => external_kib);
  const mib = ({ rss_kib, heap_kib, external_kib }: MemorySample) =>
    `${number(rss_kib / 1024, 1)} MiB resident, ${number(heap_kib / 1024, 1)} heap, ${number(external_kib / 1024, 1)} external`;
  const perSecond = recorded / relayed_s;
  const perGib = Math.floor(2 ** 20 / rss_kib); // below zero when noise outweighs a few streams
  const lines = rows([
    [
      'a stream',
      `${number(rss_kib, 1)} KiB resident, of it ${number(heap_kib, 1)} heap, ${number(external_kib, 1)} external`,
    ],
    ['before', `${mib(before)} (${before.threads} threads, their garbage collected)`],
    ['after', mib(after)],
    ['connected', `all ${number(options.streams)} after ${number(connected_s, 2)} s`],
    [
      'relayed',
      `${number(perSecond)} events/s (${number(recorded)} in ${number(relayed_s, 1)} s; ${number(asked_s, 1)} s to ask for them)`,
    ],
    ['latency', `p50 ${number(p50_ms)} ms, p99 ${number(p99_ms)} ms from asking the network to the event's record`],
    ['lost', `${number(lost)} events, ${number(gaps)} gaps`],
  ]);
  const stream = { rss_kib, heap_kib, external_kib, perGib };
  return reportOf({
    scenario: 'listeners',
    options,
    method:
      'memory after a collection of every thread, before and with the streams; then events are sent on all of them',
    lines,
    costs: { 'event, recorded and read back': measured.cost },
    ratios: [
      `${number(after.rss_kib / before.rss_kib, 2)} of the memory without streams`,
      ...(perGib > 0 ? [`${number(perGib)} streams for each GiB of the service's memory`] : []),
    ],
    sampled: `${number(recorded)} events on ${number(options.streams)} streams, one round`,
    notMeasured: NOT_MEASURED,
    data: { stream, perSecond, ...measured },
  });
}
