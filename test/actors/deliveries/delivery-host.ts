import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { Dispatcher, type DispatcherOptions } from '../../../actors/deliveries/dispatcher.js';
import type { SubscriptionState } from '../../../actors/deliveries/schedule/subscription-actor.js';
import type { SendPermission } from '../../../actors/lease.js';
import { fetchSubscriptions } from '../../../storage/deliveries/delivery-queue.js';
import { recoverDeliveries } from '../../../storage/deliveries/recovery.js';
import { putBackJobs } from '../../../storage/jobs/job-table.js';
import { claimPartitions, type OwnedPartition, retakePartitions } from '../../../storage/partitions/partitions.js';
import type { Database, Sql } from '../../../storage/postgres/database.js';
import { type KeyRing, keyRing } from '../../../storage/secrets/encryption.js';
import { JOBS } from '../../fixture/jobs.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

export const ring: KeyRing = keyRing([{ id: 'test', key: randomBytes(32) }]);
export const SECRET = 'a secret of more than 32 characters';

/** A lease that holds. */
export const NEVER_RUNS_OUT: SendPermission = { until_ns: 2n ** 63n, until_ms: Number.MAX_SAFE_INTEGER };

/** A workspace with one simulated connection. */
export async function insertConnection(db: Sql): Promise<{ workspaceId: string; id: string; partition: number }> {
  const workspaceId = await insertWorkspace(db);
  return { workspaceId, ...(await insertSimulated(db, workspaceId, randomUUID())) };
}
export type Connection = Awaited<ReturnType<typeof insertConnection>>;

export async function insertSubscription(db: Sql, connection: Connection, url: string, by = ring): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, destination)
     values ($1, $2, $3, $4, '{message_received}', $5, true, $6, $7)`,
    [
      id,
      connection.workspaceId,
      connection.id,
      connection.partition,
      url,
      by.seal(SECRET, `subscription/${id}/secret`),
      destinationOf(connection, url),
    ],
  );
  return id;
}

/** As the service's, under no secret: the same for one host and port of one workspace. */
export const destinationOf = ({ workspaceId }: Connection, url: string): Buffer =>
  createHash('sha256')
    .update(`${workspaceId} ${URL.canParse(url) ? new URL(url).host : url}`)
    .digest();

/** Records `count` events, each with its deliveries; their subscriptions' jobs become due. */
export async function record(
  db: Database,
  connection: Connection,
  count = 1,
  data: object = { body: 'hello' },
): Promise<void> {
  const events = Array.from({ length: count }, () => ({
    connectionId: connection.id,
    providerEventId: randomUUID(),
    type: 'message_received' as const,
    data: data as Record<string, unknown>,
  }));
  await recorded(db, connection.workspaceId, events);
}

export interface DeliveryState {
  id: string;
  subscription_id: string;
  event_id: string;
  status: string;
  attempt_count: number;
  series_attempts: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  last_error: string | null;
  /** Of its subscription's job. */
  job: string | null;
  job_due: Date | null;
  attempts: { sequence: number; outcome: string; status_code: number | null; error: string | null; closed: boolean }[];
}

export async function deliveries(db: Sql, subscriptionId?: string): Promise<DeliveryState[]> {
  return db.query<DeliveryState>(
    'testDeliveries',
    `select d.id, d.subscription_id, d.event_id, d.status, d.attempt_count, d.series_attempts, d.next_attempt_at,
       d.delivered_at, d.last_error, j.state as job, j.due_at as job_due,
       (select coalesce(jsonb_agg(jsonb_build_object('sequence', a.sequence, 'outcome', a.outcome,
         'status_code', a.status_code, 'error', a.error, 'closed', a.completed_at is not null) order by a.sequence), '[]')
        from (
          select sequence, outcome, status_code, error, completed_at from delivery_attempt where delivery_id = d.id
          union all select d.attempt_count, 'sending', null, null, null where d.status = 'sending' and d.attempt_id is not null
        ) a) as attempts
     from delivery d left join ${JOBS} j on j.id = d.subscription_id
     where $1::uuid is null or d.subscription_id = $1 order by d.event_id`,
    [subscriptionId ?? null],
  );
}

/** Stands in for an actor host: owns partitions, fetches their jobs, and keeps what the dispatcher reports. */
export class DeliveryHost {
  readonly nodeId = randomUUID();
  readonly dispatcher: Dispatcher;
  owned = new Map<number, OwnedPartition>();
  /** The calls of `wakeIn`, in order. */
  wakes: { partition: number; due_in_ms: number }[] = [];
  logged: Record<string, unknown>[] = [];
  /** The states that were announced last, without those that are gone. */
  readonly states = new Map<string, SubscriptionState['kind']>();
  #changed: (() => void)[] = [];

  private constructor(
    readonly db: Database,
    options: Partial<DispatcherOptions>,
  ) {
    const log = pino({ level: 'debug' }, { write: (line: string) => void this.logged.push(JSON.parse(line)) });
    this.dispatcher = new Dispatcher({
      db,
      relaxed: db,
      lease: { permission: () => NEVER_RUNS_OUT },
      ring,
      policy: { allowedNetworks: ['127.0.0.0/8'] },
      concurrency: 32,
      workspace_share: 1,
      log,
      wakeIn: (partition, due_in_ms) => void this.wakes.push({ partition, due_in_ms }),
      onState: (subscription, { kind }) => this.#onState(subscription, kind),
      ...options,
    });
  }

  static async start(t: Test, db: Database, options: Partial<DispatcherOptions> = {}): Promise<DeliveryHost> {
    const host = new DeliveryHost(db, options);
    const claimed = await db.transaction((tx) => claimPartitions(tx, host.nodeId, 64, 600_000));
    host.owned = new Map(claimed.map((p) => [p.id, p]));
    t.teardown(() => host.dispatcher.drain());
    return host;
  }

  epoch(partition: number): number {
    const owned = this.owned.get(partition);
    if (!owned) throw new Error(`partition ${partition} is not owned`);
    return owned.epoch;
  }

  /** Fetches what is due and hands it over; returns how many. */
  async fetch(partition: number, limit = this.dispatcher.room(partition)): Promise<number> {
    const held = { id: partition, epoch: this.epoch(partition) };
    const fetched = await fetchSubscriptions(this.db, held, limit, this.dispatcher.full(partition));
    this.dispatcher.take(partition, held.epoch, fetched);
    return fetched.length;
  }

  /** Resolves once every subscription has gone back to its queue and nothing is under way. One with a slow receiver may stay. */
  quiet(): Promise<void> {
    return this.#until(() => this.states.size === 0);
  }

  /** Resolves once no attempt is under way and every job was given back, whoever stays: then `wakes` ends with when the last is due. */
  parked(): Promise<void> {
    return this.#until(() => [...this.states].every(([id, kind]) => kind === 'idle' && !this.dispatcher.holdsJob(id)));
  }

  /** As after the loss of the thread: the next epoch, everything recovered, and the old dispatcher knows of nothing. */
  async retake(partition: number): Promise<void> {
    await this.db.transaction(async (tx) => {
      const [taken] = await retakePartitions(tx, this.nodeId, [partition], 600_000);
      if (taken) this.owned.set(partition, taken);
      await recoverDeliveries(tx, [partition]);
      await putBackJobs(tx, partition, 'delivery');
    });
  }

  async #until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  #onState(subscription: string, state: SubscriptionState['kind']): void {
    if (state === 'gone') this.states.delete(subscription);
    else this.states.set(subscription, state);
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}
