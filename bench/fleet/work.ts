import { setTimeout as wait } from 'node:timers/promises';
import typia from 'typia';
import { control } from '../control.js';

/**
 * Many accounts at work at once, and what has to hold whatever they do: each comes through its own region only, sees
 * nobody else's session, sends nothing twice, and leaves no browser context behind. The bench runs it for minutes, the
 * test suite for seconds.
 */
export interface FleetMember {
  connectionId: string;
  username: string;
  /** Lower case. */
  region: string;
  /** Hash id of the account, as its login found it. */
  actorId: string;
}

/** What the fleet needs of an API client. */
export interface FleetClient {
  send(method: 'GET' | 'POST', path: string): Promise<{ body: unknown }>;
  connect(body: { provider: 'social'; username: string; password: string; region: string }): Promise<string>;
  run(connectionId: string, capability: string, input?: object): Promise<FleetOperation>;
}

interface FleetOperation {
  status: string;
  error_code: string | null;
  result: Record<string, unknown> | null;
}

export const FLEET_REGIONS = ['us', 'de', 'gb', 'fr'];

const assertConnection = typia.createAssert<{ external_actor: { id: string } }>();

/** Makes that many connections, spread over the regions, and signs all in at once. Throws when one is not signed in. */
export function signInFleet(client: FleetClient, accounts: number): Promise<FleetMember[]> {
  return Promise.all(
    Array.from({ length: accounts }, async (_, number) => {
      const region = FLEET_REGIONS[number % FLEET_REGIONS.length] as string;
      const username = `fleet-${number}`;
      const connectionId = await client.connect({ provider: 'social', username, password: 'sandbox', region });
      const { status, error_code } = await client.run(connectionId, 'social.login');
      if (status !== 'succeeded') throw new Error(`${username} is not signed in: ${status} ${error_code}`);
      const { body } = await client.send('GET', `/v1/connections/${connectionId}`);
      return { connectionId, username, region, actorId: assertConnection(body).external_actor.id };
    }),
  );
}

/** Whom to write to, and what: a text unlike any other. */
interface Subject {
  person: string;
  text: string;
}

/** Only a session gets it. */
const FILE = 'https://files.social.test/samples/100000.bin';

/** Reads with and without a page, searches, a download and a send. Some tell whose session answered. */
const WORK: [capability: string, input: (subject: Subject) => object][] = [
  ['social.identity.get', () => ({})],
  ['social.conversations.list', () => ({})],
  ['social.health.check', () => ({})],
  ['social.people.search', () => ({ keywords: 'engineer', count: 5 })],
  ['social.message.send', ({ person, text }) => ({ recipient_actor_id: person, body: text })],
  ['social.file.download', () => ({ url: FILE })],
  ['social.jobs.search', () => ({ keywords: 'engineer', count: 5 })],
];

export interface FleetTally {
  /** Operations that ended. */
  done: number;
  latencies_ms: number[];
  /** What did not succeed, or answered for another account. */
  failed: string[];
  /** Texts whose send was submitted, by username. */
  sent: Map<string, string[]>;
}

export const emptyTally = (): FleetTally => ({ done: 0, latencies_ms: [], failed: [], sent: new Map() });

/** Every member does one piece of work after another until the moment (`performance.now()`); the tally counts along. */
export async function mixedWork(
  client: FleetClient,
  fleet: FleetMember[],
  until: number,
  tally = emptyTally(),
): Promise<FleetTally> {
  const person = await findPerson(client, fleet);
  await Promise.all(
    fleet.map(async (member, first) => {
      for (let turn = first; performance.now() < until; turn++) {
        const [capability, input] = WORK[turn % WORK.length] as (typeof WORK)[number];
        const text = `Hello number ${turn} from ${member.username}`;
        if (capability === 'social.message.send') {
          tally.sent.set(member.username, [...(tally.sent.get(member.username) ?? []), text]);
        }
        const startedAt = performance.now();
        const operation = await client.run(member.connectionId, capability, input({ person, text }));
        tally.latencies_ms.push(performance.now() - startedAt);
        tally.done += 1;
        const { actor_id = member.actorId } = operation.result ?? {};
        if (operation.status !== 'succeeded') tally.failed.push(`${capability}: ${operation.error_code}`);
        if (actor_id !== member.actorId) tally.failed.push(`${member.username} saw another account`);
      }
    }),
  );
  return tally;
}

const assertPeople = typia.createAssert<{ people: { hash_id: string }[] }>();

/** Somebody to write to. */
async function findPerson(client: FleetClient, [first]: FleetMember[]): Promise<string> {
  if (!first) throw new Error('a fleet has at least one account');
  const found = await client.run(first.connectionId, 'social.people.search', { keywords: 'engineer', count: 1 });
  return assertPeople(found.result).people[0]?.hash_id ?? '';
}

const assertTraffic = typia.createAssert<{ regions: { region: string; accounts: Record<string, number> }[] }>();

/** Accounts that the network saw come from any region but their own, each with the regions. */
export async function proxyViolations(controlUrl: string, fleet: FleetMember[]): Promise<string[]> {
  const { regions } = assertTraffic(await control(controlUrl, 'GET', '/proxies'));
  return fleet.flatMap(({ username, region }) => {
    const used = regions.filter(({ accounts }) => username in accounts).map((one) => one.region.toLowerCase());
    return used.length === 1 && used[0] === region ? [] : [`${username} of ${region} came from ${used.join(', ')}`];
  });
}

const assertLedger = typia.createAssert<{ entries: { account: string; kind: string; text: string }[] }>();

/** Sends the network has twice or never had, after every one of them succeeded. */
export async function ledgerViolations(controlUrl: string, sent: Map<string, string[]>): Promise<string[]> {
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
  return Number(/^browser_contexts (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** Between two looks at what the service counted; it counts every second. */
const LOOK_ms = 250;

/** The open contexts once they are no more than `most`, or after `timeout_ms`, whichever is first. */
export async function contextsAtMost(metricsUrl: string, most: number, timeout_ms: number): Promise<number> {
  const giveUpAt = performance.now() + timeout_ms;
  for (;;) {
    const open = await openContexts(metricsUrl);
    if (open <= most || performance.now() > giveUpAt) return open;
    await wait(LOOK_ms);
  }
}

/** Ends every session: nothing explains a context any more. */
export async function disconnectFleet(client: FleetClient, fleet: FleetMember[]): Promise<void> {
  await Promise.all(fleet.map(({ connectionId }) => client.send('POST', `/v1/connections/${connectionId}/disconnect`)));
}
