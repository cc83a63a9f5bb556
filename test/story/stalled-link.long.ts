import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { linkedNode } from '../actors/node/node-fixture.js';
import { freshDatabase } from '../fixture/database.js';
import { eventually } from '../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../fixture/rows.js';

t.test(
  'a node whose link stalls for longer than a lease, again and again, runs everything that was accepted',
  async (t) => {
    const { url, db } = await freshDatabase(t);
    const { node, link, read } = await linkedNode(t, url, 2);
    const workspaceId = await insertWorkspace(db);
    const connections = await Promise.all(
      Array.from({ length: 40 }, async () => (await insertSimulated(db, workspaceId, randomUUID())).id),
    );
    let [submitting, accepted] = [true, 0];
    const submitter = async (connectionId: string) => {
      while (submitting) {
        if (await read(workspaceId, connectionId, 'sim-delay-100')) accepted++;
        await delay(100);
      }
    };
    const submitters = connections.map(submitter);
    const partitions = async () => node.status().partitions;
    const leases = () => db.query('testLive', 'select 1 from partition where lease_until > now()');
    const grown = async (by: number) => {
      const before = accepted;
      await eventually(
        'operations are accepted',
        async () => accepted - before,
        (count) => count >= by,
      );
    };
    for (const way of ['both', 'down', 'up'] as const) {
      await grown(200);
      link.stall(way);
      await eventually('every lease has run out', leases, ({ length }) => length === 0);
      link.pass();
      await eventually('the node has its partitions', partitions, (count) => count === 64);
    }
    await grown(200);
    submitting = false;
    await Promise.all(submitters);
    const open = async () =>
      await db.query('testOpen', `select id from operation where status in ('queued', 'running', 'waiting_user')`);
    await eventually('everything has ended', open, ({ length }) => length === 0);
    const ends = await db.query<{ status: string; count: number }>(
      'testEnds',
      'select status, count(*)::int as count from operation group by status',
    );
    t.strictSame(
      ends.map(({ status }) => status),
      ['succeeded'],
    );
    t.ok((ends[0]?.count ?? 0) >= accepted);
  },
);
