import type { MessagePort } from 'node:worker_threads';
import type { PgBoss } from 'pg-boss';
import { Channel } from '../browser-pool/channel.js';
import type { Site } from '../browser-pool/social/site.js';
import { type Database, openDatabase } from '../storage/database.js';
import { type EncryptionKey, fingerprinter, type KeyRing, keyRing } from '../storage/encryption.js';
import type { RecordedEvent } from '../storage/events-record.js';
import { cancelsRequested } from '../storage/execution.js';
import { dueQueues, openQueues } from '../storage/jobs.js';
import { createLogger, type Logger, type LogOptions } from '../storage/log.js';
import { partitionOf } from '../storage/records.js';
import { Committer } from './committer.js';
import type { ActorContext } from './connection-actor.js';
import type { DeliverySettings } from './deliveries/thread.js';
import { type Deliveries, openDeliveries } from './deliveries/thread.js';
import type { ProviderRuntime } from './execution.js';
import { LeaseCell } from './lease.js';
import { LIMITS } from './limits.js';
import type { FromHost, ToHost } from './messages.js';
import { OperationBatches } from './operation-batches.js';
import { Partition } from './partition.js';
import { createSimulatedProvider } from './simulated/provider.js';
import { BrowserLink } from './social/browser-link.js';
import { Listeners } from './social/listeners.js';
import { createSocialRuntime } from './social/runtime.js';
import type { Signal } from './system.js';

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

interface Owned {
  partition: Partition;
  deliveries: ReturnType<Deliveries['own']>;
}

