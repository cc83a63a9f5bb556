import { randomUUID } from 'node:crypto';
import t from 'tap';
import { IDLE } from '../../../bench/scenarios/consoles/hour.js';
import { listNodes } from '../../../storage/overview/nodes.js';
import { type NodeMeasures, storeStep } from '../../../storage/overview/steps.js';
import { together } from '../../../storage/overview/tally.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { allOf } from '../../fixture/all-of.js';
import { freshDatabase } from '../../fixture/database.js';

const LEASE_ms = 60_000;
const LATE_ms = 10_000;
const GONE_ms = 20_000;

t.test('nodes are listed by their heartbeats, with the partitions whose lease they hold', async (t) => {
  const { db } = await freshDatabase(t);
  t.strictSame(await listNodes(db, LATE_ms, GONE_ms), []);
  const [alive, late, gone] = [randomUUID(), randomUUID(), randomUUID()];
  for (const node of [alive, late, gone]) await renewLeases(db, node, LEASE_ms);
  const claimed = await db.transaction((tx) => claimPartitions(tx, alive, 2, LEASE_ms));
  const lost = await db.transaction((tx) => claimPartitions(tx, gone, 1, LEASE_ms));
  const age = (node: string, seconds: number) =>
    db.query('testAge', `update node set heartbeat_at = now() - $2 * interval '1 second' where id = $1`, [
      node,
      seconds,
    ]);
  await age(late, 15);
  await age(gone, 30);
  await db.query('testLapse', `update partition set lease_until = now() - interval '1 second' where id = $1`, [
    lost[0]?.id,
  ]);

  const nodes = new Map((await listNodes(db, LATE_ms, GONE_ms)).map((node) => [node.id, node]));
  t.strictSame(
    [alive, late, gone].map((id) => nodes.get(id)?.state),
    ['alive', 'late', 'gone'],
  );
  const held = nodes.get(alive)?.partitions ?? [];
  t.strictSame(
    held.map(({ id, epoch }) => ({ id, epoch })),
    claimed.map(({ id, epoch }) => ({ id, epoch })),
  );
  t.ok(allOf(held, ({ lease_ms }) => lease_ms > 0 && lease_ms <= LEASE_ms));
  t.strictSame(nodes.get(gone)?.partitions, [], 'a lease that has run out is held by nobody');
});

t.test('a node shows what it told with its newest step, for a minute', async (t) => {
  const { db } = await freshDatabase(t);
  const [told, silent] = [randomUUID(), randomUUID()];
  for (const node of [told, silent]) await renewLeases(db, node, LEASE_ms);
  const tell = (nodeId: string, ago_s: number, measures: Partial<NodeMeasures>) =>
    storeStep(db, {
      ...{ nodeId, step: new Date(Date.now() - ago_s * 1000), workspaces: [], together: together([]) },
      measures: { ...IDLE, ...measures },
    });
  await tell(told, 30, { mailboxes: 1 });
  await tell(told, 20, { mailboxes: 2, batch_items: 12.5, draining: true });
  await tell(silent, 300, { mailboxes: 3 });
  const nodes = new Map((await listNodes(db, LATE_ms, GONE_ms)).map((node) => [node.id, node]));
  t.strictSame(nodes.get(told)?.measures, { ...IDLE, mailboxes: 2, batch_items: 12.5, draining: true });
  t.equal(nodes.get(silent)?.measures, null);
});
