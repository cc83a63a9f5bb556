import { tmpdir } from 'node:os';
import tls from 'node:tls';
import type { MessagePort } from 'node:worker_threads';
import { createLogger, type Logger, type LogOptions } from '../storage/log/log.js';
import { Channel } from '../storage/process/channel.js';
import { Deadline } from '../storage/process/deadline.js';
import { EventLoopLag } from '../storage/process/event-loop-lag.js';
import { checkStep, type Steps } from '../storage/process/steps.js';
import { BrowserKeeper } from './chromium/browser-keeper.js';
import type { SandboxSetting } from './chromium/confinement.js';
import { removeTempFolder, sweepTempFolders, useTempFolder } from './chromium/temp-folder.js';
import { Contexts } from './contexts/contexts.js';
import { browserUnavailable, RunFailure } from './failures.js';
import { LIMITS, type PoolLimits } from './limits.js';
import type { BrowserStats, FromBrowser, ToBrowser } from './messages.js';
import type { Program, Programs } from './program.js';
import { Artifacts } from './runs/artifacts.js';
import { ChannelRuns, type RunHost } from './runs/channel-runs.js';
import { type RunResources, shareResources } from './runs/run-resources.js';
import { socialPrograms } from './social/programs/index.js';
import { type Site, trustingArguments } from './social/site/site.js';

/** What a browser host is started with; plain data. */
export interface BrowserHostOptions {
  /** Number of the thread, for its log lines. */
  thread: number;
  site: Site;
  log: LogOptions;
  /** Folder for screenshots and traces of failed runs; left out when none are wanted. */
  artifactsDir?: string;
  /** Whether a browser may run without its sandbox; `auto` when left out. */
  sandbox?: SandboxSetting;
  /** Replaces single limits. */
  limits?: Partial<PoolLimits>;
}

/** The argument of the task; the ports are transferred. */
export interface BrowserHostTask {
  options: BrowserHostOptions;
  /** Channel to the supervisor of the thread. */
  control: MessagePort;
  /** One channel to each actor host; further ones come over the control channel. */
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
 * first run needs it. Resolves after a `drain`, or when the control channel is closed, with every browser closed.
 * The thread must not be terminated and the task not be aborted before: that would leave processes behind.
 */
export default function browserHost(task: BrowserHostTask): Promise<void> {
  return new BrowserHost(task).drained;
}

/**
 * The host owns its browsers, contexts and runs; each run belongs to the channel it came on.
 *
 * - *serving*: takes runs.
 * - *draining* (entered by `drain`, or when the control channel closes): refuses runs, and waits for the present ones.
 * - *closed*: no run and no browser is left, every channel is closed. Final.
 */
class BrowserHost implements RunHost {
  /** Resolves when the host is closed. */
  readonly drained: Promise<void>;
  readonly resources: RunResources;
  readonly #contexts: Contexts;
  readonly #keeper: BrowserKeeper;
  readonly #programs: Programs;
  readonly #site: Site;
  readonly #log: Logger;
  /** Set by the first run, which prepares this thread: a start does not wait for that. */
  #prepared = false;
  readonly #channels = new Set<ChannelRuns>();
  readonly #control: Channel<FromBrowserHost, ToBrowserHost>;
  readonly #statsTimer: NodeJS.Timeout;
  readonly #lag = new EventLoopLag();
  readonly #closed = Promise.withResolvers<void>();
  #state: HostState = { kind: 'serving' };

