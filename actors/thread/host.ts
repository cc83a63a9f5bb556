import type { MessagePort } from 'node:worker_threads';
import { createLogger } from '../../storage/log/log.js';
import { Channel } from '../../storage/process/channel.js';
import { EventLoopLag } from '../../storage/process/event-loop-lag.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import { openTracing } from '../../storage/tracing/open-tracing.js';
import { LIMITS } from '../limits.js';
import type { FromHost, HostStats, ToHost } from '../messages.js';
import { type HostOptions, type HostParts, openHostParts, threadName } from './host-parts.js';
import { HostReports } from './host-reports.js';

/** The argument of the task; the port is transferred. */
export interface HostTask {
  port: MessagePort;
  options: HostOptions;
}

/** The piscina task. Resolves after a drain; anything thrown ends the thread, and the supervisor starts another. */
export default async function runHost({ port, options }: HostTask): Promise<void> {
  const thread = threadName(options);
  const log = createLogger(options.log, { thread });
  const tracing = await openTracing(options.tracing, thread, log);
  const channel = new Channel<FromHost, ToHost>(port, Number.POSITIVE_INFINITY);
  await new Host(channel, openHostParts(options, new HostReports(channel), { log, tracing })).run();
}

interface HostState {
  kind: 'serving' | 'draining' | 'drained';
}

const STEPS: Steps<HostState['kind']> = {
  serving: ['draining'],
  draining: ['drained'],
  drained: [],
};

/**
 * One thread of the actor system: a single long-lived piscina task. It owns the partitions that the main thread gives it, with
 * their connection actors, deliveries and listeners, and the committer of every submission that is routed to it.
 *
 *     serving ─ drain ─▶ draining (refuses submissions) ─ nothing runs, all closed ─▶ drained
 */
class Host {
  readonly #channel: Channel<FromHost, ToHost>;
  readonly #parts: HostParts;
  readonly #drained = Promise.withResolvers<void>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #lag = new EventLoopLag();
  #soon: NodeJS.Timeout | undefined;
  #polling = false;
  #state: HostState = { kind: 'serving' };

  constructor(channel: Channel<FromHost, ToHost>, parts: HostParts) {
    this.#channel = channel;
    this.#parts = parts;
  }

  /** Serves until it was drained. */
  run(): Promise<void> {
    this.#timers.push(setInterval(() => void this.#poll(), LIMITS.poll_ms));
    this.#timers.push(setInterval(() => this.#report(), LIMITS.poll_ms));
    this.#timers.push(setInterval(() => void this.#measure(), LIMITS.measure_ms));
    this.#channel.onMessage((message) => this.#receive(message));
    this.#report(); // the first that is heard of this thread: it has loaded
    return this.#drained.promise;
  }

  #enter(state: HostState): void {
    checkStep('an actor host', STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  #receive(message: ToHost): void {
    const { owner, links } = this.#parts;
    switch (message.type) {
      case 'submit':
        void this.#submit(message);
        return;
      case 'hint':
        owner.hint(message.hint);
        return;
      case 'own':
        owner.own(message.partitions);
        this.#measureSoon();
        return;
      case 'disown':
        void this.#disown(message.partitions, message.fenced);
        return;
      case 'renewed':
        for (const partition of message.partitions) owner.renewed(partition);
        return;
      case 'poll':
        void this.#poll();
        void this.#parts.listeners.lookAll();
        return;
      case 'browser':
        links[message.index]?.connect(message.port);
        return;
      case 'drain':
        void this.#drain();
        return;
      case 'crash':
        setImmediate(() => {
          throw new Error('thread ordered to crash');
        });
        return;
      case 'hang':
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        return;
      default:
        message satisfies never;
    }
  }

  async #submit({ request, submission }: Extract<ToHost, { type: 'submit' }>): Promise<void> {
    const { counters, tally, committer, log } = this.#parts;
    counters.submitted++;
    try {
      const serving = this.#state.kind === 'serving';
      const outcome = serving ? await committer.submit(submission) : ({ kind: 'draining' } as const);
      if (outcome.kind === 'created') tally.count(submission.workspaceId, 'accepted');
      this.#channel.send({ type: 'submitted', request, outcome });
    } catch (error) {
      log.error({ err: error }, 'submission: it could not be stored');
      this.#channel.send({ type: 'submitted', request, outcome: { kind: 'failed' } });
    }
  }

  async #disown(partitions: number[], fenced: boolean): Promise<void> {
    const { owner } = this.#parts;
    if (fenced) for (const id of partitions) owner.fence(id);
    else await Promise.all(partitions.map((id) => owner.release(id)));
    this.#measureSoon();
    this.#channel.send({ type: 'disowned', partitions });
  }

  /** One poll at a time: a slow one has no other behind it. */
  async #poll(): Promise<void> {
    const { owned, owner, log } = this.#parts;
    if (this.#polling || owned.ids.length === 0) return;
    this.#polling = true;
    try {
      await owner.poll();
    } catch (error) {
      log.warn({ err: error }, 'thread: a slow poll failed');
    } finally {
      this.#polling = false;
    }
  }

  /** Partitions came or went: the sum over all nodes is to be right soon. */
  #measureSoon(): void {
    if (this.#state.kind !== 'serving') return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#measure();
    }, LIMITS.poll_ms);
  }

  /** For metrics alone. */
  async #measure(): Promise<void> {
    const { deliveries, measurements, log } = this.#parts;
    try {
      await deliveries.measure();
      await measurements.measure();
    } catch (error) {
      log.warn({ err: error }, 'measurements: the rows of the partitions could not be read');
    }
  }

  #report(): void {
    const { counters, tally, owned, listeners, gaps, deliveries, measurements, db, relaxed } = this.#parts;
    const stats: HostStats = {
      ...counters.counted(),
      ...owned.stats(),
      listeners: listeners.size,
      gaps: { ...gaps },
      deliveries: deliveries.stats(),
      measured: measurements.last,
      database: { actors: db.stats(), actors_relaxed: relaxed.stats() },
      loop_lag_s: this.#lag.longest_s,
    };
    this.#channel.send({ type: 'stats', stats });
    const tallied = tally.take();
    if (tallied.length > 0) this.#channel.send({ type: 'tallied', tallied });
  }

  /** Ends everything in order: submissions, what runs, timers, streams and deliveries, renewed sessions, the database, the channel. */
  async #drain(): Promise<void> {
    const { committer, owner, listeners, deliveries, saves, db, relaxed, tracing } = this.#parts;
    this.#enter({ kind: 'draining' });
    await committer.drained();
    await owner.releaseAll();
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#soon);
    this.#lag.close();
    await listeners.close();
    await deliveries.close();
    await saves.drained();
    this.#report(); // what was counted last
    await Promise.all([db.close(), relaxed.close(), tracing?.close()]);
    this.#enter({ kind: 'drained' });
    this.#channel.send({ type: 'drained' });
    this.#channel.close();
    this.#drained.resolve();
  }
}