class Host {
  readonly drained: Promise<void>;
  #finishDrain!: () => void;
  readonly #log: Logger;
  readonly #db: Database;
  readonly #boss: PgBoss;
  readonly #lease: LeaseCell;
  readonly #owned = new Map<number, Owned>();
  readonly #committer: Committer;
  readonly #batches: OperationBatches;
  readonly #deliveries: Deliveries;
  readonly #listeners: Listeners;
  readonly #links: BrowserLink[];
  readonly #providers: Record<'social' | 'simulated', ProviderRuntime>;
  readonly #context: Omit<ActorContext, 'load' | 'idle'>;
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
    this.#db = openDatabase({
      url: options.databaseUrl,
      maxConnections: options.databaseConnections,
      applicationName: `connection-service actors-${options.index}`,
      onError,
    });
    this.#boss = openQueues(this.#db, false, onError);
    this.#links = Array.from({ length: options.browserThreads }, () => new BrowserLink());
    this.#batches = new OperationBatches(this.#db, (events) => this.#recorded(events));
    this.#providers = {
      simulated: createSimulatedProvider({ db: this.#db, clock: Date.now }),
      social: createSocialRuntime({ db: this.#db, ring, link: (partition) => this.#link(partition) }),
    };
    this.#deliveries = openDeliveries(options.deliveries, {
      db: this.#db,
      ring,
      boss: this.#boss,
      lease: this.#lease,
      log: this.#log,
    });
    this.#listeners = new Listeners(options.site, {
      db: this.#db,
      ring,
      log: this.#log,
      recorded: (events) => this.#recorded(events),
    });
    this.#context = {
      db: this.#db,
      batches: this.#batches,
      ring,
      lease: this.#lease,
      log: this.#log,
      providers: this.#providers,
      counters: this.#counters,
      settled: (operationId) => this.#announce(operationId),
      changed: (connectionId) => this.#connectionChanged(connectionId),
    };
    this.#committer = new Committer({
      db: this.#db,
      ring,
      fingerprint: fingerprinter(Buffer.from(options.fingerprintSecret)),
      partition: (id) => this.#owned.get(id)?.partition,
      signal: (signal) => this.main.send({ type: 'signal', signal }),
    });
    void this.#start();
  }

  async #start(): Promise<void> {
    await this.#boss.start();
    this.#timers.push(setInterval(() => void this.#poll(), LIMITS.poll_ms));
    this.#timers.push(setInterval(() => this.#report(), LIMITS.poll_ms));
    this.main.onMessage((message) => this.#receive(message));
  }

  #receive(message: ToHost): void {
    switch (message.type) {
      case 'submit':
        void this.#submit(message);
        return;
      case 'signal':
        this.#signal(message.signal);
        return;
      case 'own':
        for (const { id, epoch } of message.partitions) this.#own(id, epoch);
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

  #own(id: number, epoch: number): void {
    if (this.#owned.get(id)?.partition.epoch === epoch) return;
    void this.#release(id, true);
    const partition = new Partition(id, epoch, this.#db, this.#boss, this.#context);
    const deliveries = this.#deliveries.own(id, epoch);
    this.#owned.set(id, { partition, deliveries });
    void partition.fetch();
    void deliveries.wake();
    void this.#listeners.own(id, epoch);
  }

  async #disown(partitions: number[], fenced: boolean): Promise<void> {
    await Promise.all(partitions.map((id) => this.#release(id, fenced)));
    this.main.send({ type: 'disowned', partitions });
  }

  /** Lets a partition go: at once when it is fenced, else when what runs in it has ended. */
  async #release(id: number, fenced: boolean): Promise<void> {
    const owned = this.#owned.get(id);
    if (!owned) return;
    if (fenced) {
      this.#owned.delete(id);
      owned.partition.drop();
    }
    void this.#listeners.disown(id);
    if (!fenced) await Promise.all([owned.partition.stop(), this.#deliveries.settle(id)]);
    this.#deliveries.disown(id);
    if (this.#owned.get(id) === owned) this.#owned.delete(id);
  }

  #link(partition: number): BrowserLink {
    return this.#links[partition % this.#links.length] as BrowserLink;
  }

  #signal(signal: Signal): void {
    const partition = partitionOf(signal.connectionId);
    const owned = this.#owned.get(partition);
    if (!owned) return;
    switch (signal.type) {
      case 'cancel':
        owned.partition.actor(signal.connectionId)?.cancel(signal.operationId);
        return;
      case 'code':
        owned.partition.actor(signal.connectionId)?.code(signal.operationId, signal.challengeId, signal.code);
        return;
      case 'connection':
        this.#link(partition).send({ type: 'close', connectionId: signal.connectionId });
        this.#connectionChanged(signal.connectionId);
        return;
      case 'operations':
        owned.partition.queueGrew();
        return;
      case 'deliveries':
        void owned.deliveries.wake();
    }
  }

  #connectionChanged(connectionId: string): void {
    void this.#listeners.look(connectionId);
  }

  /** New events are committed: wake the deliveries of their partitions, here or elsewhere. */
  #recorded(events: RecordedEvent[]): void {
    const woken = new Set<number>();
    for (const { partition, deliveries, connectionId } of events) {
      if (deliveries === 0 || woken.has(partition)) continue;
      woken.add(partition);
      const owned = this.#owned.get(partition);
      if (owned) void owned.deliveries.wake();
      else this.main.send({ type: 'signal', signal: { type: 'deliveries', connectionId } });
    }
  }

  #announce(operationId: string): void {
    if (this.#settled.push(operationId) > 1) return;
    setImmediate(() => this.main.send({ type: 'settled', operationIds: this.#settled.splice(0) }));
  }

  async #poll(): Promise<void> {
    if (!this.#lease.valid || this.#owned.size === 0) return;
    try {
      for (const { queue, partition } of await dueQueues(this.#db, [...this.#owned.keys()])) {
        const owned = this.#owned.get(partition);
        if (queue === 'operation') void owned?.partition.fetch();
        else void owned?.deliveries.wake();
      }
      await this.#pollCancels();
    } catch (error) {
      this.#log.warn({ err: error }, 'slow poll failed');
    }
  }

  /** The poll behind a cancel whose signal was lost. */
  async #pollCancels(): Promise<void> {
    const waiting = new Map<string, () => void>();
    for (const { partition } of this.#owned.values()) {
      for (const actor of partition.actors()) {
        const id = actor.waitingForUser;
        if (id) waiting.set(id, () => actor.cancel(id));
      }
    }
    if (waiting.size === 0) return;
    for (const id of await cancelsRequested(this.#db, [...waiting.keys()])) waiting.get(id)?.();
  }

  #report(): void {
    const partitions = [...this.#owned.values()].map((owned) => owned.partition);
    const sum = (of: (partition: Partition) => number) => partitions.reduce((total, one) => total + of(one), 0);
    this.main.send({
      type: 'stats',
      stats: {
        ...this.#counters,
        connections: sum((one) => one.size),
        queued: sum((one) => one.waiting),
        running: sum((one) => one.running),
        listeners: this.#listeners.size,
        deliveries: this.#deliveries.stats(),
      },
    });
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    await this.#committer.drained();
    await Promise.all([...this.#owned.keys()].map((id) => this.#release(id, false)));
    for (const timer of this.#timers) clearInterval(timer);
    await this.#listeners.close();
    await this.#deliveries.close();
    await this.#boss.stop({ graceful: false });
    await this.#db.close();
    this.main.send({ type: 'drained' });
    this.main.close();
    this.#finishDrain();
  }
}
