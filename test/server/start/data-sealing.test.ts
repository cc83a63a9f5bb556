import { randomBytes } from 'node:crypto';
import t from 'tap';
import { DataSealing } from '../../../server/start/data-sealing.js';
import { createLogger } from '../../../storage/log.js';
import { DATA_SEALING_MARK } from '../../../storage/model/vault.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});
const ring = keyRing([{ id: 'one', key: randomBytes(32) }]);

t.test('nobody seals while a node of a former version is alive, and none can start afterwards', async (t) => {
  const { url, db } = await freshDatabase(t);
  const [node] = await db.query<{ id: string }>(
    'testFormerNode',
    'insert into node (id) values (gen_random_uuid()) returning id',
  );
  const beginning = async (options: { vault?: DataVault; former_node_ms?: number } = {}) => {
    const vault = options.vault ?? new DataVault(ring);
    const sealing = new DataSealing({ db, vault, log }, options.former_node_ms);
    await sealing.start();
    await sealing.stop();
    return vault.sealing;
  };
  t.notOk(await beginning(), 'it is alive');
  await db.query('testOld', "update node set heartbeat_at = now() - interval '50 seconds' where id = $1", [node?.id]);
  t.notOk(await beginning(), 'it may only be slow');
  t.notOk(
    await beginning({ vault: new DataVault(keyRing([])), former_node_ms: 1 }),
    'a node without keys decides nothing',
  );
  t.ok(await beginning({ former_node_ms: 40_000 }));
  t.strictSame(
    await db.query('testMark', 'select compatible from schema_migration where name = $1', [DATA_SEALING_MARK]),
    [{ compatible: false }],
    'a version that does not know it refuses to start',
  );
  await db.query('testAlive', 'update node set heartbeat_at = now() where id = $1', [node?.id]);
  t.ok(await beginning(), 'it was decided');
  await migrate(url);
});
