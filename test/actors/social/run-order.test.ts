import { randomBytes } from 'node:crypto';
import t from 'tap';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import type { Execution } from '../../../actors/operations/attempt/execution.js';
import { ownTrouble } from '../../../actors/operations/attempt/outcome.js';
import { orderRun } from '../../../actors/social/run-order.js';
import { addProxy } from '../../../storage/connections/proxies.js';
import type { ConnectionRow } from '../../../storage/model/records.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { passwordContext, sessionContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSocial, insertWorkspace, pinConnection } from '../../fixture/rows.js';
import { NO_SAVES } from '../no-saves.js';

t.test('a run whose secrets were sealed under a key that this node lacks is worth another try', async (t) => {
  const { db } = await freshDatabase(t);
  const known = keyRing([{ id: 'known', key: randomBytes(32) }]);
  const other = keyRing([{ id: 'other', key: randomBytes(32) }]);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const url = 'http://127.0.0.1:1';
  const open = await addProxy(db, known, { region: 'US', url });
  const sealed = await addProxy(db, other, { region: 'US', url, username: 'user', password: 'secret' });
  const ends = async (
    proxyId: string,
    session: typeof known,
    password: typeof known,
    capability: string,
    sealedFor = id,
  ) => {
    await pinConnection(db, id, proxyId);
    await db.query('testSecrets', 'update connection set session_sealed = $2, password_sealed = $3 where id = $1', [
      id,
      session.seal('{}', sessionContext(sealedFor)),
      password.seal('sandbox', passwordContext(id)),
    ]);
    const [connection] = await db.query<ConnectionRow>('testConnection', 'select * from connection where id = $1', [
      id,
    ]);
    const execution = { connection: connection!, capability: capabilityNamed(capability)!, input: {}, epoch: 1 };
    const sources = { db, ring: known, saves: NO_SAVES };
    return orderRun(sources, { ...execution, remaining_ms: 1 } as Execution).then(({ order }) => order, ownTrouble);
  };
  const again = { status: 'failed', transient: true, own: { wait_ms: 30_000 } };
  t.match(await ends(open.id, known, known, 'social.login'), { credentials: { password: 'sandbox' } });
  t.match(await ends(open.id, other, known, 'social.identity.get'), again, 'its session');
  t.match(await ends(open.id, known, other, 'social.login'), again, 'its password');
  t.match(await ends(open.id, known, other, 'social.identity.get'), { session: '{}' }, 'a password it does not need');
  t.match(await ends(sealed.id, known, known, 'social.identity.get'), again, "its proxy's credentials");
  const moved = await insertSocial(db, await insertWorkspace(db), 'grace');
  t.equal(
    await ends(open.id, known, known, 'social.identity.get', moved.id),
    undefined,
    'the session of another connection does not open, and no other try would help',
  );
});
