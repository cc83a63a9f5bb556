import t from 'tap';
import { LIMITS } from '../../../../storage/limits.js';
import type { RetentionClass } from '../../../../storage/maintenance/retention/classes.js';
import { takeTurn } from '../../../../storage/maintenance/retention/turn.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { freshDatabase } from '../../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { insertSubscription, letTurn, onlyDays } from './fixture.js';

const ROWS = 200_000;

/** Ids in order of time, from the year 2023 on. */
const ID = `(lpad(to_hex(1700000000000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`;
const ALL = `generate_series(1, ${ROWS}::bigint) n`;

/** So many rows of each class, all of them old; one gap and one delivery in a hundred has not ended. Nothing is analysed. */
async function fill(db: Database): Promise<void> {
  const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  const subscriptionId = await insertSubscription(db, id);
  for (const [name, text, of] of [
    [
      'Events',
      `insert into event (id, workspace_id, connection_id, provider_event_id, type, data)
       select ${ID}, c.workspace_id, c.id, n, 'message_received', '{}' from connection c, ${ALL} where c.id = $1`,
      id,
    ],
    ['Positions', `insert into event_position (connection_id, rank, event_id) select $1, n, ${ID} from ${ALL}`, id],
    [
      'Deliveries',
      `insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, rank)
       select ${ID}, s.workspace_id, s.id, ${ID}, s.partition, case when n % 100 = 0 then 'pending' else 'failed' end, n
       from subscription s, ${ALL} where s.id = $1`,
      subscriptionId,
    ],
    [
      'Attempts',
      `insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at)
       select ${ID}, d.id, 1, 'failed', now() from delivery d, ${ALL} where d.subscription_id = $1 and d.rank = n`,
      subscriptionId,
    ],
    [
      'Operations',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input,
         error_code, updated_at)
       select ${ID}, c.workspace_id, c.id, c.partition, 'social.profile.get', case when n % 100 = 0 then 'queued' else 'failed' end, n, '\\x00', '{}',
         case when n % 100 <> 0 then 'upstream_error' end, timestamptz '2024-01-01' from connection c, ${ALL} where c.id = $1`,
      id,
    ],
    [
      'Tombstones',
      `insert into idempotency_tombstone (workspace_id, key_hash, created_at)
       select workspace_id, sha256(n::text::bytea), timestamptz '2024-01-01' from connection c, ${ALL} where c.id = $1`,
      id,
    ],
  ] as const) {
    await db.query(`fill${name}`, text, [of]);
  }
}

t.test(`a slice of ${ROWS} rows reads by index, and no more than a slice`, async (t) => {
  const { db } = await freshDatabase(t);
  await fill(db);
  const classes: [RetentionClass, string[]][] = [
    ['attempts', ['delivery_attempt', 'delivery']],
    ['deliveries', ['delivery', 'delivery_attempt']],
    ['events', ['event', 'event_position', 'delivery']],
    ['operations', ['operation', 'idempotency_tombstone']],
    ['tombstones', ['idempotency_tombstone']],
  ];
  for (const [name, tables] of classes) {
    for (let n = 0; n < 10 * tables.length; n++) {
      const table = tables[n % tables.length] ?? '';
      await db.query('testTurn', 'update retention_turn set class = $1, after = null where class is distinct from $1', [
        name,
      ]);
      await letTurn(db);
      const { given, scanned, found } = await db.transaction((tx) =>
        rowsRead(tx, table, () => takeTurn({ ...db, transaction: (work) => work(tx) }, onlyDays({ [name]: 1 }))),
      );
      t.comment(`${name}: ${given?.erased} erased, ${scanned} of ${table} scanned, ${found} found`);
      t.equal(scanned, 0, `${name} by index`);
      t.ok(found <= 4 * LIMITS.retention_rows, `${name}: ${found} rows of ${table} found`);
    }
  }
});
