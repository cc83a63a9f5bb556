import { createHash, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { clearSession, lockIdleConnection } from '../../../storage/connections/connection-changes.js';
import { stopRest, stopSubscription, stopWork } from '../../../storage/connections/stopping.js';
import { tell } from '../../../storage/deliveries/announcements.js';
import { lockSubscription } from '../../../storage/deliveries/subscriptions.js';
import { LIMITS } from '../../../storage/limits.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import type { Database, Transaction } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { holding, lockAwaited } from '../../fixture/locks.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const never = () => false;
const MANY = LIMITS.removal_rows;

/** A subscription of the workspace that selects these types, and a connection with a member of it. */
async function fixture(t: Test, types: string[]) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const parent = randomUUID();
  await db.query(
    'testParent',
    `insert into subscription (id, workspace_id, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, 'https://example.com/', true, '')`,
    [parent, workspaceId, types],
  );
  const { id, partition } = await insertSimulated(db, workspaceId, 'ada');
  const connection = { id, partition, reason: 'connection_disconnected' as const };
  return {
    ...{ db, workspaceId, parent, connection },
    async submit(count: number) {
      const operations = Array.from({ length: count }, () => {
        const operationId = uuidv7();
        const hash = createHash('sha256').update(operationId).digest();
        const given = { capability: 'social.identity.get', input: '{}', inputSealed: null, acceptedAt: new Date() };
        const keys = { idempotencyKey: operationId, keyHash: hash, fingerprint: hash };
        return { id: operationId, workspaceId, connectionId: id, partition, ...keys, ...given };
      });
      await submitOperations(db, operations, []);
    },
    receive: (count: number) =>
      recorded(
        db,
        workspaceId,
        Array.from({ length: count }, () => ({
          ...{ connectionId: id, providerEventId: randomUUID(), type: 'message_received' as const, data: {} },
        })),
      ),
    /** Gives whether all is canceled. */
    disconnect: () => db.transaction((tx) => disconnectIn(tx, connection)),
    told: () => toldTo(db, parent),
  };
}

async function disconnectIn(tx: Transaction, connection: Parameters<typeof stopWork>[1]): Promise<boolean> {
  await lockIdleConnection(tx, connection.id);
  await clearSession(tx, connection.id);
  return stopWork(tx, connection);
}

const toldTo = (db: Database, parent: string) =>
  db.query<{ type: string; status: string; n: number }>(
    'testTold',
    `select e.type, d.status, count(*)::int as n from delivery d join event e on e.id = d.event_id where d.parent_id = $1
     group by 1, 2 order by 1, 2`,
    [parent],
  );

const BOTH = ['operation.finished', 'connection.needs_login'];
const waits = (type: string, n: number) => ({ type, status: 'pending', n });

t.test(
  'a subscription of the workspace is told of the disconnect, and of each operation that it cancels',
  async (t) => {
    const { db, submit, disconnect, told } = await fixture(t, BOTH);
    await submit(3);
    t.equal(await disconnect(), true);
    await tell(db, 100);
    const all = [waits('connection.needs_login', 1), waits('operation.finished', 3)];
    t.strictSame(await told(), all);
    t.equal(await disconnect(), true);
    await tell(db, 100);
    t.strictSame(await told(), all, 'a disconnect that is repeated takes nothing of it back');
  },
);

t.test('so it is where the disconnect has many operations to cancel', async (t) => {
  const { db, connection, submit, disconnect, told } = await fixture(t, BOTH);
  await submit(MANY);
  t.equal(await disconnect(), false, 'the rest follows');
  await tell(db, 2 * MANY);
  t.equal(await stopRest(db, connection, never), true);
  await tell(db, 2 * MANY);
  t.strictSame(await told(), [waits('connection.needs_login', 1), waits('operation.finished', MANY)]);
});

t.test('and where it has many deliveries to cancel, which stay canceled', async (t) => {
  const { db, connection, submit, receive, disconnect, told } = await fixture(t, [...BOTH, 'message_received']);
  await receive(MANY + 1);
  await submit(2);
  t.equal(await disconnect(), false);
  t.match(await tell(db, 100), { announcements: 0 }, 'nobody would hear of it yet');
  t.match(await tell(db, 100, connection.id), { announcements: 0 });
  t.equal(await stopRest(db, connection, never), true);
  await tell(db, 100);
  t.strictSame(await told(), [
    waits('connection.needs_login', 1),
    { type: 'message_received', status: 'canceled', n: MANY + 1 },
    waits('operation.finished', 2),
  ]);
});

t.test('subscriptions of the connection itself stay disabled, and are told nothing', async (t) => {
  const { db, workspaceId, connection, submit, disconnect } = await fixture(t, BOTH);
  const own = randomUUID();
  await db.query(
    'testOwn',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, $5, 'https://example.com/', true, '')`,
    [own, workspaceId, connection.id, connection.partition, BOTH],
  );
  await submit(1);
  await disconnect();
  await tell(db, 100);
  t.strictSame(
    await db.query('testOwnTold', 'select active, delivery_count::int as told from subscription where id = $1', [own]),
    [{ active: false, told: 0 }],
  );
});

t.test("a provider's event that is recorded beside the disconnect is sent to nobody", async (t) => {
  const { db, connection, receive, told } = await fixture(t, [...BOTH, 'message_received']);
  const commit = await holding(db, (tx) => disconnectIn(tx, connection));
  const recorded = receive(1);
  await lockAwaited(db);
  await commit();
  t.match(await recorded, [{ deliveries: 0 }]);
  await tell(db, 100);
  t.strictSame(await told(), [waits('connection.needs_login', 1)]);
});

t.test('a stop that comes while the rest of another is forgotten keeps its mark', async (t) => {
  const { db, workspaceId, connection, receive, disconnect, told } = await fixture(t, ['message_received']);
  const own = randomUUID();
  await db.query(
    'testOwn',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://example.com/', true, '')`,
    [own, workspaceId, connection.id, connection.partition],
  );
  await receive(MANY + 1);
  const stopped = await db.transaction(async (tx) => {
    await lockSubscription(tx, { id: own, connection_id: connection.id });
    return stopSubscription(tx, { id: own, partition: connection.partition, connection_id: connection.id });
  });
  t.equal(stopped, false);
  // Without any operation both marks are the same.
  let disconnected = false;
  const beside: Database = {
    ...db,
    transaction: async (work) => {
      const [left] = await db.query<{ n: number }>(
        'testLeft',
        `select count(*)::int as n from delivery where subscription_id = $1 and status = 'pending'`,
        [own],
      );
      if (left?.n === 0 && !disconnected) {
        disconnected = true;
        await disconnect();
      }
      return db.transaction(work);
    },
  };
  await stopRest(beside, connection, never);
  t.equal(disconnected, true);
  const open = (await told()).some(({ status }) => status === 'pending');
  const [mark] = await db.query<{ stopping: boolean }>(
    'testMark',
    'select cancel_through is not null as stopping from connection where id = $1',
    [connection.id],
  );
  t.equal(mark?.stopping, open, 'what is left to cancel is marked');
  while (!(await stopRest(db, connection, never)));
  t.strictSame(await told(), [{ type: 'message_received', status: 'canceled', n: MANY + 1 }]);
});
