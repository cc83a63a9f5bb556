import { createHmac, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { clearSession } from '../../../storage/connections/connection-changes.js';
import { stopWork } from '../../../storage/connections/stopping.js';
import { tell } from '../../../storage/deliveries/announcements.js';
import { changeSubscription } from '../../../storage/deliveries/subscription-change.js';
import { setHold } from '../../../storage/deliveries/subscription-hold.js';
import { countDeliveries, lockSubscription } from '../../../storage/deliveries/subscriptions.js';
import {
  insertWorkspaceSubscription,
  proveWorkspaceSubscription,
  roomForWorkspaceSubscription,
  settle,
  setWorkspaceActive,
  unsettle,
} from '../../../storage/deliveries/workspace-subscriptions.js';
import { LIMITS } from '../../../storage/limits.js';
import { createLogger } from '../../../storage/log/log.js';
import { settling } from '../../../storage/maintenance/subscription-propagation.js';
import type { EventType } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { allOf } from '../../fixture/all-of.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { type Answer, receiver } from '../../fixture/https-receiver.js';
import { holding, lockWaits } from '../../fixture/locks.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { longTest } from '../../fixture/size.js';
import { insertConnections } from '../../server/rows.js';
import { type Connection, DeliveryHost, record, ring, SECRET } from './delivery-host.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const TAKEN: Answer = (_request, response) => response.writeHead(204).end();
const MANY = { ofConnection: 100, ofWorkspace: 1_000, ofDestination: 100 };
const never = () => false;

interface Wanted {
  url?: string;
  eventTypes?: EventType[];
  unproven?: boolean;
}

async function subscribe(db: Database, workspaceId: string, wanted: Wanted = {}): Promise<string> {
  const { url = 'https://127.0.0.1/hook', eventTypes = ['message_received'], unproven = false } = wanted;
  const id = uuidv7();
  const secretSealed = ring.seal(SECRET, `subscription/${id}/secret`);
  await db.transaction(async (tx) => {
    t.ok(await roomForWorkspaceSubscription(tx, workspaceId, null, MANY));
    await insertWorkspaceSubscription(tx, {
      ...{ id, workspaceId, eventTypes, callbackUrl: url, secretSealed },
      ...{ destination: null, unproven },
    });
  });
  return id;
}

const connect = async (db: Database, workspaceId: string): Promise<Connection> => ({
  workspaceId,
  ...(await insertSimulated(db, workspaceId, randomUUID())),
});

interface Member {
  id: string;
  connection_id: string;
  active: boolean;
  awaits_ready: boolean;
  event_types: string[];
}

const membersOf = (db: Database, id: string): Promise<Member[]> =>
  db.query(
    'testMembers',
    'select id, connection_id, active, awaits_ready, event_types from subscription where parent_id = $1',
    [id],
  );

const jobsOf = (db: Database): Promise<{ id: string }[]> =>
  db.query('testJobs', `select id from pgboss.job_common where name like 'delivery-%'`);

async function change(db: Database, workspaceId: string, id: string, eventTypes: EventType[], callbackUrl: string) {
  const parent = { ...parentOf(id), workspace_id: workspaceId };
  const proof = { given: false, wanted: false };
  await db.transaction((tx) =>
    changeSubscription(tx, parent, { eventTypes, callbackUrl, destination: null, proof, ofDestination: 100 }),
  );
}

const parentOf = (id: string) => ({ id, connection_id: null, partition: null });

async function setActive(db: Database, id: string, active: boolean): Promise<void> {
  await db.transaction(async (tx) => {
    await lockSubscription(tx, parentOf(id));
    await setWorkspaceActive(tx, id, active);
  });
}

async function setUp(t: Test, connections: number, answer: Answer = TAKEN) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const all: Connection[] = [];
  for (let i = 0; i < connections; i++) all.push(await connect(db, workspaceId));
  const hook = await receiver(t, onLoopback, answer);
  const host = await DeliveryHost.start(t, db, { ca });
  const sent = async () => {
    for (const { partition } of all) await host.fetch(partition);
    await host.quiet();
  };
  return { db, workspaceId, all, hook, host, sent };
}

