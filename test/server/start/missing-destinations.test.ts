import { randomBytes } from 'node:crypto';
import t from 'tap';
import { destinationOf } from '../../../server/http/subscription-rules.js';
import { MissingDestinations } from '../../../server/start/missing-destinations.js';
import { LIMITS } from '../../../storage/limits.js';
import { createLogger } from '../../../storage/log.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { destinationHasher, keyRing } from '../../../storage/secrets/encryption.js';
import { callbackUrlContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { startTestEdge, subscriptionRules } from '../edge-fixture.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});
const hasher = destinationHasher(randomBytes(32));
const hash = (workspaceId: string, callbackUrl: string) => hasher(workspaceId, destinationOf(callbackUrl));

async function filled(db: Parameters<typeof insertWorkspace>[0]): Promise<void> {
  const missing = new MissingDestinations({ db, log, hash });
  missing.start();
  await missing.filled;
}

t.test('subscriptions of a former version get the hash that a new one has, page after page', async (t) => {
  const ring = keyRing([{ id: 'one', key: randomBytes(32) }]);
  const { db } = await freshDatabase(t, new DataVault(ring));
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ann');
  const rows = 2 * LIMITS.destination_rows + 3;
  await db.query(
    'testFormer',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), $1, $2, 0, '{message_received}', 'https://127.0.0.1:8443/' || i, true, '\\x00' from generate_series(1, $3::int) i`,
    [workspace, connection.id, rows],
  );
  const some = await db.query<{ id: string }>('testSome', 'select id from subscription limit 3');
  const [sealed, broken, locked] = some.map(({ id }) => id) as [string, string, string];
  await db.query('testSealed', 'update subscription set callback_url = null, callback_url_sealed = $2 where id = $1', [
    sealed,
    ring.sealData('https://127.0.0.1:8443/hook', callbackUrlContext(sealed)),
  ]);
  await db.query('testBroken', `update subscription set callback_url = 'no address' where id = $1`, [broken]);
  await db.transaction(async (tx) => {
    await tx.query('testLock', 'select from subscription where id = $1 for update', [locked]);
    await filled(db);
  });
  const left = () =>
    db.query<{ id: string }>('testLeft', 'select id from subscription where destination is null order by id');
  t.strictSame(
    await left(),
    [{ id: broken }, { id: locked }].sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
  await filled(db);
  t.strictSame(await left(), [{ id: broken }], 'the next start takes what was locked');
  t.strictSame(
    await db.query(
      'testHashes',
      'select destination, count(*) as rows from subscription where destination is not null group by 1',
    ),
    [{ destination: hash(workspace, 'https://127.0.0.1:8443/hook'), rows: rows - 1 }],
  );
});

t.test('they count for the bound of a destination from then on', async (t) => {
  const rules = subscriptionRules();
  const subscriptions = { ...rules, bounds: { ...rules.bounds, ofDestination: 2 }, destination: hasher };
  const { db, call, workspaceId } = await startTestEdge(t, { subscriptions });
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const body = { event_types: ['message_received'], callback_url: 'https://127.0.0.1/hook' };
  const create = async () => (await call('POST', `/v1/connections/${id}/subscriptions`, { body })).status;
  t.strictSame([await create(), await create()], [201, 201]);
  await db.query('testForget', 'update subscription set destination = null');
  await filled(db);
  t.equal(await create(), 409);
});
