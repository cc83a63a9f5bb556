import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import type { Signal } from '../../actors/system.js';
import { socialSite } from '../../browser-pool/social/site.js';
import { loadOrCreateKeyFile } from '../../server/encryption-keys.js';
import type { Database } from '../../storage/database.js';
import { type KeyRing, keyRing } from '../../storage/encryption.js';
import { activeProxyFor, openProxy, pinConnection } from '../../storage/proxies.js';
import { sessionContext } from '../../storage/sealing.js';
import { changeConnection } from '../../storage/session-effects.js';
import { notifySignals } from '../../storage/signals.js';
import { openApi, type ServiceApi } from '../api.js';
import { machine } from '../machine.js';
import { type Held, held } from '../memory.js';
import { quantileOf } from '../quantile.js';
import { type BenchService, startService } from '../service.js';
import { openSignIn, type SignIn } from '../sign-in.js';
import type { Report, Scenario } from './scenario.js';

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

const REGIONS = ['US', 'DE', 'GB', 'FR'];
/** Accounts that sign in, streams that are looked at, and events that are asked for at once. */
const CONCURRENCY = 16;
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
    const api = openApi(service);
    const accounts = await signedIn(service, options.streams, say);
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

interface Account {
  connectionId: string;
  username: string;
}

/** Makes the connections and gives each a live session, pinned to a proxy, exactly as a login leaves it. */
async function signedIn(service: BenchService, count: number, say: (line: string) => void): Promise<Account[]> {
  const made = Array.from({ length: count }, (_, number) => ({
    username: `listener-${number}`,
    region: REGIONS[number % REGIONS.length] as string,
  }));
  const ids = await service.createConnections(
    made.map((account) => ({ provider: 'social', password: 'sandbox', ...account })),
  );
  const accounts = made.map((account, number) => ({ ...account, connectionId: ids[number] as string }));
  const ring = keyRing(await loadOrCreateKeyFile(service.dataDir));
  const startedAt = performance.now();
  await service.withDatabase(async (_, db) => {
    const signIns = new Map<string, SignIn>();
    await inTurn(accounts, (account) => storeSession(db, ring, service, signIns, account));
    for (const signIn of signIns.values()) await signIn[Symbol.asyncDispose]();
  });
  say(`${count} accounts signed in without a browser in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return accounts;
}

async function storeSession(
  db: Database,
  ring: KeyRing,
  service: BenchService,
  signIns: Map<string, SignIn>,
  { connectionId, username, region }: Account & { region: string },
): Promise<void> {
  const proxy = await activeProxyFor(db, region, connectionId);
  if (!proxy) throw new Error(`the network has no proxy in ${region}`);
  const ca = await readFile(join(service.dataDir, 'sandbox/ca.pem'), 'utf8');
  const signIn = signIns.get(proxy.id) ?? openSignIn(socialSite({ origin: ORIGIN, ca }), openProxy(ring, proxy));
  signIns.set(proxy.id, signIn);
  const session = await signIn.signIn(username);
  await pinConnection(db, connectionId, proxy.id);
  const stored = await changeConnection(db, {
    connectionId,
    expectedRevision: 0,
    revision: 1,
    health: 'ready',
    sessionSealed: ring.seal(session, sessionContext(connectionId)),
    actorId: null,
    recruiter: null,
  });
  if (!stored) throw new Error(`the session of ${username} was not stored`);
}

/** The stand-in network is always there. */
const ORIGIN = 'https://www.social.test';

/** Tells the service that its connections have sessions now; gives the seconds until the last stream is connected. */
async function openStreams(service: BenchService, api: ServiceApi, accounts: Account[]): Promise<number> {
  const startedAt = performance.now();
  const signals = accounts.map(({ connectionId }): Signal => ({ type: 'connection', connectionId }));
  await service.withDatabase((_, db) =>
    notifySignals(
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
  return assertListener(await api.get(`/v1/connections/${connectionId}/listener`));
}

async function gapsOf(api: ServiceApi, accounts: Account[]): Promise<number> {
  let gaps = 0;
  await inTurn(accounts, async ({ connectionId }) => {
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
async function relay(service: BenchService, api: ServiceApi, accounts: Account[], count: number): Promise<Relayed> {
  const askedAt = new Map<string, number>();
  const startedAt = Date.now();
  await inTurn(Array.from({ length: count }).keys(), async (number) => {
    const { username } = accounts[number % accounts.length] as Account;
    const id = `bench-${number}`;
    askedAt.set(id, Date.now());
    await emit(service, username, id);
  });
  const asked_s = (Date.now() - startedAt) / 1_000;
  const latencies: number[] = [];
  let lastAt = startedAt;
  const giveUpAt = Date.now() + ARRIVAL_ms;
  await inTurn(accounts.entries(), async ([number, { connectionId }]) => {
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
  const answer = await fetch(`${service.controlUrl}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const { delivered } = typia.assert<{ delivered: boolean }>(await answer.json());
  if (!delivered) throw new Error(`no stream of ${account} took an event`);
}

async function eventsOf(api: ServiceApi, connectionId: string): Promise<EventPage['events']> {
  const events: EventPage['events'] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: EventPage = assertPage(await api.get(`/v1/connections/${connectionId}/events?offset=${offset}`));
    events.push(...page.events);
    offset = page.next_offset;
  }
  return events;
}

/** Works through all of them, some at once. */
async function inTurn<T>(all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
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
  const perGib = Math.floor(2 ** 20 / rss_kib);
  const where = await machine();
  const rows: [string, string][] = [
    ['a stream', `${n(rss_kib, 1)} KiB resident, of it ${n(heap_kib, 1)} heap, ${n(external_kib, 1)} external`],
    ['ratio', `${n(perGib)} streams for each GiB of the service's memory`],
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
