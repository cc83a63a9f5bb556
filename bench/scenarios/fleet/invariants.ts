import typia from 'typia';
import { control } from '../../kit/control.js';
import { askUntil } from '../../kit/eventually.js';
import { LIMITS } from '../../kit/limits.js';
import { disconnectFleet, type FleetClient, type FleetMember } from './members.js';

/**
 * What holds of many accounts at work at once, whatever they do. The bench checks it after minutes, the test suite after
 * seconds.
 *
 * I1  An account comes through its own region only, as the network counts its requests.
 * I2  An account sees its own session only (`work.ts` counts what it sees).
 * I3  A message whose send succeeded is in the network's ledger once.
 * I4  Idle contexts are within the browser's bound, and without sessions no context is open. (While all accounts are at work
 *     there may be more: only idle ones are closed.)
 */
export interface FleetInvariants {
  /** I1, an account each. */
  regionViolations: string[];
  /** I3, a message each. */
  ledgerViolations: string[];
  /** I4 */
  contextsAtEnd: number;
  contextsDisconnected: number;
}

/** Reads what the network and the service counted, then disconnects the fleet. `contexts` is the browser's bound. */
export async function checkInvariants(
  { controlUrl, metricsUrl }: { controlUrl: string; metricsUrl: string },
  client: FleetClient,
  fleet: FleetMember[],
  sent: Map<string, string[]>,
  contexts: number,
): Promise<FleetInvariants> {
  const contextsAtEnd = await contextsAtMost(metricsUrl, contexts);
  const regionViolations = await proxyViolations(controlUrl, fleet);
  const ledgerViolations = await messageViolations(controlUrl, sent);
  await disconnectFleet(client, fleet);
  const contextsDisconnected = await contextsAtMost(metricsUrl, 0);
  return { contextsAtEnd, contextsDisconnected, regionViolations, ledgerViolations };
}

const assertTraffic = typia.createAssert<{ regions: { region: string; accounts: Record<string, number> }[] }>();

/** I1: accounts that the network saw come from another region than their own, each with the regions. */
async function proxyViolations(controlUrl: string, fleet: FleetMember[]): Promise<string[]> {
  const { regions } = assertTraffic(await control(controlUrl, 'GET', '/proxies'));
  return fleet.flatMap(({ username, region }) => {
    const used = regions.filter(({ accounts }) => username in accounts).map((one) => one.region.toLowerCase());
    return used.length === 1 && used[0] === region ? [] : [`${username} of ${region} came from ${used.join(', ')}`];
  });
}

const assertLedger = typia.createAssert<{ entries: { account: string; kind: string; text: string }[] }>();

/** I3: messages the network has twice or never had, after every send succeeded. */
async function messageViolations(controlUrl: string, sent: Map<string, string[]>): Promise<string[]> {
  const { entries } = assertLedger(await control(controlUrl, 'GET', '/ledger'));
  const counted = new Map<string, number>();
  for (const { account, text } of entries) {
    counted.set(`${account}: ${text}`, (counted.get(`${account}: ${text}`) ?? 0) + 1);
  }
  const wanted = [...sent].flatMap(([username, texts]) => texts.map((text) => `${username}: ${text}`));
  return [
    ...[...counted].filter(([, times]) => times > 1).map(([what, times]) => `${what} was sent ${times} times`),
    ...wanted.filter((what) => !counted.has(what)).map((what) => `${what} was never sent`),
  ];
}

/** Open browser contexts of all threads, as the service last counted them. */
export async function openContexts(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(/^connection_service_browser_contexts (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** I4: the open contexts once they are no more than `most`, or as they are after `LIMITS.context_sweep_ms`. */
async function contextsAtMost(metricsUrl: string, most: number): Promise<number> {
  const { last = Number.NaN } = await askUntil(
    () => openContexts(metricsUrl),
    (open) => open <= most,
    { ms: LIMITS.context_sweep_ms },
  );
  return last;
}
