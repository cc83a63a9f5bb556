import { createHash, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LeaseCell } from '../../../actors/lease.js';
import { Ownership, type OwnershipOptions } from '../../../actors/node/ownership.js';
import { FaultyLink } from '../../../bench/scenarios/chaos/link.js';
import { createLogger } from '../../../storage/log/log.js';
import { startOperations } from '../../../storage/operations/starts.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, type OwnedPartition } from '../../../storage/partitions/partitions.js';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { eventually } from '../../fixture/eventually.js';
import { lockAwaited } from '../../fixture/locks.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** A node's ownership behind a link of its own, with what it told its threads. */
export class OwningNode {
  readonly id = randomUUID();
  readonly lease = new LeaseCell();
  /** Epochs of what its threads would run now, by partition. */
  readonly running = new Map<number, number>();
  readonly renewed: OwnedPartition[] = [];
  readonly ownership: Ownership;

  private constructor(
    readonly link: FaultyLink,
    db: Database,
    options: Partial<OwnershipOptions>,
  ) {
    this.ownership = new Ownership({
      db,
      nodeId: this.id,
      lease: this.lease,
      log: createLogger({ level: 'silent', format: 'json' }, {}),
      own: (partitions) => {
        for (const { id, epoch } of partitions) this.running.set(id, epoch);
      },
      renewed: (partitions) => {
        for (const { id, epoch } of partitions) this.running.set(id, epoch);
        this.renewed.push(...partitions);
      },
      lost: (partitions) => {
        for (const id of partitions) this.running.delete(id);
      },
      ended: () => {},
      giveUp: async () => {},
      runnable: () => true,
      ...options,
    });
  }

  /** Not started yet. It leaves when the test ends. */
  static async open(t: Test, url: string, options: Partial<OwnershipOptions> = {}): Promise<OwningNode> {
    const link = await FaultyLink.open(Number(new URL(url).port));
    const db = openDatabase({ url: link.through(url), maxConnections: 3, applicationName: 'node', onError: () => {} });
    db.pool.on('connect', (client) => client.on('error', () => {})); // a cut may come in the middle of a transaction
    const node = new OwningNode(link, db, options);
    t.teardown(async () => {
      link.pass();
      await node.ownership.leave();
      link.cut();
      await db.close();
      await link.close();
    });
    return node;
  }

  /** Resolves when the rows that name this node are just what it runs, under the same epochs. */
  async agrees(db: Database, partitions?: number): Promise<void> {
    await eventually(
      'the rows and the node agree',
      async () => {
        const rows = await db.query<OwnedPartition>(
          'testOwned',
          'select id, epoch from partition where node_id = $1 and lease_until > now()',
          [this.id],
        );
        const same = rows.length === this.running.size && rows.every(({ id, epoch }) => this.running.get(id) === epoch);
        return (
          same &&
          (partitions === undefined || rows.length === partitions) &&
          this.ownership.partitions.length === rows.length
        );
      },
      Boolean,
    );
  }
}

/** Another node that lives and owns nothing, as the others count it. */
export async function addSilentNode(db: Database): Promise<string> {
  const id = randomUUID();
  await db.query('testNode', 'insert into node (id) values ($1)', [id]);
  return id;
}

/** Commits of this node's claims and retakes wait while the gate is closed. */
export async function commitGate(db: Database, nodeId: string) {
  await db.query(
    'testGate',
    `create function test_gate() returns trigger language plpgsql as $$
     begin
       perform set_config('lock_timeout', '0', true);
       perform pg_advisory_xact_lock_shared(42);
       return null;
     end $$`,
  );
  await db.query(
    'testGateTrigger',
    `create constraint trigger test_gate after update on partition deferrable initially deferred for each row
     when (new.node_id = '${nodeId}' and old.epoch <> new.epoch) execute function test_gate()`,
  );
  const client = await db.pool.connect();
  return {
    close: () => client.query('select pg_advisory_lock(42)'),
    /** Resolves when a commit waits. */
    waiting: () => lockAwaited(db),
    /** Lets the commits through and resolves when they are done. */
    async open() {
      await client.query('select pg_advisory_unlock(42)');
      client.release();
      const idle = async () =>
        await db.query(
          'testGateBusy',
          `select 1 from pg_stat_activity
           where datname = current_database() and application_name = 'node' and state <> 'idle'`,
        );
      await eventually('the commits are done', idle, (rows) => rows.length === 0);
    },
  };
}

/** Releases of partitions fail while this stands. */
export async function refuseReleases(db: Database): Promise<() => Promise<void>> {
  await db.query(
    'testRefuse',
    `create function test_refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`,
  );
  await db.query(
    'testRefuseTrigger',
    `create trigger test_refuse before update on partition for each row when (new.node_id is null)
     execute function test_refuse()`,
  );
  return async () => {
    await db.query('testAllow', 'drop trigger test_refuse on partition');
  };
}

/** An operation that an owner had started when it was lost; its partition is free. */
export async function lostOperation(db: Database): Promise<{ id: string; partition: number }> {
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const { partition } = connection;
  const [owned] = await db.transaction((tx) => claimPartitions(tx, randomUUID(), 1, 60_000, [partition]));
  const id = uuidv7();
  const hash = createHash('sha256').update(id).digest();
  await submitOperations(
    db,
    [
      {
        ...{
          id,
          workspaceId,
          partition,
          connectionId: connection.id,
          idempotencyKey: id,
          keyHash: hash,
          fingerprint: hash,
        },
        ...{ capability: 'social.profile.get', input: '{}', inputSealed: null, acceptedAt: new Date() },
      },
    ],
    [owned!],
  );
  const start = { id, connectionId: connection.id, partition, epoch: owned!.epoch, attemptId: uuidv7() };
  await startOperations(db, [start], []);
  await db.query('testExpire', `update partition set lease_until = '-infinity' where id = $1`, [partition]);
  return { id, partition };
}
