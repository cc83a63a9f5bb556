import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LeaseCell } from '../../../actors/lease.js';
import { LIMITS } from '../../../actors/limits.js';
import type { Execution, Outcome, ProviderRuntime } from '../../../actors/operations/attempt/execution.js';
import { OperationBatches } from '../../../actors/operations/attempt/operation-batches.js';
import { MailboxReader } from '../../../actors/operations/mailbox-reader.js';
import { OperationCounters } from '../../../actors/operations/operation-counters.js';
import { Orphans } from '../../../actors/operations/orphans.js';
import { Committer } from '../../../actors/operations/partition/committer.js';
import { LookQueue } from '../../../actors/operations/partition/look-queue.js';
import { MailboxCloser } from '../../../actors/operations/partition/mailbox-closer.js';
import { Partition, type PartitionContext } from '../../../actors/operations/partition/partition.js';
import { PendingStores } from '../../../actors/operations/partition/pending-stores.js';
import { Sweep } from '../../../actors/operations/partition/sweep.js';
import { FaultyLink } from '../../../bench/scenarios/chaos/link.js';
import { createLogger } from '../../../storage/log/log.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { findOperations } from '../../../storage/operations/operations.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import { recoverPartition } from '../../../storage/partitions/recovery.js';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** What the partition's thread asks the node to do: the same transaction, on a connection of its own. */
async function takeAgain(db: Database, id: number, inHand: string[]): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ epoch: number }>(
      'testTakeAgain',
      'update partition set epoch = epoch + 1 where id = $1 returning epoch',
      [id],
    );
    await recoverPartition(tx, id, inHand);
    return row!.epoch;
  });
}

/** The thread, as boundaries name it. */
export const WORKER = { node_id: randomUUID(), thread: 'actors-0' };

/**
 * The parts of an actor thread that run the operations of one partition, on a real database behind a link that can fail by halves;
 * `db` goes around the link. The provider ends each operation as the test says.
 */
export async function operationsThread(
  t: Test,
  provider: (execution: Execution) => Promise<Outcome>,
  {
    look = () => Promise.reject(new Error('nothing is to be looked at')),
    database,
    ...shorter
  }: Partial<Pick<ProviderRuntime, 'look'>> &
    Pick<PartitionContext, 'challenge_ms'> & { database?: { db: Database; url: string } } = {},
) {
  const { db, url } = database ?? (await freshDatabase(t));
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const link = await FaultyLink.open(Number(new URL(url).port));
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  const limits = { statement_ms: 600, lock_ms: 200, connect_ms: 5_000, idle_transaction_ms: 5_000 };
  const options = { url: link.through(url), limits, applicationName: 'test thread', onError: () => {} };
  const thread = openDatabase({ ...options, maxConnections: 4 });
  const id = connection.partition;
  const lease = new LeaseCell();
  lease.renewed(LeaseCell.now(), 600_000, [id]);
  let partition: Partition;
  const attempts: string[] = [];
  const reconciled: number[] = [];
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const run = (execution: Execution) => {
    attempts.push(execution.operationId);
    return provider(execution);
  };
  const looks = new LookQueue({ db: thread, log, partitions: () => [partition] });
  const awaitable: string[] = [];
  const pendingStores = new PendingStores();
  const context: PartitionContext = {
    ...shorter,
    db: thread,
    batches: new OperationBatches(thread, thread, WORKER, () => {}),
    reader: new MailboxReader(thread),
    pendingStores,
    ring,
    lease,
    log,
    ended: () => {},
    providers: { simulated: { run, look }, social: { run, look } },
    counters: new OperationCounters(),
    largeAttempts: new FairSlots(LIMITS.large_attempts, { each: LIMITS.workspace_large_attempts }),
    storedBound: null,
    awaitable: (operationId) => awaitable.push(operationId),
    changed: () => {},
    looked: () => void looks.fetch(),
    reconcile: ({ id: partitionId }, inHand) => {
      void takeAgain(db, partitionId, inHand).then((epoch) => {
        reconciled.push(epoch);
        partition.renewed(epoch);
      });
    },
  };
  const [row] = await db.query<{ epoch: number }>(
    'testOwn',
    `update partition set node_id = $2, epoch = 1, lease_until = now() + interval '1 hour' where id = $1 returning epoch`,
    [id, randomUUID()],
  );
  partition = new Partition({ id, epoch: row!.epoch }, context);
  await partition.fetch();
  const committer = new Committer({
    ...{ db: thread, ring, pendingStores },
    fingerprint: (text) => createHash('sha256').update(text).digest(),
    partition: () => partition,
    hint: () => {},
  });
  /** Stores an operation as another node does, and leaves it to the owner to find it. */
  const storeElsewhere = async (
    key: string,
    capability = 'social.identity.get',
    input: object = {},
    on = connection.id,
    operationId = uuidv7(),
  ) => {
    const hash = createHash('sha256').update(key).digest();
    const of = { workspaceId, connectionId: on, partition: id, capability, idempotencyKey: key };
    const given = { input: JSON.stringify(input), inputSealed: null, acceptedAt: new Date() };
    await submitOperations(db, [{ ...of, ...given, id: operationId, keyHash: hash, fingerprint: hash }], []);
  };
  const submit = (
    key: string,
    capability = 'social.identity.get',
    input: Record<string, unknown> = {},
    on = connection.id,
  ) => committer.submit({ workspaceId, connectionId: on, capability, input, idempotencyKey: key });
  /** The operation of this key, once it has one of these statuses. */
  const ended = (key: string, statuses = ['succeeded', 'failed', 'canceled', 'outcome_unknown']) =>
    eventually(
      `${key} is ${statuses.join(' or ')}`,
      () => byKey(db, key),
      (operation) => operation !== undefined && statuses.includes(operation.status),
    );
  const closing = new MailboxCloser({ db: thread, log, partitions: () => [partition] });
  const poll = setInterval(() => {
    void partition.fetch();
    void closing.close();
  }, 200); // as the thread's slow poll
  t.teardown(async () => {
    clearInterval(poll);
    link.pass();
    if (partition.tenure !== 'dropped') partition.drop();
    await partition.quiesce();
    await thread.close();
    await link.close();
  });
  const { counters } = context;
  const orphans = new Orphans({ db, log, counters, looks: () => true });
  const sweep = new Sweep({ db, log, counters, orphans, partitions: () => [partition] });
  return {
    db,
    thread,
    link,
    workspaceId,
    connection,
    partition,
    lease,
    context,
    submit,
    storeElsewhere,
    ended,
    attempts,
    reconciled,
    sweep,
    orphans,
    looks,
    awaitable,
  };
}

async function byKey(db: Database, key: string): Promise<OperationRow | undefined> {
  const [row] = await db.query<{ id: string }>('testByKey', 'select id from operation where idempotency_key = $1', [
    key,
  ]);
  return row && (await findOperations(db, [row.id]))[0];
}
