import t from 'tap';
import { control } from '../fixture/client.js';
import { serviceGround, startService } from '../fixture/service.js';

const ACCOUNTS = 40;
const REGIONS = ['us', 'de', 'gb', 'fr'];
const MIXED_MS = 8_000;

/** Reads of every kind of work, with and without a page, and a send; each tells whose session answered where it can. */
const WORK: [capability: string, input: (person: string) => object][] = [
  ['social.identity.get', () => ({})],
  ['social.conversations.list', () => ({})],
  ['social.health.check', () => ({})],
  ['social.people.search', () => ({ keywords: 'engineer', count: 5 })],
  ['social.message.send', (person) => ({ recipient_actor_id: person, body: 'Hello from the fleet' })],
];

t.test('forty accounts in four regions at once keep to their own session and region', async (t) => {
  const { client, sandboxUrl } = await startService(t, await serviceGround(t, { BROWSER_CONTEXTS: '24' }));
  const fleet = await Promise.all(
    Array.from({ length: ACCOUNTS }, async (_, number) => {
      const region = REGIONS[number % REGIONS.length] as string;
      const username = `fleet-${number}`;
      const id = await client.connect({ provider: 'social', username, password: 'sandbox', region });
      return { id, username, region };
    }),
  );
  const logins = await Promise.all(fleet.map(({ id }) => client.run(id, 'social.login')));
  t.equal(logins.filter(({ status }) => status === 'succeeded').length, ACCOUNTS, 'every account is signed in');
  const people = (await client.run(fleet[0]?.id ?? '', 'social.people.search', { keywords: 'engineer', count: 1 }))
    .result.people as { hash_id: string }[];

  const until = performance.now() + MIXED_MS;
  const actors = new Set<unknown>();
  let done = 0;
  const failed: string[] = [];
  await Promise.all(
    fleet.map(async ({ id, username }, first) => {
      const { body: before } = await client.send('GET', `/v1/connections/${id}`);
      for (let turn = first; performance.now() < until; turn++) {
        const [capability, input] = WORK[turn % WORK.length] as (typeof WORK)[number];
        const operation = await client.run(id, capability, input(people[0]?.hash_id ?? ''));
        done += 1;
        if (operation.status !== 'succeeded') failed.push(`${capability}: ${operation.error_code}`);
        const { actor_id } = operation.result ?? {};
        if (actor_id === undefined) continue;
        actors.add(actor_id);
        if (actor_id !== (before.external_actor as { id: string }).id) failed.push(`${username} saw another account`);
      }
    }),
  );
  t.strictSame(failed, [], 'every operation succeeded, under its own account');
  t.ok(done > ACCOUNTS, `${done} operations`);
  t.equal(actors.size, ACCOUNTS, 'as many identities as accounts');

  const { regions } = (await control(sandboxUrl, 'GET', '/proxies')) as {
    regions: { region: string; accounts: Record<string, number> }[];
  };
  for (const { username, region } of fleet) {
    const used = regions.filter(({ accounts }) => username in accounts).map((one) => one.region.toLowerCase());
    t.strictSame(used, [region], `${username} came through its own region only`);
  }
});
