import t from 'tap';
import { checkInvariants } from '../../bench/scenarios/fleet/invariants.js';
import { signInFleet } from '../../bench/scenarios/fleet/members.js';
import { mixedWork } from '../../bench/scenarios/fleet/work.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { sized } from '../fixture/size.js';

const ACCOUNTS = sized(8, 40);
/** Fewer than accounts. */
const CONTEXTS = sized(5, 24);
/** Pieces of work of each account. */
const PIECES = sized(2, 10);

t.test(`${ACCOUNTS} accounts in four regions at once keep to their own session and region`, async (t) => {
  const fixture = await serviceFixture(t, {
    ACTOR_THREADS: '2',
    BROWSER_CONTEXTS: String(CONTEXTS),
    BROWSER_THREADS: '1',
  });
  const { client, sandboxUrl, metricsUrl } = await startService(t, fixture);
  const fleet = await signInFleet(client, ACCOUNTS);
  t.equal(new Set(fleet.map(({ actorId }) => actorId)).size, ACCOUNTS, 'as many identities as accounts');

  const { done, failed, sent } = await mixedWork(client, fleet, (done) => done < PIECES);
  t.strictSame(failed, [], 'every operation succeeded, under its own account');
  t.equal(done, ACCOUNTS * PIECES);

  const addresses = { controlUrl: sandboxUrl, metricsUrl };
  const found = await checkInvariants(addresses, client, fleet, sent, CONTEXTS);
  t.strictSame(found.regionViolations, [], 'every account came through its own region only');
  t.strictSame(found.ledgerViolations, [], 'every message was sent once');
  t.ok(found.contextsAtEnd <= CONTEXTS, 'idle contexts are within their bound');
  t.equal(found.contextsDisconnected, 0, 'and without sessions there is none');
});
