import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';
import { allOf } from '../../fixture/all-of.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { timer } from '../../fixture/measures.js';
import { warningsTo } from '../../fixture/warnings.js';
import { addSilentNode, commitGate, lostOperation, OwningNode, refuseReleases } from './ownership-fixture.js';

// Each has a database of its own and waits for leases.
t.jobs = 4;

const free = (db: Database, below: number) =>
  db.query('testFree', `update partition set node_id = null, lease_until = '-infinity' where id < $1`, [below]);
const rowsOf = (db: Database, nodeId: string) =>
  db.query<OwnedPartition>('testRows', 'select id, epoch from partition where node_id = $1 order by id', [nodeId]);

for (const [what, count] of [
  ['a claim', 1],
  ['a claim of several that are quiet', 3],
] as const) {
  t.test(`${what} whose answer is lost is found by its rows, and taken again under the next epoch`, async (t) => {
    const { url, db } = await freshDatabase(t);
    const warnings: string[] = [];
    const node = await OwningNode.open(t, url, { log: warningsTo(warnings) });
    await node.ownership.start();
    await node.agrees(db, 64);
    const gate = await commitGate(db, node.id);
    await gate.close();
    await free(db, count);
    await gate.waiting();
    node.link.deaf();
    await gate.open();
    const claimed = Array.from({ length: count }, (_, id) => ({ id, epoch: 2 }));
    t.match((await rowsOf(db, node.id)).slice(0, count), claimed, 'the rows name the node');
    t.notOk(node.ownership.owns(0), 'which does not know');
    node.link.pass();
    await node.agrees(db, 64);
    t.ok((node.running.get(0) ?? 0) > 2);
    t.strictSame(warnings, ['ownership: partitions lost'], 'an outage has lines of its own');
  });
}

t.test('a retake whose answer is lost is asked for again, and its partition never counts as lost', async (t) => {
  const { url, db } = await freshDatabase(t);
  const lost: number[] = [];
  const node = await OwningNode.open(t, url, { lost: (partitions) => lost.push(...partitions) });
  await node.ownership.start();
  const gate = await commitGate(db, node.id);
  await gate.close();
  const retaken = node.ownership.reconcile({ id: 7, epoch: 1 }, []);
  await gate.waiting();
  node.link.deaf();
  await gate.open();
  node.link.pass();
  await retaken;
  await node.agrees(db, 64);
  t.match(node.renewed, [{ id: 7, epoch: 3 }]);
  t.strictSame(lost, []);
  await node.ownership.reconcile({ id: 7, epoch: 1 }, []);
  t.equal(node.renewed.length, 1, 'an older epoch asks for nothing');
});

t.test('what a failed release leaves in the rows is not renewed: it is let go or taken again', async (t) => {
  const { url, db } = await freshDatabase(t);
  const node = await OwningNode.open(t, url);
  await node.ownership.start();
  const allow = await refuseReleases(db);
  await addSilentNode(db);
  await eventually(
    'the node levels down to half',
    async () => node.ownership.partitions.length,
    (size) => size === 32,
  );
  t.equal((await rowsOf(db, node.id)).length, 64, 'no release was stored');
  await allow();
  await node.agrees(db);
  await eventually(
    'it takes its share, and the rest is free or its own',
    async () => (await rowsOf(db, node.id)).length,
    (size) => size === node.running.size,
  );
});

t.test('rows locked by a session that stands still delay their partition alone, and no renewal', async (t) => {
  const { url, db } = await freshDatabase(t);
  const { partition } = await lostOperation(db);
  const client = await db.pool.connect();
  await client.query('begin');
  await client.query('select 1 from operation for update');
  const nodes = [await OwningNode.open(t, url), await OwningNode.open(t, url)] as const;
  await Promise.all(nodes.map((node) => node.ownership.start()));
  const taken = async () => nodes.flatMap((node) => node.ownership.partitions).sort((one, other) => one - other);
  const others = Array.from({ length: 64 }, (_, id) => id).filter((id) => id !== partition);
  t.strictSame(await eventually('the others are taken', taken, ({ length }) => length === 63), others);
  const longer = timer(LIMITS.lease_ms + LIMITS.renew_ms);
  await eventually(
    'longer than a lease, every lease is renewed',
    async () =>
      nodes.every(({ lease, ownership }) => ownership.partitions.every((id) => lease.valid(id))) ||
      t.fail('a lease ran out'),
    () => longer.isOver,
  );
  t.strictSame(await taken(), others);
  await client.query('rollback');
  client.release();
  await eventually('the last one is taken', taken, ({ length }) => length === 64);
  t.match(await db.query('testLost', 'select status from operation'), [{ status: 'queued' }], 'recovered');
});

