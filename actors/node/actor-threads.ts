import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Logger } from '../../storage/log/log.js';
import type { Outages } from '../../storage/log/outages.js';
import { partitionOf } from '../../storage/model/records.js';
import type { Tallied } from '../../storage/overview/tally.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import { Channel } from '../../storage/process/channel.js';
import { Deadline } from '../../storage/process/deadline.js';
import { LIMITS } from '../limits.js';
import type { FromHost, HostStats, ToHost } from '../messages.js';
import type { Hint, Submission, SubmitOutcome } from '../system.js';
import type { HostOptions } from '../thread/host-parts.js';
import { HandOvers } from './hand-overs.js';
import { PendingSubmissions } from './pending-submissions.js';
import { Supervisor } from './supervisor.js';

/** What the actor threads report to the node. */
export interface ActorThreadEvents {
  /** A thread runs, for the first time or again. It owns nothing yet. */
  started(index: number): void;
  /** For an owner in any thread or node. */
  hint(hint: Hint): void;
  /** A thread is in doubt of what it has in hand of this partition, these operations apart. */
  reconcile(partition: OwnedPartition, inHand: string[]): void;
  /** This operation became terminal or waits for its user. */
  awaitable(operationId: string): void;
  /** What happened in workspaces at a thread. */
  tallied(tallied: Tallied): void;
  /** The threads keep dying: none is started again. */
  failed(): void;
}

interface ActorThread {
  channel: Channel<ToHost, FromHost> | undefined;
  readonly submissions: PendingSubmissions;
  stats: HostStats | undefined;
  /** Since when nothing was heard of it: from its death until the thread that replaces it sends something. */
  goneSince: number | undefined;
  /** Looks in a row at which a running thread had sent nothing since the one before. */
  silentLooks: number;
  /** Something was heard of the thread that runs: it has loaded. */
  heard: boolean;
}

/**
 * The actor threads as the main thread sees them: each partition has its thread, by its number. Invariants: I1 a submission is
 * answered once, by its thread or by the thread's death; I2 while a thread is gone, what is sent to it is dropped: hints may be
 * lost, and partitions are sent again once it is back; I3 a thread that does not come back within a lease can run nothing; I4 a thread
 * that hangs is ended, and comes back like one that died. Its silence is counted in this thread's own looks: a process that was paused looked at nothing.
 */
export class ActorThreads {
  readonly #supervisor: Supervisor;
  readonly #threads: ActorThread[];
  readonly #handOvers = new HandOvers();
  readonly #log: Logger;
  readonly #outages: Outages | undefined;
  readonly #loaded = Promise.withResolvers<void>();
  #looks: NodeJS.Timeout | undefined;
  #failed = false;

