import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { type Deliveries, openDeliveries } from '../../../actors/deliveries/deliveries.js';
import type { DeliveryConsumer } from '../../../actors/deliveries/delivery-consumer.js';
import { LeaseCell } from '../../../actors/lease.js';
import { FaultyLink } from '../../../bench/scenarios/chaos/link.js';
import { dueQueues } from '../../../storage/jobs/job-table.js';
import { createLogger } from '../../../storage/log/log.js';
import { PARTITIONS } from '../../../storage/model/records.js';
import { claimPartitions } from '../../../storage/partitions/partitions.js';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { ring } from './delivery-host.js';

const LEASE_ms = 600_000;
const POLL_ms = 1_000;

/** The deliveries of one actor thread that owns every partition, behind a link to the database that can fail by halves. */
export class DeliveryThread {
  readonly #db: Database;
  readonly #consumers: Map<number, DeliveryConsumer>;

  private constructor(
    readonly deliveries: Deliveries,
    readonly link: FaultyLink,
    db: Database,
    consumers: Map<number, DeliveryConsumer>,
  ) {
    this.#db = db;
    this.#consumers = consumers;
  }

  /** `through` may stand between the thread and its database. */
  static async start(
    t: Test,
    { url, db }: { url: string; db: Database },
    options: { ca: string; concurrency?: number; workspacePercent?: number; through?: (db: Database) => Database },
  ): Promise<DeliveryThread> {
    const link = await FaultyLink.open(Number(new URL(url).port));
    const pool = { url: link.through(url), applicationName: 'test thread', indexedPlans: true, onError: () => {} };
    const own = openDatabase({ ...pool, maxConnections: 4 });
    const relaxed = openDatabase({ ...pool, maxConnections: 2, relaxedCommits: true });
    const through = options.through ?? ((one) => one);
    const consumers = new Map<number, DeliveryConsumer>();
    const lease = new LeaseCell();
    lease.renewed(LeaseCell.now(), LEASE_ms, Array(PARTITIONS).keys());
    const deliveries = openDeliveries(
      {
        concurrency: options.concurrency ?? 32,
        workspacePercent: options.workspacePercent ?? 100,
        allowedNetworks: ['127.0.0.0/8'],
        ca: options.ca,
        dnsServers: null,
      },
      {
        db: through(own),
        relaxed: through(relaxed),
        ring,
        lease,
        log: createLogger({ level: 'silent', format: 'json' }, {}),
      },
    );
    // The thread's slow poll, behind every fetch that failed.
    const poll = setInterval(async () => {
      const due = await dueQueues(db, [...consumers.keys()]).catch(() => []);
      for (const { partition } of due) void consumers.get(partition)?.wake();
    }, POLL_ms);
    t.teardown(async () => {
      clearInterval(poll);
      link.pass();
      await deliveries.close();
      await Promise.all([own.close(), relaxed.close()]);
      await link.close();
    });
    const nodeId = randomUUID();
    const claimed = await db.transaction((tx) => claimPartitions(tx, nodeId, 64, LEASE_ms));
    for (const { id, epoch } of claimed) consumers.set(id, deliveries.own(id, epoch));
    return new DeliveryThread(deliveries, link, db, consumers);
  }

  /** Fetches what is due. */
  async wake(partition: number): Promise<void> {
    await this.#consumers.get(partition)?.wake();
  }

  /** Takes the partition again, and lets the thread go on with what it has in hand. */
  async renew(partition: number): Promise<void> {
    const [taken] = await this.#db.query<{ epoch: number }>(
      'testRetake',
      'update partition set epoch = epoch + 1 where id = $1 returning epoch',
      [partition],
    );
    if (taken) this.deliveries.renew(partition, taken.epoch);
  }
}
