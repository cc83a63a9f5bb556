import type { MessagePort } from 'node:worker_threads';
import type {
  BrowserStats,
  FromBrowser,
  RenewedSession,
  RunEnd,
  RunOrder,
  ToBrowser,
} from '../../browser-pool/messages.js';
import { Channel } from '../../storage/process/channel.js';
import { FairSlots } from '../../storage/process/fair-slots.js';
import { LIMITS } from '../limits.js';
import { hostLost, LinkedRun, type RunOwner } from './linked-run.js';

export interface BrowserLinkOptions {
  /** How long a host may take to end a run that was stopped; `stopped_run_ms` by default. */
  stopped_run_ms?: number;
  /** How many runs are ordered at once; `ordered_runs` by default. */
  ordered_runs?: number;
  /** Called with a session that its site renewed, before the run that saw it ends. */
  renewed(session: RenewedSession): void;
}

/**
 * This thread's channel to one browser host, and the runs on it.
 *
 * I1. When the host's thread dies, its runs end as `browser_unavailable`, transient unless they were past the boundary,
 *     and the port of the next host takes its place.
 * I2. At most `ordered_runs` are ordered at once; what waits for its turn costs its host nothing, and goes round the workspaces.
 */
export class BrowserLink {
  readonly #stopped_run_ms: number;
  readonly #renewed: BrowserLinkOptions['renewed'];
  readonly #runs = new Map<number, LinkedRun>();
  readonly #turns: FairSlots;
  #channel: Channel<ToBrowser, FromBrowser> | undefined;
  #next = 1;
  /** The last report of the host. */
  stats: BrowserStats | undefined;

  constructor({ stopped_run_ms, ordered_runs, renewed }: BrowserLinkOptions) {
    this.#stopped_run_ms = stopped_run_ms ?? LIMITS.stopped_run_ms;
    this.#turns = new FairSlots(ordered_runs ?? LIMITS.ordered_runs);
    this.#renewed = renewed;
  }

  /** Connects to a host, the first one or the one that replaced it. */
  connect(port: MessagePort): void {
    const channel = new Channel<ToBrowser, FromBrowser>(port);
    this.#channel = channel;
    channel.onMessage((message) => this.#receive(message));
    channel.onClose(() => {
      if (this.#channel === channel) this.#channel = undefined;
      for (const run of [...this.#runs.values()]) run.channelClosed(channel); // I1
    });
  }

  /** Operations that wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /**
   * Resolves when a run of this workspace may be ordered, with what gives the turn back, for as long as that takes (I2). Rejects
   * with the signal's reason when it aborts.
   */
  turn(workspaceId: string, signal: AbortSignal): Promise<() => void> {
    return this.#turns.acquire(workspaceId, signal);
  }

  /**
   * Runs a page program to its end; the owner answers what the run asks. The run is stopped when the owner's signal aborts
   * or it refuses an answer, and given up when the host does not end it in time. Rejects only with such a refusal.
   */
  async run(order: RunOrder, owner: RunOwner): Promise<RunEnd> {
    const run = this.#next++;
    const channel = this.#channel;
    if (!channel?.send({ type: 'run', run, ...order })) return hostLost(run, false);
    const linked = new LinkedRun(run, channel, owner, this.#stopped_run_ms);
    this.#runs.set(run, linked);
    try {
      return await linked.ended;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Sends what concerns no single run: a connection's session is fenced, or moved on. Lost when there is no host, which has no session then. */
  send(message: Extract<ToBrowser, { type: 'close' | 'retire' }>): void {
    this.#channel?.send(message);
  }

  #receive(message: FromBrowser): void {
    if (message.type === 'stats') this.stats = message.stats;
    else if (message.type === 'renewed') this.#renewed(message);
    else this.#runs.get(message.run)?.receive(message);
  }
}
