import { createHmac, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { setHold } from '../../../storage/deliveries/subscription-hold.js';
import { countDeliveries, lockSubscription } from '../../../storage/deliveries/subscriptions.js';
import {
  insertWorkspaceSubscription,
  roomForWorkspaceSubscription,
  settle,
  setWorkspaceActive,
  unsettle,
} from '../../../storage/deliveries/workspace-subscriptions.js';
import { LIMITS } from '../../../storage/limits.js';
import type { Database } from '../../../storage/postgres/database.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { type Answer, receiver } from '../../fixture/https-receiver.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { insertConnections } from '../../server/rows.js';
import { type Connection, DeliveryHost, record, ring, SECRET } from './delivery-host.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const TAKEN: Answer = (_request, response) => response.writeHead(204).end();
const MANY = { ofConnection: 100, ofWorkspace: 1_000, ofDestination: 100 };
const never = () => false;

async function subscribe(db: Database, workspaceId: string, url = 'https://127.0.0.1/hook'): Promise<string> {
  const id = uuidv7();
  const secretSealed = ring.seal(SECRET, `subscription/${id}/secret`);
  await db.transaction(async (tx) => {
    t.ok(await roomForWorkspaceSubscription(tx, workspaceId, null, MANY));
    await insertWorkspaceSubscription(tx, {
      ...{ id, workspaceId, eventTypes: ['message_received'], callbackUrl: url, secretSealed },
      ...{ destination: null, unproven: false },
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
}

const membersOf = (db: Database, id: string): Promise<Member[]> =>
  db.query('testMembers', 'select id, connection_id, active from subscription where parent_id = $1', [id]);

const jobsOf = (db: Database): Promise<{ id: string }[]> =>
  db.query('testJobs', `select id from pgboss.job_common where name like 'delivery-%'`);

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
  const id = await subscribe(db, workspaceId, hook.url);
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

t.test('what stops with the commit of the parent is not sent, though no member has followed', async (t) => {
  const { db, workspaceId, all, hook, sent } = await setUp(t, 3);
  const id = await subscribe(db, workspaceId, hook.url);
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
  t.ok((await membersOf(db, id)).every((m) => m.active));
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
  const active = async () => (await membersOf(db, id)).find((m) => m.connection_id === first.id)?.active;
  let sets = 0;
  const set = (sql: string) => db.query(`testSet ${sets++}`, `update connection set ${sql} where id = $1`, [first.id]);
  await db.query('testStop', 'update subscription set active = false where connection_id = $1', [first.id]);
  await set(`health = 'needs_login', cancel_through = '00000000-0000-0000-0000-000000000000'`);
  await setActive(db, id, true);
  await settle(db, id, never);
  t.equal(await active(), false, 'a change of the subscription does not bring it back');
  await set(`health = 'ready'`);
  t.equal(await active(), false, 'deliveries are still being canceled');
  await set('cancel_through = null');
  t.equal(await active(), true);
  await set(`health = 'needs_login'`);
  await settle(db, id, never);
  t.equal(await active(), true, 'without a disconnect it goes on, and is told of the health');
});

t.test('a slice reads about as many rows as it takes, whatever the workspace has', async (t) => {
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
  'settling goes on where it was left, beside recorders and attempts, and loses and repeats nothing',
  async (t) => {
    const { db, workspaceId, hook, host, all, sent } = await setUp(t, 8);
    const id = await subscribe(db, workspaceId, hook.url);
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
