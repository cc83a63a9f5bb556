import t from 'tap';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { addSilentNode, commitGate, OwningNode, refuseReleases } from './ownership-fixture.js';

const free = (db: Database, below: number) =>
  db.query('testFree', `update partition set node_id = null, lease_until = '-infinity' where id < $1`, [below]);
const rowsOf = (db: Database, nodeId: string) =>
  db.query<OwnedPartition>('testRows', 'select id, epoch from partition where node_id = $1 order by id', [nodeId]);

t.test('a claim whose answer is lost is found by its row, and taken again under the next epoch', async (t) => {
  const { url, db } = await freshDatabase(t);
  const node = await OwningNode.open(t, url);
  await node.ownership.start();
  await node.agrees(db, 64);
  const gate = await commitGate(db, node.id);
  await gate.close();
  await free(db, 1);
  await gate.waiting();
  node.link.deaf();
  await gate.open();
  t.match((await rowsOf(db, node.id))[0], { id: 0, epoch: 2 }, 'the row names the node');
  t.notOk(node.ownership.owns(0), 'which does not know');
  node.link.pass();
  await node.agrees(db, 64);
  t.ok((node.running.get(0) ?? 0) > 2);
});

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
