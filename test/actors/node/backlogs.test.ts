import { createHash, randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { findOperations } from '../../../storage/operations/operations.js';
import { type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { longTest } from '../../fixture/size.js';
import { linkedNode } from './node-fixture.js';

/** Runs for a minute: longer than a test. */
const SLOW = 'sim-delay-60000';

const ended = (db: Database, id: string) =>
  eventually(
    'the operation has succeeded',
    () => findOperations(db, [id]),
    ([row]) => row?.status === 'succeeded',
  );

/** As many slow operations of a connection, accepted by a node that does not run any more. */
async function insertBacklog(
  db: Database,
  connection: { id: string; partition: number },
  workspaceId: string,
  operations: number,
): Promise<void> {
  const batch = 1_000;
  for (let stored = 0; stored < operations; stored += batch) {
    const rows = Array.from({ length: Math.min(batch, operations - stored) }, (): NewOperation => {
      const idempotencyKey = randomUUID();
      return {
        ...{ id: uuidv7(), workspaceId, connectionId: connection.id, partition: connection.partition, idempotencyKey },
        capability: 'social.profile.get',
        keyHash: createHash('sha256').update(idempotencyKey).digest(),
        fingerprint: Buffer.alloc(32),
        input: JSON.stringify({ profile_id: SLOW }),
        inputSealed: null,
        acceptedAt: new Date(),
      };
    });
    await submitOperations(db, rows, []);
  }
}

/** A connection in the partition of another one. */
async function neighbourOf(db: Database, partition: number) {
  for (;;) {
    const workspaceId = await insertWorkspace(db);
    const connection = await insertSimulated(db, workspaceId, 'neighbour');
    if (connection.partition === partition) return { workspaceId, connection };
  }
}

t.test(
  'a workspace with too much that has not ended is refused at every node, and its neighbours are not',
  async (t) => {
    const { db, url } = await freshDatabase(t);
    const bound = 40;
    const [first, second] = [await linkedNode(t, url, 2, bound), await linkedNode(t, url, 1, bound)];
    const greedy = await insertWorkspace(db);
    const connections = await Promise.all(['a', 'b', 'c', 'd'].map((name) => insertSimulated(db, greedy, name)));
    const submit = async (n: number, node: typeof first, profile = SLOW) =>
      node.submit(greedy, connections[n % connections.length]!.id, profile);
    const refused = async (node: typeof first) => {
      for (let sent = 0; ; sent++) {
        const outcome = await submit(sent, node);
        if (outcome.kind === 'overloaded') return outcome;
      }
    };
    t.strictSame(await refused(first), { kind: 'overloaded', what: 'workspace' });
    t.strictSame(await refused(second), { kind: 'overloaded', what: 'workspace' });
    const neighbour = await insertWorkspace(db);
    const connection = await insertSimulated(db, neighbour, 'neighbour');
    for (const node of [first, second]) {
      const outcome = await node.submit(neighbour, connection.id, 'ada');
      if (outcome.kind !== 'created') return t.fail(outcome.kind);
      await ended(db, outcome.operation.id);
    }
    // What it piled up goes, and it is welcome again.
    await db.query('testCancelAll', 'update operation set cancel_requested = true where workspace_id = $1', [greedy]);
    await db.query('testDeleteQueued', `delete from operation where workspace_id = $1 and status = 'queued'`, [greedy]);
    await eventually(
      'its submissions are accepted again',
      () => submit(0, second, 'ada'),
      ({ kind }) => kind === 'created',
    );
  },
);

longTest(t, 'a connection whose mailbox is full at its owner is refused at every node', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const full = await insertSimulated(db, workspaceId, 'full');
  const other = await insertSimulated(db, workspaceId, 'other');
  await insertBacklog(db, full, workspaceId, 10_001);
  const nodes = [await linkedNode(t, url, 1), await linkedNode(t, url, 1)];
  for (const node of nodes) {
    const outcome = await eventually(
      'it is refused',
      () => node.submit(workspaceId, full.id, SLOW),
      ({ kind }) => kind === 'overloaded',
    );
    t.strictSame(outcome, { kind: 'overloaded', what: 'connection' });
    t.match(await node.submit(workspaceId, other.id, 'ada'), { kind: 'created' });
  }
});

longTest(
  t,
  'behind forty thousand slow operations of one connection, a neighbour of its partition runs at once',
  async (t) => {
    const { db, url } = await freshDatabase(t);
    const greedy = await insertWorkspace(db);
    const slow = await insertSimulated(db, greedy, 'slow');
    await insertBacklog(db, slow, greedy, 40_000);
    const { workspaceId, connection } = await neighbourOf(db, slow.partition);
    const node = await linkedNode(t, url, 1);
    const outcome = await node.submit(workspaceId, connection.id, 'ada');
    if (outcome.kind !== 'created') return t.fail(outcome.kind);
    await ended(db, outcome.operation.id);
  },
);