  constructor(
    { pool, threads, restart_ms }: { pool: Piscina; threads: number; restart_ms?: number },
    log: Logger,
    outages: Outages | undefined,
    options: (index: number) => HostOptions,
  ) {
    this.#threads = Array.from({ length: threads }, () => ({
      channel: undefined,
      submissions: new PendingSubmissions(),
      stats: undefined,
      goneSince: undefined,
      silentLooks: 0,
      heard: false,
    }));
    this.#log = log;
    this.#outages = outages;
    this.#supervisor = new Supervisor({
      name: 'actors',
      pool,
      threads,
      log,
      restart_ms,
      task: (index, port) => ({ port, options: options(index) }),
    });
  }

  start(events: ActorThreadEvents): void {
    this.#looks = setInterval(() => this.#endSilent(), LIMITS.poll_ms);
    this.#supervisor.start({
      started: (index, port) => this.#started(index, port, events),
      died: (index) => this.#died(index),
      failed: () => {
        this.#failed = true;
        this.#loaded.resolve();
        events.failed();
      },
    });
  }

  /** Resolves once every thread has loaded, or none is started again. What is given to them before waits for that. */
  loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Threads that run now. */
  get running(): number {
    return this.#threads.filter(({ channel }) => channel !== undefined).length;
  }

  /** True while every thread runs and has loaded. */
  get whole(): boolean {
    return this.#threads.every(({ channel, heard }) => channel !== undefined && heard);
  }

  /** Threads that died and were replaced. */
  get restarts(): number {
    return this.#supervisor.restarts;
  }

  isRunning(index: number): boolean {
    return this.#threads[index]?.channel !== undefined;
  }

  stats(): HostStats[] {
    return this.#threads.flatMap(({ stats }) => stats ?? []);
  }

  threadOf(partition: number): number {
    return partition % this.#threads.length;
  }

  /** False when the thread of this partition is gone for good, or for longer than a lease (I3). */
  canRun(partition: number): boolean {
    const { goneSince } = this.#of(partition);
    return goneSince === undefined || (!this.#failed && performance.now() - goneSince < LIMITS.lease_ms);
  }

  submit(submission: Submission): Promise<SubmitOutcome> {
    const { submissions, channel } = this.#of(partitionOf(submission.connectionId));
    const send = (request: number) => channel?.send({ type: 'submit', request, submission }) === true;
    return submissions.add(send, submission.input_bytes);
  }

  /** True when the thread of this connection has as many submissions as it may. */
  crowded(connectionId: string): boolean {
    return this.#of(partitionOf(connectionId)).submissions.full;
  }

  /** Passes a hint to the thread that owns its partition here. */
  hint(hint: Hint): void {
    this.#of(partitionOf(hint.connectionId)).channel?.send({ type: 'hint', hint }); // I2
  }

  /** Connects an actor thread to a browser thread. The port is transferred. */
  connectBrowser(index: number, browser: number, port: MessagePort): void {
    this.#threads[index]?.channel?.send({ type: 'browser', index: browser, port }, [port]);
  }

  own(partitions: OwnedPartition[]): void {
    for (const [thread, own] of Map.groupBy(partitions, ({ id }) => this.threadOf(id))) {
      this.#threads[thread]?.channel?.send({ type: 'own', partitions: own });
    }
  }

  /** These were taken again: their threads go on with them under these epochs. */
  renewed(partitions: OwnedPartition[]): void {
    for (const [thread, renewed] of Map.groupBy(partitions, ({ id }) => this.threadOf(id))) {
      this.#threads[thread]?.channel?.send({ type: 'renewed', partitions: renewed });
    }
  }

  /** Hints may have been missed: every thread looks at everything. */
  poll(): void {
    for (const { channel } of this.#threads) channel?.send({ type: 'poll' });
  }

  /** These were lost: nothing more of them is stored. */
  fence(partitions: number[]): void {
    this.#disown(partitions, true);
  }

  /** Resolves when nothing of this one runs any more, or the time for it is over: then the next owner's recovery ends the rest. */
  async giveUp(partition: number): Promise<void> {
    this.#disown([partition], false);
    await Deadline.within(LIMITS.drain_ms, this.#handOvers.quiet(partition)).catch(() => {});
  }

  /** Lets the threads end what they hold; resolves when they have ended, at the latest LIMITS.thread_drain_ms from now. */
  async drained(): Promise<void> {
    clearInterval(this.#looks);
    for (const { channel } of this.#threads) channel?.send({ type: 'drain' });
    await this.#supervisor.drained(LIMITS.thread_drain_ms);
  }

  /** Chaos only: makes a thread throw, or hang. */
  crash(index: number, how: 'crash' | 'hang'): void {
    this.#threads[index]?.channel?.send({ type: how });
  }

  #of(partition: number): ActorThread {
    return this.#threads[this.threadOf(partition)] as ActorThread;
  }

  #disown(partitions: number[], fenced: boolean): void {
    for (const [thread, ids] of Map.groupBy(partitions, (id) => this.threadOf(id))) {
      const sent = this.#threads[thread]?.channel?.send({ type: 'disown', partitions: ids, fenced });
      if (sent) for (const id of ids) this.#handOvers.ordered(id);
    }
  }

  #started(index: number, port: MessagePort, events: ActorThreadEvents): void {
    const thread = this.#threads[index] as ActorThread;
    const channel = new Channel<ToHost, FromHost>(port, Number.POSITIVE_INFINITY);
    thread.channel = channel;
    thread.silentLooks = 0;
    thread.heard = false;
    channel.onMessage((message) => {
      thread.goneSince = undefined;
      thread.silentLooks = 0;
      if (message.type === 'database') this.#database(index, message.lost);
      else this.#receive(thread, message, events);
      if (!thread.heard) this.#heard(thread);
    });
    events.started(index);
  }

  #heard(thread: ActorThread): void {
    thread.heard = true;
    if (this.#threads.every(({ heard }) => heard)) this.#loaded.resolve();
  }

  /** I4 */
  #endSilent(): void {
    for (const [index, thread] of this.#threads.entries()) {
      const limit_ms = thread.heard ? LIMITS.silent_thread_ms : LIMITS.silent_start_ms;
      if (!thread.channel || ++thread.silentLooks * LIMITS.poll_ms < limit_ms) continue;
      thread.silentLooks = 0;
      this.#log.error({ thread: `actors-${index}` }, 'thread: it does not answer and is ended');
      this.#supervisor.end(index);
    }
  }

  #died(index: number): void {
    const thread = this.#threads[index] as ActorThread;
    thread.channel = undefined;
    this.#outages?.ended(poolOf(index));
    thread.goneSince ??= performance.now();
    thread.submissions.fail(); // I1
    this.#handOvers.gone((partition) => this.threadOf(partition) === index);
  }

  #database(index: number, lost: string | undefined): void {
    if (lost === undefined) this.#outages?.ended(poolOf(index));
    else this.#outages?.began(poolOf(index), lost);
  }

  #receive(thread: ActorThread, message: Exclude<FromHost, { type: 'database' }>, events: ActorThreadEvents): void {
    switch (message.type) {
      case 'submitted':
        thread.submissions.answer(message.request, message.outcome); // I1
        return;
      case 'awaitable':
        for (const id of message.operationIds) events.awaitable(id);
        return;
      case 'tallied':
        events.tallied(message.tallied);
        return;
      case 'hint':
        events.hint(message.hint);
        return;
      case 'disowned':
        for (const id of message.partitions) this.#handOvers.answered(id);
        return;
      case 'reconcile':
        events.reconcile({ id: message.partition, epoch: message.epoch }, message.inHand);
        return;
      case 'stats':
        thread.stats = message.stats;
        return;
      case 'drained':
        thread.channel = undefined;
        return;
      default:
        message satisfies never;
    }
  }
}

const poolOf = (index: number): string => `actors-${index}`;
