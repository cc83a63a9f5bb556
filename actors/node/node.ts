import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { Channel } from '../../browser-pool/channel.js';
import type { BrowserHostOptions, FromBrowserHost, ToBrowserHost } from '../../browser-pool/host.js';
import type { BrowserStats } from '../../browser-pool/messages.js';
import type { Logger, LogOptions } from '../../storage/log.js';
import { partitionOf } from '../../storage/model/records.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { type EncryptionKey, keyRing } from '../../storage/secrets/encryption.js';
import type { HostOptions } from '../host.js';
import { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { FromHost, HostStats, ToHost } from '../messages.js';
import type { ActorSystem, Hint, Submission, SubmitOutcome, SystemStatus } from '../system.js';
import { Bus } from './bus.js';
import { Ownership } from './ownership.js';
import { connectionsPerThread, Supervisor } from './supervisor.js';
import { Waiters } from './waiters.js';

/** What a node is made of; plain settings, and the main thread's database. */
export interface NodeOptions {
  db: Database;
  databaseUrl: string;
  encryptionKeys: EncryptionKey[];
  fingerprintSecret: Buffer;
  actorThreads: number;
  browserThreads: number;
  browser: Omit<BrowserHostOptions, 'thread' | 'log'>;
  deliveries: HostOptions['deliveries'];
  log: Logger;
  logOptions: LogOptions;
}

export interface Node extends ActorSystem {
  /** Counters of every thread, for metrics. */
  stats(): { hosts: HostStats[]; browsers: BrowserStats[] };
  /** Submissions end, running operations get time to end, partitions are handed over, threads and browsers close. */
  stop(): Promise<void>;
  /** Chaos only: makes an actor thread throw. */
  crashThread(index: number): void;
}

/** Starts this process's part of the actor system: threads, ownership, signals. Resolves once it owns its share. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const node = new NodeSystem(options);
  await node.start();
  return node;
}

class NodeSystem implements Node {
  readonly log: Logger;
  readonly #options: NodeOptions;
  readonly #lease = new LeaseCell();
  readonly #ownership: Ownership;
  readonly #bus: Bus;
  readonly #waiters = new Waiters();
  readonly #actors: Supervisor;
  readonly #browsers: Supervisor;
  readonly #hostLines: (Channel<ToHost, FromHost> | undefined)[] = [];
  readonly #browserLines: (Channel<ToBrowserHost, FromBrowserHost> | undefined)[] = [];
  readonly #hostStats: HostStats[] = [];
  readonly #browserStats: BrowserStats[] = [];
  readonly #submitting: Map<number, (outcome: SubmitOutcome) => void>[];
  readonly #disowning = new Map<number, () => void>();
  #request = 0;
  #state: SystemStatus['state'] = 'starting';

  constructor(options: NodeOptions) {
    this.#options = options;
    this.log = options.log;
    this.#submitting = Array.from({ length: options.actorThreads }, () => new Map());
    this.#ownership = new Ownership({
      db: options.db,
      nodeId: randomUUID(),
      lease: this.#lease,
      log: options.log,
      own: (partitions) => this.#tellOwners(partitions),
      lost: (partitions) => this.#tellDisowned(partitions, true),
      giveUp: (partitions) => this.#giveUp(partitions),
    });
    this.#bus = new Bus({
      db: options.db,
      databaseUrl: options.databaseUrl,
      ring: keyRing(options.encryptionKeys),
      log: options.log,
      receive: (signal) => this.#deliver(signal),
    });
    const failed = () => {
      this.#state = 'failed';
    };
    this.#actors = new Supervisor({
      name: 'actors',
      filename: new URL('../host.js', import.meta.url).href,
      threads: options.actorThreads,
      log: options.log,
      task: (index, port) => ({ argument: { port, options: this.#hostOptions(index) }, transfer: [] }),
      started: (index, port) => this.#hostStarted(index, new Channel<ToHost, FromHost>(port, Number.POSITIVE_INFINITY)),
      died: (index) => this.#hostDied(index),
      failed,
    });
    this.#browsers = new Supervisor({
      name: 'browsers',
      filename: new URL('../../browser-pool/host.js', import.meta.url).href,
      threads: options.browserThreads,
      log: options.log,
      task: (index, port) => ({
        argument: {
          control: port,
          actors: [],
          options: { ...options.browser, thread: index, log: options.logOptions } satisfies BrowserHostOptions,
        },
        transfer: [],
      }),
      started: (index, port) => this.#browserStarted(index, new Channel<ToBrowserHost, FromBrowserHost>(port)),
      died: (index) => {
        this.#browserLines[index] = undefined;
      },
      failed,
    });
  }

  async start(): Promise<void> {
    this.#actors.start();
    this.#browsers.start();
    await this.#bus.listen();
    await this.#ownership.start();
    this.#state = 'running';
  }

  submit(submission: Submission): Promise<SubmitOutcome> {
    if (this.#state === 'draining') return Promise.resolve({ kind: 'draining' });
    const thread = this.#threadOf(partitionOf(submission.connectionId));
    const waiting = this.#submitting[thread] as Map<number, (outcome: SubmitOutcome) => void>;
    if (waiting.size >= LIMITS.committer_submissions) return Promise.resolve({ kind: 'overloaded' });
    const request = this.#request++;
    return new Promise((resolve) => {
      waiting.set(request, resolve);
      if (!this.#hostLines[thread]?.send({ type: 'submit', request, submission })) {
        waiting.delete(request);
        resolve({ kind: 'failed' });
      }
    });
  }

  signal(signal: Hint): void {
    if (this.#ownership.owns(partitionOf(signal.connectionId))) this.#deliver(signal);
    else this.#bus.send(signal);
  }

  async settled(operationId: string, timeout_ms: number): Promise<void> {
    await this.#waiters.wait(operationId, Math.min(timeout_ms, LIMITS.remote_poll_ms));
  }

  status(): SystemStatus {
    return {
      state: this.#state,
      partitions: this.#ownership.partitions.length,
      actorThreads: this.#hostLines.filter((line) => line !== undefined).length,
      browserThreads: this.#browserLines.filter((line) => line !== undefined).length,
    };
  }

  stats(): { hosts: HostStats[]; browsers: BrowserStats[] } {
    return { hosts: this.#hostStats.filter(Boolean), browsers: this.#browserStats.filter(Boolean) };
  }

  crashThread(index: number): void {
    this.#hostLines[index]?.send({ type: 'crash' });
  }

  async stop(): Promise<void> {
    this.#state = 'draining';
    await this.#ownership.stop();
    for (const line of this.#hostLines) line?.send({ type: 'drain' });
    await this.#actors.drained();
    for (const line of this.#browserLines) line?.send({ type: 'drain', grace_ms: 0 });
    await this.#browsers.drained();
    await this.#bus.close();
  }

  #hostOptions(index: number): HostOptions {
    const { databaseUrl, encryptionKeys, fingerprintSecret, actorThreads, browserThreads, browser } = this.#options;
    const { deliveries, logOptions } = this.#options;
    return {
      index,
      databaseUrl,
      databaseConnections: connectionsPerThread(actorThreads),
      encryptionKeys,
      fingerprintSecret,
      lease: this.#lease.shared,
      log: logOptions,
      browserThreads,
      deliveries: { ...deliveries, concurrency: Math.max(1, Math.ceil(deliveries.concurrency / actorThreads)) },
      site: browser.site,
    };
  }

  #threadOf(partition: number): number {
    return partition % this.#options.actorThreads;
  }

  #hostStarted(index: number, line: Channel<ToHost, FromHost>): void {
    this.#hostLines[index] = line;
    line.onMessage((message) => this.#fromHost(index, message));
    for (let browser = 0; browser < this.#options.browserThreads; browser++) this.#connect(index, browser);
    const partitions = this.#ownership.partitions.filter((id) => this.#threadOf(id) === index);
    if (partitions.length > 0) void this.#retake(partitions);
  }

  async #retake(partitions: number[]): Promise<void> {
    for (;;) {
      try {
        return await this.#ownership.retake(partitions);
      } catch (error) {
        this.log.error({ err: error }, 'partitions of a restarted thread could not be recovered, trying again');
        await delay(LIMITS.retry_ms);
      }
    }
  }

  #hostDied(index: number): void {
    this.#hostLines[index] = undefined;
    const waiting = this.#submitting[index] as Map<number, (outcome: SubmitOutcome) => void>;
    for (const resolve of waiting.values()) resolve({ kind: 'failed' });
    waiting.clear();
  }

  #browserStarted(index: number, line: Channel<ToBrowserHost, FromBrowserHost>): void {
    this.#browserLines[index] = line;
    line.onMessage((message) => {
      if (message.type === 'stats') this.#browserStats[index] = message.stats;
    });
    for (let host = 0; host < this.#options.actorThreads; host++) this.#connect(host, index);
  }

  /** A direct line between an actor host and a browser host, once both are there. */
  #connect(host: number, browser: number): void {
    const [actorLine, browserLine] = [this.#hostLines[host], this.#browserLines[browser]];
    if (!actorLine || !browserLine) return;
    const { port1, port2 } = new MessageChannel();
    actorLine.send({ type: 'browser', index: browser, port: port1 }, [port1]);
    browserLine.send({ type: 'connect', port: port2 }, [port2]);
  }

  #fromHost(index: number, message: FromHost): void {
    switch (message.type) {
      case 'submitted': {
        const waiting = this.#submitting[index];
        waiting?.get(message.request)?.(message.outcome);
        waiting?.delete(message.request);
        return;
      }
      case 'settled':
        for (const id of message.operationIds) this.#waiters.wake(id);
        return;
      case 'signal':
        this.signal(message.signal);
        return;
      case 'disowned':
        for (const id of message.partitions) this.#disowning.get(id)?.();
        return;
      case 'stats':
        this.#hostStats[index] = message.stats;
        return;
      case 'drained':
        this.#hostLines[index] = undefined;
    }
  }

  #deliver(signal: Hint): void {
    const partition = partitionOf(signal.connectionId);
    if (this.#ownership.owns(partition)) this.#hostLines[this.#threadOf(partition)]?.send({ type: 'signal', signal });
  }

  #tellOwners(partitions: OwnedPartition[]): void {
    for (const [thread, own] of Map.groupBy(partitions, ({ id }) => this.#threadOf(id))) {
      this.#hostLines[thread]?.send({ type: 'own', partitions: own });
    }
  }

  #tellDisowned(partitions: number[], fenced: boolean): void {
    for (const [thread, ids] of Map.groupBy(partitions, (id) => this.#threadOf(id))) {
      this.#hostLines[thread]?.send({ type: 'disown', partitions: ids, fenced });
    }
  }

  /** Resolves when nothing of these runs any more, or the time for it is over: then the next owner settles the rest. */
  async #giveUp(partitions: number[]): Promise<void> {
    const reachable = partitions.filter((id) => this.#hostLines[this.#threadOf(id)]);
    const ended = reachable.map((id) => new Promise<void>((resolve) => this.#disowning.set(id, resolve)));
    this.#tellDisowned(reachable, false);
    const timeout = new AbortController();
    await Promise.race([
      Promise.all(ended),
      delay(LIMITS.drain_ms, undefined, { signal: timeout.signal }).catch(() => {}),
    ]);
    timeout.abort();
    for (const id of reachable) this.#disowning.delete(id);
    this.#tellDisowned(reachable, true);
  }
}
