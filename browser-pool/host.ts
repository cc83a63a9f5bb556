import tls from 'node:tls';
import type { MessagePort } from 'node:worker_threads';
import { createLogger, type Logger, type LogOptions } from '../storage/log.js';
import { Channel } from './channel.js';
import { BrowserKeeper } from './chromium/browser-keeper.js';
import { Contexts } from './contexts/contexts.js';
import { WarmPages } from './contexts/warm-pages.js';
import { browserUnavailable, RunFailure } from './failures.js';
import { FairSemaphore } from './fair-semaphore.js';
import { POOL_LIMITS, type PoolLimits, STATS_INTERVAL_MS } from './limits.js';
import type { BrowserStats, FromBrowser, ToBrowser } from './messages.js';
import type { Programs } from './program.js';
import { Artifacts } from './runs/artifacts.js';
import { Run, type RunResources } from './runs/run.js';
import { socialPrograms } from './social/programs/index.js';
import type { Site } from './social/site/site.js';

/** What a browser host is started with; plain data. */
export interface BrowserHostOptions {
  /** Number of the thread, for its log lines. */
  thread: number;
  site: Site;
  log: LogOptions;
  /** Folder for screenshots and traces of failed runs; left out when nobody wants them. */
  artifactsDir?: string;
  /** Replaces single limits. */
  limits?: Partial<PoolLimits>;
}

/** The argument of the task; the ports are transferred. */
export interface BrowserHostTask {
  options: BrowserHostOptions;
  /** Line to the supervisor of the thread. */
  control: MessagePort;
  /** One line to each actor host; further ones come over the control line. */
  actors: MessagePort[];
}

/** From the supervisor. */
export type ToBrowserHost =
  /** Another actor host, or a restarted one. The port is transferred. */
  | { type: 'connect'; port: MessagePort }
  /** Let runs end for `grace_ms`, then end them; close the browsers; the task resolves. */
  | { type: 'drain'; grace_ms: number };

/** To the supervisor. */
export type FromBrowserHost = { type: 'ready' } | { type: 'stats'; stats: BrowserStats };

/**
 * The task of a browser host: runs page programs for the actor hosts in one Chromium of its own, launched when the
 * first run needs it. Resolves when it was told to drain, or when the control line is gone, with every browser closed.
 * The thread must not be terminated and the task not be aborted before: that would leave processes behind.
 */
export default function browserHost(task: BrowserHostTask): Promise<void> {
  return new BrowserHost(task).drained;
}

/**
 * *serving* → (`drain`, or the control line closes) → *draining*: refuses runs, waits for the present ones → *closed*.
 *
 * The host owns its runs. A run belongs to the line it came by: when the line closes, nobody waits for its runs, and
 * they are ended.
 */
class BrowserHost {
  readonly drained: Promise<void>;
  #log: Logger;
  #programs: Programs;
  #keeper: BrowserKeeper;
  #ground: RunResources;
  #lines = new Map<Channel<FromBrowser, ToBrowser>, Map<number, Run>>();
  #control: Channel<FromBrowserHost, ToBrowserHost>;
  #report: NodeJS.Timeout;
  #draining = false;
  #idle: (() => void) | undefined;

