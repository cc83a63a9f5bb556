import { randomUUID } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';
import type { BrowserStats } from '../../browser-pool/messages.js';
import type { Logger } from '../../storage/log/log.js';
import { LogLines } from '../../storage/log/log-lines.js';
import { partitionOf } from '../../storage/model/records.js';
import { isAwaitable } from '../../storage/model/transitions.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import { keyRing } from '../../storage/secrets/encryption.js';
import { operationEnds } from '../../storage/tracing/ended-operations.js';
import { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { HostStats } from '../messages.js';
import type {
  ActorSystem,
  AwaitedOperation,
  Hint,
  NodeNeed,
  Submission,
  SubmitOutcome,
  SystemStatus,
} from '../system.js';
import { ActorThreads } from './actor-threads.js';
import { Backlogs } from './backlogs.js';
import { BrowserThreads } from './browser-threads.js';
import { Bus } from './bus.js';
import { browserHostOptions, hostOptions, type NodeOptions } from './node-options.js';
import { Ownership } from './ownership.js';
import { RemoteWaits } from './remote-waits.js';
import { openThreadPools } from './thread-pools.js';
import { Waiters } from './waiters.js';

export interface NodeStats {
  hosts: HostStats[];
  browsers: BrowserStats[];
  /** Threads that died and were replaced. */
  threadRestarts: number;
}

export interface Node extends ActorSystem {
  readonly id: string;
  /** Counters of every thread, for metrics. */
  stats(): NodeStats;
  /** Submissions end, running operations get time to end, partitions are handed over, threads and browsers close. */
  stop(): Promise<void>;
  /** Chaos only: makes an actor thread throw, or hang. */
  crashThread(index: number, how?: 'crash' | 'hang'): void;
}

/** Starts this process's part of the actor system: threads, ownership, hints. Resolves once it owns its share. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const node = openNode(options);
  await node.start();
  return node;
}

/** The same, to be started: it can be stopped while it starts. */
export function openNode(options: NodeOptions): Node & { start(): Promise<void> } {
  return new NodeSystem(options);
}

interface NodeState {
  kind: SystemStatus['state'];
}

const STEPS: Steps<NodeState['kind']> = {
  starting: ['running', 'failed', 'draining'],
  running: ['failed', 'draining'],
  failed: ['draining'],
  draining: [],
};

/**
 * One node: its threads, the partitions they own, and the hints between nodes.
 *
 *     starting ─ threads run, partitions are claimed ─▶ running ─ stop ─▶ draining
 *         └──────── threads keep dying ──────────────────┴─▶ failed ─ stop ─▶ draining
 *
 * Invariants: I1 a hint is passed to a thread only while this node owns its partition, and to the other nodes otherwise; I2 a
 * thread that comes back owns nothing until its partitions are retaken, recovered, under their next epochs; I3 a node that has
 * failed owns nothing.
 */
class NodeSystem implements Node {
  readonly id = randomUUID();
  readonly log: Logger;
  readonly #options: NodeOptions;
  readonly #lease = new LeaseCell();
  readonly #waiters = new Waiters();
  readonly #actors: ActorThreads;
  readonly #browsers: BrowserThreads;
  readonly #ownership: Ownership;
  readonly #backlogs: Backlogs;
  readonly #bus: Bus;
  readonly #remoteWaits: RemoteWaits;
  /** Until then the threads without which there is no node have the processor. */
  readonly #started = Promise.withResolvers<void>();
  #state: NodeState = { kind: 'starting' };

  constructor(options: NodeOptions) {
    const { control: db, log, databaseUrl, encryptionKeys, workspaceOperations } = options;
    const nodeId = this.id;
    this.log = log;
    this.#options = options;
    const host = (index: number) => hostOptions(options, nodeId, this.#lease, index);
    const { actorThreads, browserThreads, pools = openThreadPools(options) } = options;
    const actors = new ActorThreads({ pool: pools.actors, threads: actorThreads }, log, options.outages, host);
    this.#actors = actors;
    const browser = (index: number) => browserHostOptions(options, index);
    const after = this.#started.promise;
    this.#browsers = new BrowserThreads({ pool: pools.browsers, threads: browserThreads, after }, log, browser);
    const ended = operationEnds(new LogLines(log, options.logOptions.sample), options.tracing);
    this.#ownership = new Ownership({
      ...{ db, log, nodeId, lease: this.#lease },
      own: (partitions) => actors.own(partitions),
      renewed: (partitions) => actors.renewed(partitions),
      lost: (partitions) => actors.fence(partitions),
      giveUp: (partition) => actors.giveUp(partition),
      ended: (operations) => {
        for (const operation of operations) {
          options.tally?.ended(operation);
          ended(operation);
        }
      },
      runnable: (partition) => actors.canRun(partition),
    });
    this.#backlogs = new Backlogs({
      ...{ db, log, nodeId, workspaceOperations },
      own: () => actors.stats().flatMap(({ backlogs }) => backlogs),
    });
    this.#bus = new Bus({ db, nodeId, log, databaseUrl, ring: keyRing(encryptionKeys) });
    this.#remoteWaits = new RemoteWaits(db, (node, operationId) => this.#bus.wake(node, operationId));
  }

  /** Resolves once it owns its share. Rejects when it is stopped before. */
  async start(): Promise<void> {
    const failed = () => this.#fail();
    this.#actors.start({
      started: (index) => this.#actorThreadStarted(index),
      hint: (hint) => this.hint(hint),
      reconcile: (partition, inHand) => void this.#ownership.reconcile(partition, inHand),
      awaitable: (operationId) => {
        this.#waiters.wake(operationId);
        this.#remoteWaits.ended(operationId);
      },
      tallied: (tallied) => this.#options.tally?.add(tallied),
      failed,
    });
    this.#browsers.start({
      started: (index) => {
        for (let actor = 0; actor < this.#options.actorThreads; actor++) this.#connect(actor, index);
      },
      failed,
    });
    const listens = this.#bus.listen({
      hint: (hint) => this.#receive(hint),
      awaited: (wait) => {
        if (this.#owns(wait)) this.#remoteWaits.add(wait);
      },
      woken: (operationId) => this.#waiters.wake(operationId),
      gap: () => this.#actors.poll(),
    });
    await Promise.all([listens, this.#actors.loaded()]); // nothing is taken, neither partitions nor requests, before there are threads to run it
    await this.#ownership.start();
    if (this.#state.kind === 'draining') throw new Error('the node was stopped while it started');
    this.#backlogs.start();
    if (this.#state.kind === 'starting') this.#enter({ kind: 'running' });
    this.#started.resolve();
  }

  submit(submission: Submission): Promise<SubmitOutcome> {
    if (this.#state.kind === 'draining') return Promise.resolve({ kind: 'draining' });
    const what = this.#backlogs.full(submission);
    return what ? Promise.resolve({ kind: 'overloaded', what }) : this.#actors.submit(submission);
  }

  crowded(connectionId: string): boolean {
    return this.#actors.crowded(connectionId);
  }

  hint(hint: Hint): void {
    if (this.#owns(hint))
      this.#actors.hint(hint); // I1
    else this.#bus.send(hint);
  }

  get wakeUps(): number {
    return this.#waiters.wakeUps;
  }

  awaitable({ id, connection_id, status }: AwaitedOperation, after: number, timeout_ms: number): Promise<void> {
    const wait = { operationId: id, connectionId: connection_id, settled: isAwaitable(status) };
    if (!this.#owns(wait)) this.#bus.announce(wait);
    return this.#waiters.wait(id, after, Math.min(timeout_ms, LIMITS.remote_poll_ms));
  }

  status(): SystemStatus {
    return {
      state: this.#state.kind,
      partitions: this.#ownership.partitions.length,
      actorThreads: this.#actors.running,
      browserThreads: this.#browsers.running,
      lacks: this.#lacks(),
    };
  }

  #lacks(): NodeNeed[] {
    const lacks: NodeNeed[] = [];
    if (!this.#ownership.current) lacks.push('leases');
    if (!this.#actors.whole) lacks.push('actor_threads');
    if (this.#browsers.running < this.#options.browserThreads) lacks.push('browser_threads');
    return lacks;
  }

  stats(): NodeStats {
    return {
      hosts: this.#actors.stats(),
      browsers: this.#browsers.stats(),
      threadRestarts: this.#actors.restarts + this.#browsers.restarts,
    };
  }

  crashThread(index: number, how: 'crash' | 'hang' = 'crash'): void {
    this.#actors.crash(index, how);
  }

  async stop(): Promise<void> {
    this.#enter({ kind: 'draining' });
    this.#started.resolve();
    await this.#ownership.leave();
    await this.#backlogs.stop();
    await this.#actors.drained();
    await this.#browsers.drained();
    this.#bus.close();
  }

  #enter(state: NodeState): void {
    checkStep('the node', STEPS, this.#state.kind, state.kind);
    this.#state = state;
    this.#options.onState?.(state.kind);
  }

  /** The node can run nothing more: others take its partitions (I3). */
  #fail(): void {
    if (this.#state.kind === 'failed' || this.#state.kind === 'draining') return;
    this.#enter({ kind: 'failed' });
    void this.#ownership.leave();
  }

  #owns({ connectionId }: Pick<Hint, 'connectionId'>): boolean {
    return this.#ownership.owns(partitionOf(connectionId));
  }

  /** A hint of another node: every node gets it, its owner takes it. */
  #receive(hint: Hint): void {
    if (this.#owns(hint)) this.#actors.hint(hint); // I1
  }

  #actorThreadStarted(index: number): void {
    for (let browser = 0; browser < this.#options.browserThreads; browser++) this.#connect(index, browser);
    const partitions = this.#ownership.partitions.filter((id) => this.#actors.threadOf(id) === index);
    void this.#ownership.restart(partitions); // I2
  }

  /** A direct channel between an actor thread and a browser thread, once both run. */
  #connect(actor: number, browser: number): void {
    if (!this.#actors.isRunning(actor) || !this.#browsers.isRunning(browser)) return;
    const { port1, port2 } = new MessageChannel();
    this.#actors.connectBrowser(actor, browser, port1);
    this.#browsers.connectActors(browser, port2);
  }
}
