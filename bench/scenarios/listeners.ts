import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import type { Hint } from '../../actors/system.js';
import { notifyHints } from '../../storage/partitions/hints.js';
import { ServiceApi } from '../api.js';
import { control } from '../control.js';
import { type SignedIn, signInAll } from '../listeners/accounts.js';
import { type Held, held } from '../listeners/memory.js';
import { machine } from '../machine.js';
import { mapConcurrent } from '../map-concurrent.js';
import { quantileOf } from '../quantile.js';
import type { Report, Scenario } from '../scenario.js';
import { type BenchService, startService } from '../service.js';

interface Options {
  streams: number;
  events: number;
}

const NOT_MEASURED = [
  'signing in with a browser: the form is posted through the regional proxies by a plain client, and the sessions are stored as a login would store them',
  'distance: the network and its proxies are on this machine, share its cores, and their own memory is not counted',
  'long life: memory is read twice, some seconds apart; what grows within days does not show',
  'deliveries: the connections have no subscriptions, so an event ends in the database',
];

/** Between two looks at a stream that is not connected yet, or an event that has not arrived. */
const LOOK_ms = 20;

/**
 * What one node pays for an open event stream: streams of real sessions, each over TLS through its region's proxy, on the
 * real service; then how fast what they say is recorded.
 */
export const listeners: Scenario = {
  name: 'listeners',
  summary: 'memory of an open event stream, how soon all are connected, events a second recorded from them',
  options: [
    { flag: '--streams', means: 'connections whose event stream is open', default: 500 },
    { flag: '--events', means: 'events that the network is asked to send, over all streams in turn', default: 5_000 },
  ],
  async run(given, say) {
    const options = typia.assert<Options>(given);
    say('starting the service');
    await using service = await startService({}, { inspect: true });
    const api = new ServiceApi(service);
    const accounts = await signInAll(service, options.streams, say);
    const before = await memory(service);
    say(`opening ${options.streams} streams`);
    const connected_s = await openStreams(service, api, accounts);
    say(`connected after ${connected_s.toFixed(1)} s`);
    const after = await memory(service);
    say(`sending ${options.events} events`);
    const relayed = await relay(service, api, accounts, options.events);
    const gaps = await gapsOf(api, accounts);
    return report(options, { before, after, connected_s, ...relayed, gaps });
  },
};

/** Tells the service that its connections have sessions now; gives the seconds until the last stream is connected. */
async function openStreams(service: BenchService, api: ServiceApi, accounts: SignedIn[]): Promise<number> {
  const startedAt = performance.now();
  const signals = accounts.map(({ connectionId }): Hint => ({ type: 'connection', connectionId }));
  await service.withDatabase((_, db) =>
    notifyHints(
      db,
      signals.map((signal) => JSON.stringify(signal)),
    ),
  );
  for (const { connectionId } of accounts) {
    while ((await listenerOf(api, connectionId)).stream_status !== 'connected') await wait(LOOK_ms);
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
  let gaps = 0;
  await mapConcurrent(accounts, async ({ connectionId }) => {
    gaps += (await listenerOf(api, connectionId)).gaps.length;
  });
  return gaps;
}

interface Relayed {
  recorded: number;
  lost: number;
  /** From the first one asked for to the last one recorded. */
  relayed_s: number;
  /** How long the network alone took to be asked for all of them. */
  asked_s: number;
  p50_ms: number;
  p99_ms: number;
}

interface EventPage {
  next_offset: number | null;
  events: { provider_event_id: string; received_at: string }[];
}

const assertPage = typia.createAssert<EventPage>();
/** An event that has not arrived by then after the last one was asked for is lost. */
const ARRIVAL_ms = 15_000;

/** Has the network send events over all streams in turn, and reads back when each was recorded. */
async function relay(service: BenchService, api: ServiceApi, accounts: SignedIn[], count: number): Promise<Relayed> {
  const askedAt = new Map<string, number>();
  const startedAt = Date.now();
  await mapConcurrent(Array.from({ length: count }).keys(), async (number) => {
    const { username } = accounts[number % accounts.length] as SignedIn;
    const id = `bench-${number}`;
    askedAt.set(id, Date.now());
    await emit(service, username, id);
  });
  const asked_s = (Date.now() - startedAt) / 1_000;
  const latencies: number[] = [];
  let lastAt = startedAt;
  const giveUpAt = Date.now() + ARRIVAL_ms;
  await mapConcurrent(accounts.entries(), async ([number, { connectionId }]) => {
    const expected = Math.ceil((count - number) / accounts.length);
    let events = await eventsOf(api, connectionId);
    while (events.length < expected && Date.now() < giveUpAt) {
      await wait(LOOK_ms);
      events = await eventsOf(api, connectionId);
    }
    for (const { provider_event_id, received_at } of events) {
      const recordedAt = Date.parse(received_at);
      latencies.push(recordedAt - (askedAt.get(provider_event_id) ?? Number.NaN));
      lastAt = Math.max(lastAt, recordedAt);
    }
  });
  const quantile = quantileOf(latencies);
  return {
    recorded: latencies.length,
    lost: count - latencies.length,
    relayed_s: (lastAt - startedAt) / 1_000,
    asked_s,
    p50_ms: quantile(0.5),
    p99_ms: quantile(0.99),
  };
}

async function emit(service: BenchService, account: string, event_id: string): Promise<void> {
  const order = { account, action: 'emit', type: 'sponsored_inmail_received', event_id, data: {} };
  const { delivered } = typia.assert<{ delivered: boolean }>(
    await control(service.controlUrl, 'POST', '/stream', order),
  );
  if (!delivered) throw new Error(`no stream of ${account} took an event`);
}

async function eventsOf(api: ServiceApi, connectionId: string): Promise<EventPage['events']> {
  const events: EventPage['events'] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await api.send('GET', `/v1/connections/${connectionId}/events?offset=${offset}`);
    const page: EventPage = assertPage(body);
    events.push(...page.events);
    offset = page.next_offset;
  }
  return events;
}