  constructor(task: BrowserHostTask) {
    const { site, log, thread, artifactsDir } = task.options;
    const limits = { ...POOL_LIMITS, ...task.options.limits };
    this.#log = createLogger(log, { part: 'browser-host', thread });
    this.#programs = socialPrograms(site);
    this.#keeper = new BrowserKeeper(trust(site), limits, this.#log);
    this.#ground = {
      limits,
      contexts: new Contexts(this.#keeper, limits),
      turns: new FairSemaphore(limits.running_runs, limits.queued_runs),
      pages: new FairSemaphore(limits.pages, limits.queued_runs),
      warmPages: new WarmPages(limits.warm_pages, limits.warm_page_ms),
      waiting: new Set(),
      artifacts: artifactsDir === undefined ? undefined : new Artifacts(artifactsDir, limits, this.#log),
    };
    for (const port of task.actors) this.#connect(port);
    this.#control = new Channel(task.control);
    this.drained = new Promise((resolve) => {
      const drain = (grace_ms: number) => this.#drain(grace_ms).then(resolve);
      this.#control.onMessage((message) => {
        if (message.type === 'connect') this.#connect(message.port);
        else void drain(message.grace_ms);
      });
      this.#control.onClose(() => void drain(0));
    });
    this.#report = setInterval(() => this.#tick(), STATS_INTERVAL_MS);
    this.#control.send({ type: 'ready' });
  }

  #connect(port: MessagePort): void {
    const line = new Channel<FromBrowser, ToBrowser>(port);
    const runs = new Map<number, Run>();
    this.#lines.set(line, runs);
    line.onMessage((message) => this.#take(line, runs, message));
    line.onClose(() => {
      this.#lines.delete(line);
      for (const run of runs.values()) run.interrupt(new RunFailure('session_fenced'));
    });
  }

  #take(line: Channel<FromBrowser, ToBrowser>, runs: Map<number, Run>, message: ToBrowser): void {
    switch (message.type) {
      case 'run':
        this.#start(line, runs, message);
        break;
      case 'proceed':
        runs.get(message.run)?.proceed();
        break;
      case 'stored':
        runs.get(message.run)?.stored();
        break;
      case 'code':
        runs.get(message.run)?.code(message.code);
        break;
      case 'cancel':
        runs.get(message.run)?.interrupt(new RunFailure('canceled'));
        break;
      case 'close':
        for (const run of runs.values()) {
          if (run.order.connectionId === message.connectionId) run.interrupt(new RunFailure('session_fenced'));
        }
        this.#ground.contexts.closeIdle(message.connectionId);
        break;
      default:
        message satisfies never;
    }
  }

  #start(line: Channel<FromBrowser, ToBrowser>, runs: Map<number, Run>, order: Extract<ToBrowser, { type: 'run' }>) {
    const run = new Run(order, this.#ground, (message) =>
      line.send(message, message.type === 'file' ? [message.bytes] : undefined),
    );
    const program = this.#programs.get(order.capability);
    if (!program) {
      run.interrupt(new RunFailure('validation_error', { reason: 'capability_not_available_on_provider' }));
    } else if (this.#draining) {
      run.interrupt(browserUnavailable('draining'));
    } else {
      runs.set(order.run, run);
      void run.execute(program).finally(() => {
        runs.delete(order.run);
        if (this.#idle && this.#runs() === 0) this.#idle();
      });
    }
  }

  /** Ends everything in order: runs, contexts with their browsers, lines. Once. */
  async #drain(grace_ms: number): Promise<void> {
    if (this.#draining) return this.drained;
    this.#draining = true;
    if (this.#runs() > 0) {
      const timer = setTimeout(() => this.#interruptAll(), grace_ms);
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      clearTimeout(timer);
    }
    clearInterval(this.#report);
    await this.#keeper.close();
    for (const line of this.#lines.keys()) line.close();
    this.#control.close();
  }

  #interruptAll(): void {
    for (const runs of this.#lines.values()) {
      for (const run of runs.values()) run.interrupt(browserUnavailable('draining'));
    }
  }

  #runs(): number {
    let count = 0;
    for (const runs of this.#lines.values()) count += runs.size;
    return count;
  }

  #tick(): void {
    this.#ground.contexts.sweep();
    const stats: BrowserStats = {
      browser: this.#keeper.state,
      contexts: this.#ground.contexts.open,
      pages: this.#openPages(),
      warm_pages: this.#ground.warmPages.size,
      running: this.#ground.turns.held,
      queued: this.#ground.turns.waiting,
      restarts: this.#keeper.restarts,
      memory_mib: this.#keeper.memory_mib,
    };
    this.#control.send({ type: 'stats', stats });
    for (const line of this.#lines.keys()) line.send({ type: 'stats', stats });
  }

  #openPages(): number {
    let count = 0;
    for (const runs of this.#lines.values()) for (const run of runs.values()) if (run.holdsPage) count += 1;
    return count;
  }
}

/**
 * Makes this thread and its browser trust the site's own CA, when it has one: Node's side by adding it to the
 * thread's default CAs, Chromium's by the fingerprint of the key. Gives the browser's arguments.
 */
function trust(site: Site): string[] {
  if (site.ca !== undefined) tls.setDefaultCACertificates([...tls.getCACertificates('default'), site.ca]);
  return site.spki === undefined ? [] : [`--ignore-certificate-errors-spki-list=${site.spki}`];
}
