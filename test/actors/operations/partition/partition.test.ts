import t from 'tap';
import { LeaseCell } from '../../../../actors/lease.js';
import { LIMITS } from '../../../../actors/limits.js';
import { MailboxReader } from '../../../../actors/operations/mailbox-reader.js';
import { Partition, type PartitionContext } from '../../../../actors/operations/partition/partition.js';
import { PendingStores } from '../../../../actors/operations/partition/pending-stores.js';
import { createLogger } from '../../../../storage/log/log.js';
import type { DueMailbox } from '../../../../storage/operations/mailboxes.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { AnswerLost } from '../../../../storage/postgres/liveness.js';
import { operationsThread } from '../thread.js';

/** A partition of which no mailbox is due, unless `open` has it otherwise. No operation comes out of it, so nothing else is used. */
function fixture(open: () => Promise<DueMailbox[]> = async () => []) {
  const db = {
    query: async (name: string) =>
      name === 'openMailboxes' ? (await open()).map((due) => ({ ...due, partition: 7, epoch: 1 })) : [],
  };
  const lease = new LeaseCell();
  lease.renewed(LeaseCell.now(), 60_000, [7]);
  const states: string[] = [];
  const context = {
    reader: new MailboxReader(db as unknown as Database),
    pendingStores: new PendingStores(),
    lease,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    onPartitionState: (_: number, kind: string) => states.push(kind),
  };
  return { partition: new Partition({ id: 7, epoch: 1 }, context as unknown as PartitionContext), states };
}

t.test('a fetch that fails leaves the mailboxes as they were', async (t) => {
  const { partition, states } = fixture(() => Promise.reject(new Error('the database is gone')));
  await partition.fetch();
  t.equal(partition.direct, true);
  t.strictSame(states, ['fetching', 'ready']);
});

t.test('calls that come while a fetch is under way are answered by one more round', async (t) => {
  let rounds = 0;
  const { partition, states } = fixture(async () => {
    rounds++;
    return [];
  });
  await Promise.all([partition.fetch(), partition.fetch(), partition.fetch()]);
  t.equal(rounds, 2);
  t.strictSame(states, ['fetching', 'ready']);
});

t.test('a partition that is given up fetches nothing more, and may still be lost', async (t) => {
  const { partition, states } = fixture();
  await partition.fetch();
  await partition.quiesce();
  t.equal(partition.tenure, 'stopping');
  t.equal(partition.direct, false);
  await partition.fetch();
  partition.hand({ id: 'operation', connectionId: 'connection', workspaceId: 'workspace', place: 1, large: false }, 1);
  t.equal(partition.size, 0, 'what is handed over is left to the next owner');
  partition.drop();
  t.equal(partition.tenure, 'dropped');
  t.strictSame(states, ['fetching', 'ready', 'stopping', 'dropped']);
  t.throws(() => partition.drop(), /no step from dropped to dropped/);
});

t.test('a partition that stops closes no mailbox: what waited in it is found by the next owner', async (t) => {
  const running = Promise.withResolvers<void>();
  const { db, partition, submit } = await operationsThread(t, async ({ signal }) => {
    running.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  for (const key of ['runs', 'waits']) await submit(key);
  await running.promise;
  t.equal(partition.inHand.length, 2);
  await partition.quiesce();
  t.strictSame(partition.inHand, []);
  t.strictSame(partition.toClose(performance.now() + LIMITS.mailbox_idle_ms), []);
  t.match(await db.query('testJobs', `select state from pgboss.job_common where name like 'mailbox-%'`), [{}]);
});

t.test('a partition that is lost while it fetches starts nothing of what the fetch brings', async (t) => {
  const mailboxes = Promise.withResolvers<DueMailbox[]>();
  const { partition, states } = fixture(() => mailboxes.promise);
  const fetched = partition.fetch();
  partition.drop();
  mailboxes.resolve(
    Array.from({ length: LIMITS.opened_mailboxes }, (_, number) => ({
      connection_id: `${number}`,
      workspace_id: 'workspace',
      from: '0',
      new: null,
      version: '1',
      doubt: false,
    })),
  );
  await fetched;
  t.equal(partition.size, 0);
  t.strictSame(states, ['fetching', 'dropped']);
});

t.test('an opening whose answer was lost puts all partitions in doubt that asked with it', async (t) => {
  const reader = new MailboxReader({
    query: () => Promise.reject(new AnswerLost(new Error('cut'))),
  } as unknown as Database);
  const lease = new LeaseCell();
  lease.renewed(LeaseCell.now(), 60_000, [7, 8]);
  const doubted: number[] = [];
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const pendingStores = new PendingStores();
  const context = { reader, pendingStores, lease, log, reconcile: ({ id }: { id: number }) => doubted.push(id) };
  const partitions = [7, 8].map((id) => new Partition({ id, epoch: 1 }, context as unknown as PartitionContext));
  await Promise.all(partitions.map((one) => one.fetch()));
  t.strictSame(doubted, [7, 8]);
});
