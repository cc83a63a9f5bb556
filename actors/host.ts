import type { MessagePort } from 'node:worker_threads';
import type { PgBoss } from 'pg-boss';
import { Channel } from '../browser-pool/channel.js';
import type { Site } from '../browser-pool/social/site/site.js';
import type { RecordedEvent } from '../storage/deliveries/events-record.js';
import { createLogger, type Logger, type LogOptions } from '../storage/log.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { openQueues } from '../storage/postgres/jobs.js';
import { type EncryptionKey, fingerprinter, type KeyRing, keyRing } from '../storage/secrets/encryption.js';
import type { DeliverySettings } from './deliveries/deliveries.js';
import { type Deliveries, openDeliveries } from './deliveries/deliveries.js';
import { LeaseCell } from './lease.js';
import { LIMITS } from './limits.js';
import { Listeners } from './listeners/listeners.js';
import type { FromHost, ToHost } from './messages.js';
import { Committer } from './operations/committer.js';
import type { ActorContext } from './operations/connection-actor.js';
import { OperationBatches } from './operations/operation-batches.js';
import { OwnedPartitions } from './owned-partitions.js';
import { createSimulatedProvider } from './providers/simulated.js';
import { BrowserLink } from './social/browser-link.js';
import { createSocialRuntime } from './social/runtime.js';
import type { Hint } from './system.js';

/**
 * One thread of the actor system: a single long-lived piscina task. It owns the partitions the main thread gives it, with
 * their connection actors, deliveries and listeners, and the committer of every submission routed to it.
 */
export interface HostOptions {
  index: number;
  databaseUrl: string;
  databaseConnections: number;
  encryptionKeys: EncryptionKey[];
  fingerprintSecret: Uint8Array;
  lease: SharedArrayBuffer;
  log: LogOptions;
  browserThreads: number;
  deliveries: DeliverySettings;
  site: Site;
}

export interface HostTask {
  port: MessagePort;
  options: HostOptions;
}

/** The piscina task. Resolves after a drain; anything thrown ends the thread, and the supervisor starts another. */
export default async function runHost({ port, options }: HostTask): Promise<void> {
  const host = new Host(options, new Channel<FromHost, ToHost>(port, Number.POSITIVE_INFINITY));
  await host.drained;
}

class Host {
  readonly drained: Promise<void>;
  #finishDrain!: () => void;
  readonly #log: Logger;
  readonly #db: Database;
  readonly #relaxed: Database;
  readonly #boss: PgBoss;
  readonly #lease: LeaseCell;
  readonly #owned: OwnedPartitions;
  readonly #committer: Committer;
  readonly #deliveries: Deliveries;
  readonly #listeners: Listeners;
  readonly #links: BrowserLink[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #counters = { submitted: 0, started: 0, finished: {} as Record<string, number> };
  #settled: string[] = [];
  #draining = false;