t.test('a hand-over that ends after its partition was lost does not touch the one that was taken again', async (t) => {
  const { url, db } = await freshDatabase(t);
  const ended = Promise.withResolvers<void>();
  const leaving = new Set<number>();
  const giveUp = (partition: number) => {
    leaving.add(partition);
    return ended.promise;
  };
  const node = await OwningNode.open(t, url, { giveUp });
  await node.ownership.start();
  const before = new Map(node.running);
  const other = await addSilentNode(db);
  await eventually(
    'half of them are being given up',
    async () => leaving.size,
    (size) => size === 32,
  );
  await db.query('testForget', 'delete from node where id = $1', [other]);
  await free(db, 64);
  const again = async () => [...node.running].filter(([id, epoch]) => epoch > (before.get(id) ?? 0)).length;
  await eventually('all were lost and are owned again', again, (size) => size === 64);
  const after = new Map(node.running);
  ended.resolve();
  await node.agrees(db, 64);
  t.strictSame(node.running, after, 'they run on under their epochs');
});

t.test('a node gives up what its threads cannot run, and others take it', async (t) => {
  const { url, db } = await freshDatabase(t);
  let gone = false;
  const node = await OwningNode.open(t, url, { runnable: (partition) => !gone || partition % 2 === 0 });
  await node.ownership.start();
  const other = await OwningNode.open(t, url);
  await other.ownership.start();
  await node.agrees(db, 32);
  await other.agrees(db, 32);
  gone = true;
  const odd = Array.from({ length: 32 }, (_, half) => half * 2 + 1);
  await eventually('the other node has them all', async () => odd.every((id) => other.ownership.owns(id)), Boolean);
  await node.agrees(db);
  t.ok(allOf(node.ownership.partitions, (id) => id % 2 === 0));
  gone = false;
  await other.agrees(db, 32);
  await node.agrees(db, 32);
});

t.test('a node that leaves releases each partition as soon as it can, and others take it meanwhile', async (t) => {
  const { url, db } = await freshDatabase(t);
  const slow = Promise.withResolvers<void>();
  const node = await OwningNode.open(t, url, {
    giveUp: async (partition) => (partition === 9 ? slow.promise : undefined),
  });
  await node.ownership.start();
  const left = node.ownership.leave();
  const other = await OwningNode.open(t, url);
  await other.ownership.start();
  await other.agrees(db, 63);
  t.strictSame(node.ownership.partitions, [9]);
  t.ok(node.lease.valid(9), 'whose lease is renewed');
  slow.resolve();
  await left;
  await other.agrees(db, 64);
});

t.test('a node leaves although the database never answers', async (t) => {
  const { url } = await freshDatabase(t);
  const node = await OwningNode.open(t, url);
  await node.ownership.start();
  node.link.stall('both');
  await node.ownership.leave();
  t.notOk(node.lease.valid(0));
});

t.test(
  'a node whose link stalled for longer than a lease goes on where it was, if nobody took its partitions',
  async (t) => {
    const { url, db } = await freshDatabase(t);
    const node = await OwningNode.open(t, url);
    await node.ownership.start();
    const before = new Map(node.running);
    node.link.stall('both');
    const expired = () => db.query('testLive', 'select 1 from partition where lease_until > now()');
    await eventually('every lease has run out', expired, ({ length }) => length === 0);
    t.notOk(node.lease.valid(0));
    node.link.pass();
    await node.agrees(db, 64);
    t.strictSame(node.running, before, 'under the same epochs');
    await eventually('its lease is valid', async () => node.lease.valid(0), Boolean);
  },
);