t.test('events of each connection, those that come later too, go to one address under one secret', async (t) => {
  const { db, workspaceId, all, hook, sent } = await setUp(t, 3);
  const elsewhere = await connect(db, await insertWorkspace(db));
  const id = await subscribe(db, workspaceId, { url: hook.url });
  t.equal(await settle(db, id, never), true);
  all.push(await connect(db, workspaceId));
  t.strictSame((await membersOf(db, id)).map((m) => m.connection_id).sort(), all.map((c) => c.id).sort());
  for (const connection of [...all, elsewhere]) await record(db, connection, 5);
  await sent();
  t.equal(hook.received.length, 20, 'each once, and none of another workspace');
  const by = new Map<string, string[]>();
  for (const { headers, body } of hook.received) {
    const signed = createHmac('sha256', SECRET).update(`${headers['x-cs-timestamp']}.`).update(body);
    t.equal(headers['x-cs-signature'], `v1=${signed.digest('hex')}`);
    const event = JSON.parse(body.toString()) as { id: string; connection_id: string };
    by.set(event.connection_id, [...(by.get(event.connection_id) ?? []), event.id]);
  }
  t.equal(by.size, 4);
  t.match(await countDeliveries(db, parentOf(id)), { delivered: 20, pending: 0 });
});

t.test('connections that are stored beside a new subscription have one member each', async (t) => {
  const { db, workspaceId } = await setUp(t, 5);
  const made: Promise<unknown>[] = [];
  const ids: Promise<string>[] = [];
  for (let i = 0; i < 60; i++) {
    made.push(connect(db, workspaceId));
    if (i % 20 === 10) ids.push(subscribe(db, workspaceId));
  }
  await Promise.all(made);
  for (const id of await Promise.all(ids)) {
    t.equal(await settle(db, id, never), true);
    const members = await membersOf(db, id);
    t.equal(members.length, 65);
    t.equal(new Set(members.map((m) => m.connection_id)).size, 65);
  }
});

t.test('a connection that is being stored while a subscription changes follows the change', async (t) => {
  const { db, workspaceId } = await setUp(t, 1);
  const changes: ((id: string) => Promise<unknown>)[] = [
    (id) => change(db, workspaceId, id, ['message_sent'], 'https://127.0.0.1/moved'),
    (id) => setActive(db, id, false),
    (id) => db.transaction((tx) => proveWorkspaceSubscription(tx, id)),
  ];
  for (const [i, make] of changes.entries()) {
    const id = await subscribe(db, workspaceId, { unproven: i === 2 });
    await settle(db, id, never);
    const commit = await holding(db, (tx) => insertSimulated(tx, workspaceId, randomUUID()));
    let isMade = false;
    const making = make(id).then(async () => {
      isMade = true;
      await settle(db, id, never);
    });
    await eventually(
      'it is made, or waits',
      async () => isMade || (await lockWaits(db)).length > 0,
      (so) => so,
    );
    if (isMade) await making;
    await commit();
    await making;
    const [parent] = await db.query<Member>(
      'testParent',
      'select active, event_types from subscription where id = $1',
      [id],
    );
    const members = await membersOf(db, id);
    t.equal(members.length, 2 + i);
    for (const member of members) t.match(member, { ...parent, awaits_ready: false });
  }
});

t.test('what waits goes to the new address of the subscription', async (t) => {
  const { db, workspaceId, all, hook, sent } = await setUp(t, 2);
  const id = await subscribe(db, workspaceId);
  await settle(db, id, never);
  await db.transaction((tx) => setHold(tx, parentOf(id), true));
  for (const connection of all) await record(db, connection, 2);
  await change(db, workspaceId, id, ['message_received'], hook.url);
  await db.transaction((tx) => setHold(tx, parentOf(id), false));
  t.equal(await settle(db, id, never), true);
  await sent();
  t.equal(hook.received.length, 4);
});

t.test('what stops with the commit of the parent is not sent, though no member has followed', async (t) => {
  const { db, workspaceId, all, hook, sent } = await setUp(t, 3);
  const id = await subscribe(db, workspaceId, { url: hook.url });
  await settle(db, id, never);
  for (const connection of all) await record(db, connection, 2);
  await db.transaction((tx) => setHold(tx, parentOf(id), true));
  await sent();
  t.equal(hook.received.length, 0, 'on hold');
  t.strictSame(await jobsOf(db), [], 'and it is not fetched again and again');
  await db.transaction((tx) => setHold(tx, parentOf(id), false));
  const woken: string[] = [];
  t.equal(await settle(db, id, never, (connections) => woken.push(...connections)), true);
  t.strictSame(woken.sort(), all.map((c) => c.id).sort());
  await sent();
  t.equal(hook.received.length, 6, 'released');

  for (const connection of all) await record(db, connection, 2);
  await setActive(db, id, false);
  t.ok(allOf(await membersOf(db, id), (m) => m.active));
  await sent();
  t.equal(hook.received.length, 6, 'inactive');
  for (const connection of all) await record(db, connection, 1);
  t.equal(await settle(db, id, never), true);
  t.match(await countDeliveries(db, parentOf(id)), { delivered: 6, pending: 0, canceled: 9 });
  for (const connection of all) await record(db, connection, 1);
  await setActive(db, id, true);
  await settle(db, id, never);
  for (const connection of all) await record(db, connection, 1);
  await sent();
  t.equal(hook.received.length, 9, 'active again, without what came meanwhile');
});