function memory({ inspectorUrl }: BenchService): Promise<Held> {
  if (inspectorUrl === undefined) throw new Error('the service has no inspector');
  return held(inspectorUrl);
}

interface Measured extends Relayed {
  before: Held;
  after: Held;
  connected_s: number;
  gaps: number;
}

async function report(options: Options, measured: Measured): Promise<Report> {
  const { before, after, connected_s, recorded, lost, relayed_s, asked_s, p50_ms, p99_ms, gaps } = measured;
  const each = (read: (of: Held) => number) => (read(after) - read(before)) / options.streams;
  const rss_kib = each(({ rss_kib }) => rss_kib);
  const heap_kib = each(({ heap_kib }) => heap_kib);
  const external_kib = each(({ external_kib }) => external_kib);
  const n = (value: number, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
  const mib = ({ rss_kib, heap_kib, external_kib }: Held) =>
    `${n(rss_kib / 1024, 1)} MiB resident, ${n(heap_kib / 1024, 1)} heap, ${n(external_kib / 1024, 1)} external`;
  const perSecond = recorded / relayed_s;
  const perGib = Math.floor(2 ** 20 / rss_kib); // below zero when noise outweighs a few streams
  const where = await machine();
  const rows: [string, string][] = [
    ['a stream', `${n(rss_kib, 1)} KiB resident, of it ${n(heap_kib, 1)} heap, ${n(external_kib, 1)} external`],
    [
      'ratio',
      perGib > 0 ? `${n(perGib)} streams for each GiB of the service's memory` : 'none: too few streams to tell',
    ],
    ['before', `${mib(before)} (${before.threads} threads, their garbage collected)`],
    ['after', mib(after)],
    ['connected', `all ${n(options.streams)} after ${n(connected_s, 2)} s`],
    [
      'relayed',
      `${n(perSecond)} events/s (${n(recorded)} in ${n(relayed_s, 1)} s; ${n(asked_s, 1)} s to ask for them)`,
    ],
    ['latency', `p50 ${n(p50_ms)} ms, p99 ${n(p99_ms)} ms from asking the network to the event's record`],
    ['lost', `${n(lost)} events, ${n(gaps)} gaps`],
    ['machine', where.machine],
    ['commit', where.commit],
  ];
  const text = [
    ...rows.map(([name, value]) => `${name.padEnd(9)} ${value}`),
    '',
    'not measured:',
    ...NOT_MEASURED.map((line) => `- ${line}`),
  ].join('\n');
  const stream = { rss_kib, heap_kib, external_kib, perGib };
  return { text, data: { scenario: 'listeners', options, stream, perSecond, ...measured, ...where } };
}
