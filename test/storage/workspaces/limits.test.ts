import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../../storage/postgres/database.js';
import { hashKey } from '../../../storage/workspaces/key-format.js';
import { createKey, findKeysByHash } from '../../../storage/workspaces/keys.js';
import {
  clearOwnLimit,
  listOwnLimits,
  type Rate,
  roomForConnection,
  setOwnLimit,
  workspaceUse,
} from '../../../storage/workspaces/limits.js';
import { dealShares, leaveShares } from '../../../storage/workspaces/rate-shares.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';

const LEASE_MS = 8_000;
const BOUND = 100;
const RATE = 'requests_per_second';

/** Two nodes of an installation that one workspace asks. */
async function twoNodes(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = uuidv7();
  const node = async () => {
    const id = randomUUID();
    await db.query('testNode', 'insert into node (id) values ($1)', [id]);
    return {
      /** The share that it is given when it is asked for so many a second. */
      deal: async (asked: number, rate: Rate = RATE) => {
        const demand = { workspaceId, rate, asked, bound: BOUND } as const;
        const { shares } = await db.transaction((tx) => dealShares(tx, id, [demand], [], LEASE_MS));
        return shares[0]!.share;
      },
      silent: (ms: number) => age(db, ms, id),
      leave: () => leaveShares(db, id),
    };
  };
  return { db, workspaceId, one: await node(), other: await node() };
}

/** As if rows were noted so long ago: of a node, or of all. */
const age = (db: Database, ms: number, nodeId: string | null = null) =>
  db.query(
    'testAge',
    `update workspace_rate set noted_at = noted_at - $1 * interval '1 millisecond' where $2::uuid is null or node_id = $2`,
    [ms, nodeId],
  );

const near = (t: Test, found: number, wanted: number, message: string) =>
  t.ok(Math.abs(found - wanted) < 0.001, `${message}: ${found}`);

t.test('what is left over of a rate is free for every node', async (t) => {
  const { one, other } = await twoNodes(t);
  near(t, await one.deal(10), 0.55, 'what it is asked for, and half of the rest');
  near(t, await other.deal(30), 0.45, 'not what the other has');
  near(t, await one.deal(10), 0.4, 'it gives back what is not its own');
  near(t, await other.deal(30), 0.6, 'then the other takes it');
});

t.test('what another node is asked for of another rate takes nothing of this one', async (t) => {
  const { one, other } = await twoNodes(t);
  near(t, await other.deal(5_000, 'submissions_per_second'), 1, 'all of the one rate');
  near(t, await one.deal(5_000), 1, 'and all of the other');
});

t.test('whoever asks, in whatever order, the shares are never more than the whole', async (t) => {
  const { db, one, other } = await twoNodes(t);
  const asked = [10, 400, 0, 90, 5_000, 1];
  for (let round = 0; round < 60; round++) {
    const node = (round * 7) % 5 < 3 ? one : other;
    await node.deal(asked[(round * 11) % asked.length] as number);
    const [sum] = await db.query<{ share: number }>('testSum', 'select sum(share) as share from workspace_rate');
    t.ok((sum?.share ?? 2) <= 1.000001, `round ${round}: ${sum?.share}`);
  }
});

t.test('nodes that are dealt their shares at the same moment take no more than the whole either', async (t) => {
  const { one, other } = await twoNodes(t);
  for (let round = 0; round < 50; round++) {
    const [a, b] = await Promise.all([one.deal(500), other.deal(500)]);
    near(t, a + b, 1, `round ${round}`);
    await Promise.all([one.leave(), other.leave()]);
  }
});

t.test('a node that is asked for more than there is leaves another its part as soon as that is asked', async (t) => {
  const { one, other } = await twoNodes(t);
  near(t, await one.deal(500), 1, 'alone it has all');
  near(t, await other.deal(500), 0, 'nothing is free');
  near(t, await one.deal(500), 0.5, 'it gives way');
  near(t, await other.deal(500), 0.5, 'and the other takes its half');
});