t.test('a disconnect ends it for the connection, and being ready brings it back once all is canceled', async (t) => {
  const { db, workspaceId, all } = await setUp(t, 2);
  const id = await subscribe(db, workspaceId);
  await settle(db, id, never);
  const [first] = all as [Connection, Connection];
  const member = async () => (await membersOf(db, id)).find((m) => m.connection_id === first.id);
  let sets = 0;
  const set = (sql: string) => db.query(`testSet ${sets++}`, `update connection set ${sql} where id = $1`, [first.id]);
  await db.query('testStop', 'update subscription set active = false where connection_id = $1', [first.id]);
  await set(`health = 'needs_login', cancel_through = '00000000-0000-0000-0000-000000000000'`);
  await setActive(db, id, true);
  await settle(db, id, never);
  t.match(await member(), { active: false }, 'a change of the subscription does not bring it back');
  await set(`health = 'ready'`);
  t.match(await member(), { active: false }, 'deliveries are still being canceled');
  await set(`health = 'needs_login'`);
  await set('cancel_through = null');
  t.match(await member(), { active: true, awaits_ready: true }, 'what the service tells is told');
  await setActive(db, id, true);
  await settle(db, id, never);
  t.match(await member(), { active: true, awaits_ready: true });
  await set(`health = 'ready'`);
  t.match(await member(), { active: true, awaits_ready: false });
  await set(`health = 'needs_login'`);
  await settle(db, id, never);
  t.match(await member(), { active: true, awaits_ready: false }, 'without a disconnect it goes on');
  await setActive(db, id, false);
  await settle(db, id, never);
  await setActive(db, id, true);
  await settle(db, id, never);
  t.match(await member(), { active: true, awaits_ready: true }, 'what begins again awaits that it is ready');
});

t.test('of a connection that is not ready what the service tells is sent, and nothing of the provider', async (t) => {
  const { db, workspaceId, all, hook, sent } = await setUp(t, 1);
  const [ready] = all as [Connection];
  const set = (id: string, sql: string) =>
    db.query(`testSet ${sql}`, `update connection set ${sql} where id = $1`, [id]);
  const eventTypes: EventType[] = ['message_received', 'connection.ready', 'operation.waiting_user'];
  const before = await connect(db, workspaceId);
  await set(before.id, `health = 'needs_login'`);
  const id = await subscribe(db, workspaceId, { url: hook.url, eventTypes });
  await settle(db, id, never);
  t.match(await tell(db, 100), { announcements: 1, events: [{ connection_id: before.id, deliveries: 0 }] });
  const late = await connect(db, workspaceId);
  all.push(before, late);
  const toldAs = (data: object) => ({ announcements: 1, events: [{ connection_id: late.id, deliveries: 1 }], ...data });
  t.match(await tell(db, 100), toldAs({}), 'a simulated connection is ready at once');
  await sent();
  t.match(JSON.parse(hook.received[0]!.body.toString()), {
    type: 'connection.ready',
    data: { health: 'ready', previous_health: null, reason: null, state_revision: 0 },
  });

  const stopped = { id: late.id, partition: late.partition, reason: 'connection_disconnected' as const };
  await db.transaction(async (tx) => {
    await clearSession(tx, late.id);
    await stopWork(tx, stopped);
  });
  await tell(db, 100);
  for (const connection of all) {
    await record(db, connection, 1);
    const waits = { providerEventId: randomUUID(), type: 'operation.waiting_user' as const, data: {} };
    await recorded(db, workspaceId, [{ connectionId: connection.id, ...waits }]);
  }
  await sent();
  const types = hook.received.map(({ body }) => JSON.parse(body.toString()) as { type: string; connection_id: string });
  const of = ({ id: connection }: Connection) =>
    types.flatMap(({ type, connection_id }) => (connection_id === connection ? type : []));
  t.strictSame(of(ready).sort(), ['message_received', 'operation.waiting_user']);
  t.strictSame(of(before), ['operation.waiting_user']);
  t.strictSame(of(late), ['connection.ready', 'operation.waiting_user']);
});

