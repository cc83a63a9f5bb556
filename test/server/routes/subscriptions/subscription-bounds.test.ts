import { randomUUID } from 'node:crypto';
import t from 'tap';
import { withRoom } from '../../../../bench/kit/with-room.js';
import { startEdge } from '../../../../server/edge.js';
import type { SubscriptionRules } from '../../../../server/http/subscription-rules.js';
import { DROPS } from '../../../../storage/maintenance/removal.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { longTest } from '../../../fixture/size.js';
import { type EdgeUnderTest, startTestEdge, subscriptionRules } from '../../edge-fixture.js';

const HOOK = 'https://127.0.0.1/hook';
const bounded = (bounds: Partial<SubscriptionRules['bounds']>): SubscriptionRules => {
  const rules = subscriptionRules();
  return { ...rules, bounds: { ...rules.bounds, ...bounds } };
};

const stored = async (db: Database): Promise<number> => {
  const [row] = await db.query<{ count: number }>('testCount', 'select count(*) from subscription');
  return row?.count ?? 0;
};
const counted = async (db: Database, workspaceId: string): Promise<number | undefined> => {
  const [row] = await db.query<{ subscriptions: number }>(
    'testCounted',
    'select subscriptions from subscription_count where workspace_id = $1',
    [workspaceId],
  );
  return row?.subscriptions;
};

const connect = async ({ db, workspaceId }: EdgeUnderTest) => (await insertSimulated(db, workspaceId, randomUUID())).id;

/** As soon as the workspace has room: a hundred at once wait longer than they may for the database of a slow machine. */
const create = ({ call }: Pick<EdgeUnderTest, 'call'>, connection: string, callback_url = HOOK) =>
  withRoom(async () => {
    const reply = await call('POST', `/v1/connections/${connection}/subscriptions`, {
      body: { event_types: ['message_received'], callback_url },
    });
    return { ...reply, body: reply.json };
  });

/** How many were created; every other one was refused as it is to be. */
function created(replies: Awaited<ReturnType<typeof create>>[]): number {
  const refused = replies.filter(({ status }) => status !== 201);
  for (const { status, text } of refused)
    t.strictSame([status, text], [409, '{"code":"too_many_subscriptions"}'], 'refused with the code alone');
  return replies.length - refused.length;
}

longTest(t, 'of 2000 subscriptions of a connection to one address a hundred are stored', async (t) => {
  const edge = await startTestEdge(t);
  const connection = await connect(edge);
  let made = 0;
  for (let i = 0; i < 20; i++)
    made += created(
      await Promise.all(Array.from({ length: 100 }, (_, j) => create(edge, connection, `${HOOK}/${i}/${j}`))),
    );
  t.equal(made, 100);
  t.equal(await stored(edge.db), 100);
  for (const same of ['https://127.0.0.1:443/', 'https://127.1/', 'HTTPS://127.0.0.1./'])
    t.equal((await create(edge, connection, same)).status, 409, `${same} is the same one`);
  t.equal((await create(edge, connection, 'https://127.0.0.1:8443/hook')).status, 201, 'another port is another one');
  t.equal((await create(edge, await connect(edge))).status, 201, 'and so is it of another connection');
});

t.test('subscriptions of a connection, to whatever destinations, are bounded', async (t) => {
  const edge = await startTestEdge(t, { subscriptions: bounded({ ofConnection: 20 }) });
  const connection = await connect(edge);
  const replies = Array.from({ length: 50 }, (_, i) => create(edge, connection, `https://127.0.0.${i + 1}/hook`));
  t.equal(created(await Promise.all(replies)), 20);
});

t.test('rows without a hash count for the connection and the workspace only', async (t) => {
  const edge = await startTestEdge(t, { subscriptions: bounded({ ofConnection: 4, ofDestination: 3 }) });
  const connection = await connect(edge);
  t.equal(created(await Promise.all([create(edge, connection), create(edge, connection)])), 2);
  await edge.db.query('testOld', 'update subscription set destination = null');
  t.equal(created([await create(edge, connection), await create(edge, connection), await create(edge, connection)]), 2);
});

t.test('a workspace is bounded over two nodes, exactly, whoever creates at the same time', async (t) => {
  const rules = bounded({ ofWorkspace: 25 });
  const edge = await startTestEdge(t, { subscriptions: rules });
  const { db, system, workspaceId } = edge;
  const other = await startEdge({
    ...{ host: '127.0.0.1', port: 0, db, system, log: system.log, subscriptions: rules },
    ring: keyRing([{ id: 'k1', key: Buffer.alloc(32) }]),
    callbackPolicy: { allowedNetworks: ['127.0.0.0/8'] },
  });
  t.teardown(() => other.close());
  const elsewhere: Pick<EdgeUnderTest, 'call'> = {
    async call(method, path, { body } = {}) {
      const response = await fetch(`http://127.0.0.1:${other.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${edge.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: {}, text, json: JSON.parse(text) };
    },
  };
  const connections = await Promise.all(Array.from({ length: 10 }, () => connect(edge)));
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const connection = connections[i % connections.length] as string;
      return create(i % 2 === 0 ? edge : elsewhere, connection);
    }),
  );
  t.equal(created(replies), 25);
  t.equal(await counted(db, workspaceId), 25);
  const [first] = connections;
  const of = await db.query('testOf', 'select id from subscription where connection_id = $1', [first]);
  await db.query('testDelete', 'update connection set deleted_at = now() where id = $1', [first]);
  for (const { drop, from } of DROPS)
    for (let after: string | null = from; after !== null; ) {
      const at: string = after;
      after = (await db.transaction((tx) => drop(tx, first as string, at))).last;
    }
  t.equal(await counted(db, workspaceId), 25 - of.length, 'deleted ones count no more');
  const [, second] = connections;
  const again = await Promise.all(Array.from({ length: 10 }, () => create(edge, second as string)));
  t.equal(created(again), of.length);
  const stranger = await insertWorkspace(db);
  t.equal(await counted(db, stranger), undefined, 'another workspace has its own count');
});

longTest(t, 'a creation costs the same with a hundred thousand of the workspace', async (t) => {
  const edge = await startTestEdge(t, { subscriptions: bounded({ ofWorkspace: 1_000_000 }) });
  const { db, workspaceId } = edge;
  const { transaction } = db;
  let most = 0;
  db.transaction = (work) =>
    transaction(async (tx) => {
      const { given, scanned, found } = await rowsRead(tx, 'subscription', () => work(tx));
      most = Math.max(most, scanned + found);
      return given;
    });
  t.teardown(() => {
    db.transaction = transaction;
  });
  /** The most rows of subscriptions that one of forty creations read, all on a connection of their own. */
  const mostRead = async (): Promise<number> => {
    const connection = await connect(edge);
    most = 0;
    for (let i = 0; i < 40; i++) t.equal((await create(edge, connection)).status, 201);
    return most;
  };
  const few = await mostRead();
  const connections = await Promise.all(Array.from({ length: 100 }, () => connect(edge)));
  await db.query(
    'testMany',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, destination)
     select gen_random_uuid(), $1, c.id, 0, '{message_received}', 'https://127.0.0.1/', true, '', sha256(i::text::bytea)
     from unnest($2::uuid[]) c(id) cross join generate_series(1, 1000) i`,
    [workspaceId, connections],
  );
  t.equal(await counted(db, workspaceId), 100_000 + 40);
  const many = await mostRead();
  t.comment(`${few} rows, and ${many} with a hundred thousand`);
  t.ok(few > 0);
  t.ok(many <= 2 * few, `${few} rows, then ${many}`);
});