  constructor(
    options: HostOptions,
    private readonly main: Channel<FromHost, ToHost>,
  ) {
    this.drained = new Promise((resolve) => {
      this.#finishDrain = resolve;
    });
    this.#log = createLogger(options.log, { thread: `actors-${options.index}` });
    this.#lease = new LeaseCell(options.lease);
    const ring: KeyRing = keyRing(options.encryptionKeys.map(({ id, key }) => ({ id, key: Buffer.from(key) })));
    const onError = (error: Error) => this.#log.warn({ err: error }, 'database connection lost');
    const pool = {
      url: options.databaseUrl,
      applicationName: `connection-service actors-${options.index}`,
      indexedPlans: true,
      onError,
    };
    this.#db = openDatabase({ ...pool, maxConnections: options.databaseConnections });
    this.#relaxed = openDatabase({ ...pool, maxConnections: 2, relaxedCommits: true });
    this.#boss = openQueues(this.#db, false, onError);
    this.#links = Array.from({ length: options.browserThreads }, () => new BrowserLink());
    const [db, boss, lease, log] = [this.#db, this.#boss, this.#lease, this.#log];
    const link = (partition: number) => this.#links[partition % this.#links.length] as BrowserLink;
    const recorded = (events: RecordedEvent[]) => this.#owned.recorded(events);
    const forward = (signal: Hint) => {
      this.main.send({ type: 'signal', signal });
    };
    this.#deliveries = openDeliveries(options.deliveries, { db, relaxed: this.#relaxed, ring, boss, lease, log });
    this.#listeners = new Listeners(options.site, { db, ring, log, recorded });
    const actor: Omit<ActorContext, 'load' | 'idle'> = {
      db,
      batches: new OperationBatches(db, this.#relaxed, recorded),
      ring,
      lease,
      log,
      providers: {
        simulated: createSimulatedProvider({ db, clock: Date.now }),
        social: createSocialRuntime({ db, ring, link }),
      },
      counters: this.#counters,
      settled: (operationId) => this.#announce(operationId),
      changed: (connectionId) => void this.#listeners.look(connectionId),
    };
    const [deliveries, listeners] = [this.#deliveries, this.#listeners];
    this.#owned = new OwnedPartitions({ db, boss, deliveries, listeners, link, actor, forward });
    this.#committer = new Committer({
      db,
      ring,
      fingerprint: fingerprinter(Buffer.from(options.fingerprintSecret)),
      partition: (id) => this.#owned.partition(id),
      signal: forward,
    });
    void this.#start();
  }

  async #start(): Promise<void> {
    await this.#boss.start();
    this.#timers.push(setInterval(() => void this.#poll(), LIMITS.poll_ms));
    this.#timers.push(setInterval(() => this.#report(), LIMITS.poll_ms));
    this.#timers.push(setInterval(() => void this.#measure(), LIMITS.measure_ms));
    this.main.onMessage((message) => this.#receive(message));
  }

  #receive(message: ToHost): void {
    switch (message.type) {
      case 'submit':
        void this.#submit(message);
        return;
      case 'signal':
        this.#owned.signal(message.signal);
        return;
      case 'own':
        for (const { id, epoch } of message.partitions) this.#owned.own(id, epoch);
        return;
      case 'disown':
        void this.#disown(message.partitions, message.fenced);
        return;
      case 'browser':
        this.#links[message.index]?.connect(message.port);
        return;
      case 'drain':
        void this.#drain();
        return;
      case 'crash':
        setImmediate(() => {
          throw new Error('thread told to crash');
        });
    }
  }

  async #submit({ request, submission }: Extract<ToHost, { type: 'submit' }>): Promise<void> {
    this.#counters.submitted++;
    try {
      const outcome = this.#draining ? ({ kind: 'draining' } as const) : await this.#committer.submit(submission);
      this.main.send({ type: 'submitted', request, outcome });
    } catch (error) {
      this.#log.error({ err: error }, 'submission could not be stored');
      this.main.send({ type: 'submitted', request, outcome: { kind: 'failed' } });
    }
  }

  async #disown(partitions: number[], fenced: boolean): Promise<void> {
    await Promise.all(partitions.map((id) => this.#owned.release(id, fenced)));
    this.main.send({ type: 'disowned', partitions });
  }

  #announce(operationId: string): void {
    if (this.#settled.push(operationId) > 1) return;
    setImmediate(() => this.main.send({ type: 'settled', operationIds: this.#settled.splice(0) }));
  }

  async #poll(): Promise<void> {
    if (!this.#lease.valid || this.#owned.ids.length === 0) return;
    try {
      await this.#owned.poll();
    } catch (error) {
      this.#log.warn({ err: error }, 'slow poll failed');
    }
  }

  async #measure(): Promise<void> {
    try {
      await this.#deliveries.measure();
    } catch (error) {
      this.#log.warn({ err: error }, 'the oldest delivery could not be looked for');
    }
  }

  #report(): void {
    const listeners = this.#listeners.size;
    const stats = { ...this.#counters, ...this.#owned.stats(), listeners, deliveries: this.#deliveries.stats() };
    this.main.send({ type: 'stats', stats });
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    await this.#committer.drained();
    await Promise.all(this.#owned.ids.map((id) => this.#owned.release(id, false)));
    for (const timer of this.#timers) clearInterval(timer);
    await this.#listeners.close();
    await this.#deliveries.close();
    await this.#boss.stop({ graceful: false });
    await Promise.all([this.#db.close(), this.#relaxed.close()]);
    this.main.send({ type: 'drained' });
    this.main.close();
    this.#finishDrain();
  }
}
