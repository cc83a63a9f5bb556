import t from 'tap';
import {
  contextsAtMost,
  disconnectFleet,
  ledgerViolations,
  mixedWork,
  proxyViolations,
  signInFleet,
} from '../../bench/fleet/work.js';
import { serviceFixture, startService } from '../fixture/service.js';

const ACCOUNTS = 40;
const CONTEXTS = 24;
const MIXED_MS = 5_000;
/** The service counts its contexts every second and sweeps them as often; the rest is a slow machine. */
const SWEEP_MS = 30_000;

t.test('forty accounts in four regions at once keep to their own session and region', async (t) => {
  const fixture = await serviceFixture(t, { BROWSER_CONTEXTS: String(CONTEXTS), BROWSER_THREADS: '1' });
  const { client, sandboxUrl, metricsUrl } = await startService(t, fixture);
  const fleet = await signInFleet(client, ACCOUNTS);
  t.equal(new Set(fleet.map(({ actorId }) => actorId)).size, ACCOUNTS, 'as many identities as accounts');

  const { done, failed, sent } = await mixedWork(client, fleet, performance.now() + MIXED_MS);
  t.strictSame(failed, [], 'every operation succeeded, under its own account');
  t.ok(done >= ACCOUNTS, `${done} operations`);
  t.strictSame(await proxyViolations(sandboxUrl, fleet), [], 'every account came through its own region only');
  t.strictSame(await ledgerViolations(sandboxUrl, sent), [], 'every message was sent once');

  t.ok((await contextsAtMost(metricsUrl, CONTEXTS, SWEEP_MS)) <= CONTEXTS, 'idle contexts are within their bound');
  await disconnectFleet(client, fleet);
  t.equal(await contextsAtMost(metricsUrl, 0, SWEEP_MS), 0, 'and without sessions there is none');
});
