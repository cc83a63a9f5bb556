import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import { loadOrCreateKeyFile } from '../../../server/start/settings/encryption-keys.js';
import { activeProxyFor, openProxy } from '../../../storage/connections/proxies.js';
import { changeConnection } from '../../../storage/connections/session-effects.js';
import type { Database } from '../../../storage/postgres/database.js';
import { type KeyRing, keyRing } from '../../../storage/secrets/encryption.js';
import { sessionContext } from '../../../storage/secrets/sealing.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import type { BenchService } from '../../kit/service.js';
import { openSignIn, type SignIn } from './sign-in.js';

const REGIONS = ['US', 'DE', 'GB', 'FR'];
/** The origin of the stand-in network. */
const ORIGIN = 'https://www.social.test';

/** A connection with a live session. */
export interface SignedIn {
  connectionId: string;
  username: string;
}

/**
 * Makes social connections and gives each a live session without a browser: signed in through its region's proxy, pinned
 * and stored as a login stores it.
 */
export async function signInAll(
  service: BenchService,
  count: number,
  say: (line: string) => void,
): Promise<SignedIn[]> {
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
    await mapConcurrent(accounts, (account) => storeSession(db, ring, service, signIns, account));
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
  { connectionId, username, region }: SignedIn & { region: string },
): Promise<void> {
  const proxy = await activeProxyFor(db, region, connectionId);
  if (!proxy) throw new Error(`the network has no proxy in ${region}`);
  const ca = await readFile(join(service.dataDir, 'sandbox/ca.pem'), 'utf8');
  const signIn = signIns.get(proxy.id) ?? openSignIn(socialSite({ origin: ORIGIN, ca }), openProxy(ring, proxy));
  signIns.set(proxy.id, signIn);
  const session = await signIn.signIn(username);
  const stored = await changeConnection(db, {
    connectionId,
    expectedRevision: 0,
    revision: 1,
    health: 'ready',
    sessionSealed: ring.seal(session, sessionContext(connectionId)),
    healthReason: null,
    ofSession: null,
    actorId: null,
    passwordSealed: null,
    proxyId: proxy.id,
    recruiter: null,
  });
  if (!stored) throw new Error(`the session of ${username} was not stored`);
}
