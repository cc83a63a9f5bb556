import t from 'tap';
import { checkInvariants } from '../../bench/fleet/invariants.js';
import { signInFleet } from '../../bench/fleet/members.js';
import { mixedWork } from '../../bench/fleet/work.js';
import { serviceFixture, startService } from '../fixture/service.js';

const ACCOUNTS = 40;
const CONTEXTS = 24;
const MIXED_ms = 5_000;

t.test('forty accounts in four regions at once keep to their own session and region', async (t) => {
  const fixture = await serviceFixture(t, {
    ACTOR_THREADS: '2',
    BROWSER_CONTEXTS: String(CONTEXTS),
    BROWSER_THREADS: '1',
  });
  const { client, sandboxUrl, metricsUrl } = await startService(t, fixture);
  const fleet = await signInFleet(client, ACCOUNTS);
  t.equal(new Set(fleet.map(({ actorId }) => actorId)).size, ACCOUNTS, 'as many identities as accounts');

  const { done, failed, sent } = await mixedWork(client, fleet, performance.now() + MIXED_ms);
  t.strictSame(failed, [], 'every operation succeeded, under its own account');
  t.ok(done >= ACCOUNTS, `${done} operations`);

  const addresses = { controlUrl: sandboxUrl, metricsUrl };
  const found = await checkInvariants(addresses, client, fleet, sent, CONTEXTS);
  t.strictSame(found.regionViolations, [], 'every account came through its own region only');
  t.strictSame(found.ledgerViolations, [], 'every message was sent once');
  t.ok(found.contextsAtEnd <= CONTEXTS, 'idle contexts are within their bound');
  t.equal(found.contextsDisconnected, 0, 'and without sessions there is none');
});