  constructor({ options, control, actors }: BrowserHostTask) {
    const limits = { ...LIMITS, ...options.limits };
    const log = createLogger(options.log, { part: 'browser-host', thread: options.thread });
    this.drained = this.#closed.promise;
    this.#programs = socialPrograms(options.site);
    this.#site = options.site;
    this.#log = log;
    this.#keeper = new BrowserKeeper(trustingArguments(options.site), limits, log, options.sandbox);
    this.#contexts = new Contexts(this.#keeper, limits);
    const artifacts = options.artifactsDir === undefined ? undefined : new Artifacts(options.artifactsDir, limits, log);
    this.resources = shareResources(limits, this.#contexts, artifacts, log);
    this.#control = new Channel(control);
    for (const port of actors) this.#connect(port);
    this.#control.onMessage((message) => this.#receive(message));
    this.#control.onClose(() => void this.#drain(0));
    this.#statsTimer = setInterval(() => this.#reportStats(), limits.stats_interval_ms);
    this.#control.send({ type: 'ready' });
  }

  admit(capability: string): Program | RunFailure {
    const program = this.#programs.get(capability);
    if (!program) return new RunFailure('validation_error', { reason: 'capability_not_available_on_provider' });
    this.#prepare();
    return this.#state.kind === 'serving' ? program : browserUnavailable('draining');
  }

  /** Has this thread trust the site's own CA, and its browsers keep their temporary files in a folder of their own. */
  #prepare(): void {
    if (this.#prepared) return;
    this.#prepared = true;
    const { ca } = this.#site;
    if (ca !== undefined) tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
    const untidy = (err: unknown) => this.#log.warn({ err }, 'browser: temporary files may be left behind');
    void sweepTempFolders(tmpdir()).catch(untidy);
    try {
      useTempFolder();
    } catch (error) {
      untidy(error);
    }
  }

  retire(connectionId: string): void {
    this.#contexts.retire(connectionId);
  }

  ended(): void {
    if (this.#state.kind === 'draining' && this.#runs === 0) this.#state.idle.resolve();
  }

  #receive(message: ToBrowserHost): void {
    switch (message.type) {
      case 'connect':
        this.#connect(message.port);
        break;
      case 'drain':
        void this.#drain(message.grace_ms);
        break;
      default:
        message satisfies never;
    }
  }

  #connect(port: MessagePort): void {
    const channel = new Channel<FromBrowser, ToBrowser>(port);
    const runs = new ChannelRuns(channel, this);
    this.#channels.add(runs);
    channel.onClose(() => this.#channels.delete(runs));
  }

  /** Ends everything in order: runs, contexts with their browsers, channels. */
  async #drain(grace_ms: number): Promise<void> {
    if (this.#state.kind !== 'serving') return;
    const idle = Promise.withResolvers<void>();
    this.#enter({ kind: 'draining', idle });
    this.ended();
    await Deadline.within(grace_ms, idle.promise).catch(() => this.#interruptRuns());
    await idle.promise;
    clearInterval(this.#statsTimer);
    this.#lag.close();
    await this.#keeper.close();
    await removeTempFolder().catch(() => {}); // the next start sweeps it
    for (const channel of this.#channels) channel.close();
    this.#control.close();
    this.#enter({ kind: 'closed' });
    this.#closed.resolve();
  }

  #interruptRuns(): void {
    for (const channel of this.#channels) channel.interrupt(browserUnavailable('draining'));
  }

  get #runs(): number {
    return [...this.#channels].reduce((count, channel) => count + channel.size, 0);
  }

  #reportStats(): void {
    const { runSlots, pageSlots, warmPages } = this.resources;
    this.#contexts.sweep();
    const stats: BrowserStats = {
      browser: this.#keeper.state,
      contexts: this.#contexts.open,
      pages: [...this.#channels].reduce((count, channel) => count + channel.openPages, 0),
      warm_pages: warmPages.size,
      running: runSlots.held,
      queued: runSlots.waiting + pageSlots.waiting,
      restarts: this.#keeper.restarts,
      memory_mib: this.#keeper.memory_mib,
      loop_lag_s: this.#lag.longest_s,
    };
    this.#control.send({ type: 'stats', stats });
    for (const channel of this.#channels) channel.report(stats);
  }

  #enter(next: HostState): void {
    checkStep('browser host', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}

type HostState = { kind: 'serving' } | { kind: 'draining'; idle: PromiseWithResolvers<void> } | { kind: 'closed' };

const STEPS: Steps<HostState['kind']> = {
  serving: ['draining'],
  draining: ['closed'],
  closed: [],
};
