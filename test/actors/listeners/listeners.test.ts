import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Listeners } from '../../../actors/listeners/listeners.js';
import { ProxyHealth } from '../../../actors/proxy-health.js';
import { SessionSaves } from '../../../actors/session-saves.js';
import { openSignIn } from '../../../bench/scenarios/listeners/sign-in.js';
import { findConnections, insertSocialConnection } from '../../../storage/connections/connections.js';
import { findListener, listGaps } from '../../../storage/connections/listener-read.js';
import { addProxy, listFailingProxies, listProxies, noteProxy } from '../../../storage/connections/proxies.js';
import { changeConnection } from '../../../storage/connections/session-effects.js';
import { listEvents } from '../../../storage/deliveries/events.js';
import { createLogger } from '../../../storage/log/log.js';
import { partitionOf } from '../../../storage/model/records.js';
import { Tally } from '../../../storage/overview/tally.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sessionContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { Network } from '../../fixture/network.js';
import { insertWorkspace } from '../../fixture/rows.js';

/** Longer than the network's heartbeat, so that only a stream that was silenced is silent. */
const SILENCE_MS = 5_000;
/** The epoch of a partition that no node has claimed yet. */
const EPOCH = 0;

const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);

/** A ready connection whose account is signed in at the network, as a login leaves it. */
async function signedIn(db: Database, network: Network, username: string): Promise<string> {
  const id = randomUUID();
  await insertSocialConnection(db, {
    id,
    workspaceId: await insertWorkspace(db),
    partition: partitionOf(id),
    identityKey: username,
    username,
    passwordSealed: ring.seal('sandbox', 'unused'),
    region: network.proxy.id,
  });
  const { server: url, username: user, password } = network.proxy;
  const proxy = await addProxy(db, ring, { region: network.proxy.id, url, username: user, password });
  await using signIn = openSignIn(network.site, network.proxy);
  await changeConnection(db, {
    connectionId: id,
    expectedRevision: 0,
    revision: 1,
    health: 'ready',
    sessionSealed: ring.seal(await signIn.signIn(username), sessionContext(id)),
    healthReason: null,
    ofSession: null,
    actorId: null,
    passwordSealed: null,
    proxyId: proxy.id,
    recruiter: null,
  });
  return id;
}

t.test('listeners', async (t) => {
  const { db } = await freshDatabase(t);
  const network = await Network.start();
  t.teardown(() => network.close());
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const saves = new SessionSaves({ db, ring, log, epoch: () => EPOCH });
  const tally = new Tally();
  const listeners = new Listeners(network.site, {
    ...{ db, ring, log, saves, tally, recorded: () => {}, silence_ms: SILENCE_MS },
    proxies: new ProxyHealth(db, log),
  });
  t.teardown(() => listeners.close());
  const listening = async (username: string) => {
    const id = await signedIn(db, network, username);
    await listeners.own([{ id: partitionOf(id), epoch: EPOCH }]);
    const state = async () => await findListener(db, id, LIMITS.stream_stale_ms);
    await eventually('the stream is connected', state, (row) => row?.stream_status === 'connected');
    return { id, state };
  };

  await t.test('a stream that falls silent is a gap until another one speaks', async (t) => {
    const { id, state } = await listening('ada');
    const [proxy] = await listProxies(db);
    await noteProxy(db, proxy?.id ?? '', 'unreachable');
    await network.stream({ account: 'ada', action: 'silence' });
    t.match(await eventually('a gap is open', state, (row) => row?.continuity_status === 'gap_open'), {
      open_gap_count: 1,
    });
    t.match(await listGaps(db, id, 50), [{ reason: 'stream_silent', closed_at: null }]);
    const recorded = async () => (await listEvents(db, id, 0, 100)).map(({ type }) => type);
    t.strictSame(await eventually('the loss is an event', recorded, (types) => types.length > 0), [
      'connection.stream_degraded',
    ]);

    await eventually('the next stream is asked for', state, (row) => row?.stream_status === 'connecting');
    const deaf = await eventually('the next stream is silent too', state, (row) => row?.stream_status === 'degraded');
    t.match(deaf, { reason: 'stream_silent', open_gap_count: 1 }, 'an open stream without frames closes no gap');

    await network.stream({ account: 'ada', action: 'resume' });
    t.match(await eventually('the stream is connected again', state, (row) => row?.stream_status === 'connected'), {
      open_gap_count: 0,
    });
    t.match(await listGaps(db, id, 50), [{ reason: 'stream_silent', closed_at: Date }]);
    const failing = () => listFailingProxies(db, 10);
    await eventually('the stream has got through the proxy', failing, ({ length }) => length === 0);
    t.strictSame(await eventually('the recovery is an event', recorded, (types) => types.length > 1), [
      'connection.stream_restored',
      'connection.stream_degraded',
    ]);
  });

  await t.test('a restricted account is invalid, and its stream is not asked for again', async (t) => {
    const { id, state } = await listening('bob');
    const asked = () => network.requestsOf('bob');
    await network.account({ username: 'bob', restricted: true });
    await network.stream({ account: 'bob', action: 'drop' });
    const connection = async () => (await findConnections(db, [id]))[0];
    t.match(await eventually('the connection is no longer ready', connection, (row) => row?.health !== 'ready'), {
      health: 'invalid',
      state_revision: 1,
    });
    t.match(await state(), { stream_status: 'stopped', reason: 'stream_restricted', open_gap_count: 1 });
    const before = await asked();
    await listeners.look(id);
    t.equal(await asked(), before);
    t.equal(listeners.size, 1, 'only the other one listens');
    t.match(tally.take(), [[String, { connections: 1 }]], 'who watches is told that its health has changed');
  });
});