t.test('what a silent node had is the others’, but not after an outage that silenced all', async (t) => {
  const { db, one, other } = await twoNodes(t);
  await one.deal(500);
  await other.deal(500);
  near(t, await one.deal(500), 0.5, 'half each');
  await other.deal(500);
  await age(db, 60_000);
  near(t, await one.deal(500), 0.5, 'both were silent: nobody takes what the other still uses');
  await other.silent(61_500);
  near(t, await one.deal(500), 1, 'only the other was');
  near(t, await other.deal(500), 0, 'it comes back to what is left');
  near(t, await one.deal(500), 0.5, 'and gets its half again');
  await other.leave();
  near(t, await one.deal(500), 1, 'who leaves keeps nothing');
});

t.test('a deal costs what is asked for, however many workspaces there are', async (t) => {
  const { db, workspaceId } = await twoNodes(t);
  const demand = { workspaceId, rate: RATE, asked: 10, bound: BOUND } as const;
  await db.query(
    'testMany',
    `with made as (insert into workspace (id, name) select gen_random_uuid(), 'other' from generate_series(1, 10000) returning id),
     own as (insert into workspace_limit (workspace_id, name, value) select id, 'requests_per_second', 5 from made)
     insert into workspace_rate (workspace_id, rate, node_id, asked, share)
     select id, '${RATE}', gen_random_uuid(), 1, 0.1 from made`,
  );
  await db.query('testAnalyze', 'analyze workspace_rate');
  const { given, scanned, found } = await db.transaction((tx) =>
    rowsRead(tx, 'workspace_rate', () => dealShares(tx, randomUUID(), [demand], [demand], LEASE_MS)),
  );
  t.equal(given.shares.length, 1);
  t.ok(scanned + found <= 4, `${scanned} rows scanned, ${found} found`);
  const idle = await db.transaction((tx) => dealShares(tx, randomUUID(), [], [], LEASE_MS));
  t.strictSame(idle, { nodes: 2, shares: [] }, 'one that is not asked learns how many there are');
});

t.test('connections within a bound: exact, whoever creates at the same time', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const create = () =>
    db.transaction(async (tx) => {
      const room = await roomForConnection(tx, workspaceId, 25);
      if (room) await insertSimulated(tx, workspaceId, randomUUID());
      return room;
    });
  const made = await Promise.all(Array.from({ length: 80 }, create));
  t.equal(made.filter((room) => room).length, 25);
  await db.query('testDelete', 'update connection set deleted_at = now() where workspace_id = $1', [workspaceId]);
  t.ok(await create(), 'deleted ones do not count, although their rows are still there');
  t.strictSame(await workspaceUse(db, workspaceId, true), { connections: 1, subscriptions: 0 });
});

t.test('a workspace has limits of its own, which come with its keys', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace_id = await insertWorkspace(db);
  const made = await createKey(db, { workspaceId: workspace_id, name: null, scopes: [], expiresAt: null });
  const hash = hashKey(made!.key).toString('hex');
  const own = async () => (await findKeysByHash(db, [hash])).get(hash)?.limits;
  t.equal(await own(), null);
  t.ok(await setOwnLimit(db, { workspace_id, name: 'connections', value: 5 }));
  t.ok(await setOwnLimit(db, { workspace_id, name: 'connections', value: 7 }));
  t.ok(await setOwnLimit(db, { workspace_id, name: RATE, value: 50 }));
  t.strictSame(await own(), { connections: 7, requests_per_second: 50 });
  t.strictSame(await listOwnLimits(db, workspace_id), [
    { workspace_id, name: 'connections', value: 7 },
    { workspace_id, name: RATE, value: 50 },
  ]);
  t.ok(await clearOwnLimit(db, { workspace_id, name: 'connections' }));
  t.notOk(await clearOwnLimit(db, { workspace_id, name: 'connections' }), 'there is none any more');
  t.strictSame(await own(), { requests_per_second: 50 });
  t.notOk(await setOwnLimit(db, { workspace_id: randomUUID(), name: RATE, value: 1 }), 'no such workspace');
});
