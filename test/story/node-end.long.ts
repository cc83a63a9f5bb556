import t from 'tap';
import { linkedNode } from '../actors/node/node-fixture.js';
import { freshDatabase } from '../fixture/database.js';
import { eventually } from '../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../fixture/rows.js';

t.test('a node whose threads keep dying gives everything up, and another one goes on with it', async (t) => {
  const { url, db } = await freshDatabase(t);
  const dying = await linkedNode(t, url, 3);
  const workspaceId = await insertWorkspace(db);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  t.ok(await dying.read(workspaceId, id, 'sim-delay-60000'), 'an operation runs');
  const attempts = async () => {
    const [row] = await db.query<{ count: number }>(
      'testAttempts',
      `select jsonb_array_length(attempts) as count from operation where status = 'running'`,
    );
    return row?.count ?? 0;
  };
  await eventually('it has begun', attempts, (count) => count === 1);
  const crash = async () => {
    for (const index of [0, 1, 2]) dying.node.crashThread(index);
    return dying.node.status();
  };
  await eventually('the node has failed', crash, ({ state }) => state === 'failed');
  const other = await linkedNode(t, url, 1);
  const partitions = async () => other.node.status().partitions;
  await eventually('the other one has every partition', partitions, (count) => count === 64);
  t.match(dying.node.status(), { state: 'failed', partitions: 0 });
  await eventually('the operation runs again', attempts, (count) => count > 1);
});

t.test('a node stops although its link stalls in the middle of its work', async (t) => {
  const { url, db } = await freshDatabase(t);
  const { node, link, stop, read } = await linkedNode(t, url, 2);
  const workspaceId = await insertWorkspace(db);
  for (let count = 0; count < 20; count++) {
    const { id } = await insertSimulated(db, workspaceId, `ada-${count}`);
    t.ok(await read(workspaceId, id, 'sim-delay-200'));
  }
  link.stall('both');
  await stop();
  t.equal(node.status().partitions, 0);
});
