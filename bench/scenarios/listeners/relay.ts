import typia from 'typia';
import type { ServiceApi } from '../../kit/api.js';
import { control } from '../../kit/control.js';
import { askUntil } from '../../kit/eventually.js';
import { LIMITS } from '../../kit/limits.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import type { BenchService } from '../../kit/service.js';
import { quantile } from '../../kit/spread.js';
import type { SignedIn } from './accounts.js';

export interface Relayed {
  recorded: number;
  lost: number;
  /** From the first event requested to the last one recorded. */
  relayed_s: number;
  /** From the first event requested to the last one requested. */
  asked_s: number;
  p50_ms: number;
  p99_ms: number;
}

interface RecordedEvent {
  provider_event_id: string;
  received_at: string;
}

const assertPage = typia.createAssert<{ next_offset: number | null; events: RecordedEvent[] }>();
const assertEmitted = typia.createAssert<{ delivered: boolean }>();

/** Has the network send events over all streams in turn, and reads back when each was recorded. */
export async function relayEvents(service: BenchService, accounts: SignedIn[], count: number): Promise<Relayed> {
  const requestedAt = new Map<string, number>();
  const startedAt = Date.now();
  await mapConcurrent(Array.from({ length: count }).keys(), async (number) => {
    const { username } = accounts[number % accounts.length] as SignedIn;
    const id = `bench-${number}`;
    requestedAt.set(id, Date.now());
    await emit(service, username, id);
  });
  const asked_s = (Date.now() - startedAt) / 1_000;
  const giveUpAt = Date.now() + LIMITS.relayed_event_ms;
  const recorded = await mapConcurrent(accounts.entries(), async ([number, { connectionId }]) => {
    const expected = Math.ceil((count - number) / accounts.length);
    const { last = [] } = await askUntil(
      () => eventsOf(service.api, connectionId),
      (events) => events.length >= expected,
      { ms: Math.max(0, giveUpAt - Date.now()) },
    );
    return last;
  });
  return { ...measured(recorded.flat(), requestedAt, startedAt), lost: count - recorded.flat().length, asked_s };
}

function measured(
  events: RecordedEvent[],
  requestedAt: Map<string, number>,
  startedAt: number,
): Omit<Relayed, 'lost' | 'asked_s'> {
  const recordedAt = events.map(({ received_at }) => Date.parse(received_at));
  const latencies = events.map(
    ({ provider_event_id }, i) => (recordedAt[i] ?? Number.NaN) - (requestedAt.get(provider_event_id) ?? Number.NaN),
  );
  const lastAt = recordedAt.reduce((last, at) => Math.max(last, at), startedAt);
  return {
    recorded: events.length,
    relayed_s: (lastAt - startedAt) / 1_000,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}

async function emit(service: BenchService, account: string, event_id: string): Promise<void> {
  const order = { account, action: 'emit', type: 'sponsored_inmail_received', event_id, data: {} };
  const { delivered } = assertEmitted(await control(service.addresses.controlUrl, 'POST', '/stream', order));
  if (!delivered) throw new Error(`no stream of ${account} took an event`);
}

async function eventsOf(api: ServiceApi, connectionId: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { body } = await api.send('GET', `/v1/connections/${connectionId}/events?offset=${offset}`);
    const page = assertPage(body);
    events.push(...page.events);
    offset = page.next_offset;
  }
  return events;
}
