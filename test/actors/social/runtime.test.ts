import { randomBytes, randomUUID } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { type Execution, Interrupted } from '../../../actors/operations/execution.js';
import { BrowserLink } from '../../../actors/social/browser-link.js';
import { createSocialRuntime } from '../../../actors/social/runtime.js';
import { Channel } from '../../../browser-pool/channel.js';
import type { FromBrowser, ToBrowser } from '../../../browser-pool/messages.js';
import { addProxy, pinConnection } from '../../../storage/connections/proxies.js';
import type { ConnectionRow } from '../../../storage/model/records.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sessionContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSocial, insertWorkspace } from '../../fixture/rows.js';

/** A runtime on a real database, and the other end of its channel, where the test answers as a browser host. */
async function fixture(t: Test, answer: (host: Channel<FromBrowser, ToBrowser>, message: ToBrowser) => void) {
  const { db } = await freshDatabase(t);
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const proxy = await addProxy(db, ring, { region: 'US', url: 'http://127.0.0.1:1' });
  await pinConnection(db, id, proxy.id);
  const sealed = ring.seal('{}', sessionContext(id));
  await db.query('testSession', 'update connection set session_sealed = $2 where id = $1', [id, sealed]);
  const [connection] = await db.query<ConnectionRow>('testConnection', 'select * from connection where id = $1', [id]);
  if (!connection) throw new Error('no connection');
  const { port1, port2 } = new MessageChannel();
  const host = new Channel<FromBrowser, ToBrowser>(port2);
  t.teardown(() => host.close());
  const received: string[] = [];
  host.onMessage((message) => {
    received.push(message.type);
    answer(host, message);
  });
  const link = new BrowserLink(50);
  link.connect(port1);
  const execution: Execution = {
    operationId: randomUUID(),
    capability: capabilityNamed('social.message.send')!,
    input: { recipient_actor_id: 'ACoAAnobody', body: 'Hello' },
    connection,
    epoch: 1,
    signal: new AbortController().signal,
    remaining_ms: 300_000,
    boundary: () => Promise.resolve({ until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER }),
    pauseClock: () => {},
    resumeClock: () => {},
    challenge: () => Promise.reject(new Error('no challenge was raised')),
    storeFile: () => Promise.reject(new Error('no file was stored')),
  };
  return { runtime: createSocialRuntime({ db, ring, link: () => link }), execution, received };
}

t.test('a write boundary that the database refuses ends the run with that error, not with a cancel', async (t) => {
  const { runtime, execution, received } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type !== 'cancel') return;
    host.send({ type: 'failure', run: message.run, code: 'canceled', transient: false, pastBoundary: false });
  });
  const lost = new Error('the connection to the database was lost');
  await t.rejects(runtime.run({ ...execution, boundary: () => Promise.reject(lost) }), lost);
  t.strictSame(received, ['run', 'cancel'], 'and the run was not let past it');
});

t.test('a run that its host does not end is given up', async (t) => {
  const stop = new AbortController();
  const { runtime, execution, received } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type === 'proceed') stop.abort(new Interrupted('deadline'));
  });
  const write = await runtime.run({ ...execution, signal: stop.signal });
  t.strictSame(write, { status: 'outcome_unknown' }, 'a write past its boundary stays in question');
  t.strictSame(received, ['run', 'proceed', 'cancel']);
  const read = { ...execution, capability: capabilityNamed('social.identity.get')!, input: {}, signal: stop.signal };
  await t.rejects(runtime.run(read), new Interrupted('deadline'), 'a read ends for the reason it was stopped');
});