longTest(t, 'a slice reads about as many rows as it takes, whatever the workspace has', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, 20_000);
  const id = await subscribe(db, workspaceId);
  const { transaction } = db;
  const read = { connection: 0, subscription: 0 };
  let slices = 0;
  for (const table of ['connection', 'subscription'] as const) {
    await unsettle(db, id);
    db.transaction = (work) =>
      transaction(async (tx) => {
        const { given, scanned, found } = await rowsRead(tx, table, () => work(tx));
        read[table] = Math.max(read[table], scanned + found);
        slices++;
        return given;
      });
    t.equal(await settle(db, id, never), true);
    db.transaction = transaction;
  }
  t.equal((await membersOf(db, id)).length, 20_000);
  t.ok(slices <= 2 * (20_000 / LIMITS.settle_connections + 1), `${slices} slices`);
  t.ok(read.connection <= 3 * LIMITS.settle_connections, `${read.connection} connections`);
  t.ok(read.subscription <= 10 * LIMITS.settle_connections, `${read.subscription} members`);
});

t.test(
  'a member that another transaction holds is waited for once, and the others are not gone through again',
  async (t) => {
    const { db } = await freshDatabase(t);
    const workspaceId = await insertWorkspace(db);
    await insertConnections(db, workspaceId, 2 * LIMITS.settle_connections);
    const id = await subscribe(db, workspaceId);
    await settle(db, id, never);
    await setActive(db, id, false);
    const commit = await holding(db, (tx) =>
      tx.query(
        'testHold',
        `select from subscription where id = (
         select m.id from subscription m join connection c on c.id = m.connection_id where m.parent_id = $1
         order by c.created_at, c.id offset $2 limit 1) for update`,
        [id, LIMITS.settle_connections + LIMITS.settle_connections / 2],
      ),
    );
    let slices = 0;
    const settled = settle(db, id, () => slices++ > 50);
    await eventually(
      'it waits for the member',
      () => lockWaits(db),
      ({ length }) => length > 0,
    );
    await commit();
    t.equal(await settled, true);
    t.ok(slices <= 5, `${slices} slices`);
    t.ok(allOf(await membersOf(db, id), ({ active }) => !active));
  },
);

t.test('a subscription that cannot be settled holds up no other', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, 2);
  const [stuck, other] = [await subscribe(db, workspaceId), await subscribe(db, workspaceId)];
  await db.query('testTrap', `alter table subscription add constraint trap check (parent_id <> '${stuck}')`);
  const background = settling({ db, log: createLogger({ level: 'silent', format: 'json' }, {}) });
  background.start();
  t.teardown(() => background.stop());
  const members = (id: string) =>
    eventually(
      'members',
      () => membersOf(db, id),
      ({ length }) => length === 2,
    );
  await members(other);
  t.strictSame(await membersOf(db, stuck), []);
  await db.query('testFree', 'alter table subscription drop constraint trap');
  await members(stuck);
});

t.test(
  'settling goes on where it was left, beside recorders and attempts, and loses and repeats nothing',
  async (t) => {
    const { db, workspaceId, hook, host, all, sent } = await setUp(t, 8);
    const id = await subscribe(db, workspaceId, { url: hook.url });
    await settle(db, id, never);
    await insertConnections(db, workspaceId, 2 * LIMITS.settle_connections);
    let recorded = 0;
    let recording = true;
    const recorders = Promise.all(
      [0, 1, 2].map(async (at) => {
        for (let i = 0; i < 30; i++) {
          const some = [all[(at + i) % 8]!, all[(at + 2 * i + 3) % 8]!];
          for (const connection of some) await record(db, connection, 1);
          recorded += some.length;
        }
      }),
    ).finally(() => {
      recording = false;
    });
    let left = 0;
    for (let onHold = true; recording; onHold = !onHold) {
      await db.transaction((tx) => setHold(tx, parentOf(id), onHold));
      let slices = 0;
      if (!(await settle(db, id, () => slices++ > 0))) left++;
      for (const { partition } of all) await host.fetch(partition);
    }
    await recorders;
    t.ok(left > 0, 'some were left in the middle');
    await db.transaction((tx) => setHold(tx, parentOf(id), false));
    for (let settled = false; !settled; ) settled = await settle(db, id, never);
    t.equal((await membersOf(db, id)).length, all.length + 2 * LIMITS.settle_connections);
    await host.quiet();
    await sent();
    t.equal(hook.received.length, recorded);
    t.match(await countDeliveries(db, parentOf(id)), { delivered: recorded, pending: 0, sending: 0, canceled: 0 });
  },
);
