import type { MessagePort } from 'node:worker_threads';
import { Channel } from '../../browser-pool/channel.js';
import type { BrowserStats, FromBrowser, ToBrowser } from '../../browser-pool/messages.js';

/** The order for one run, without its number. */
export type RunOrder = Omit<Extract<ToBrowser, { type: 'run' }>, 'type' | 'run'>;
/** What a browser host says about one run. */
export type RunMessage = Exclude<FromBrowser, { type: 'stats' }>;
type RunEnd = Extract<RunMessage, { type: 'result' | 'skipped' | 'failure' }>;

export interface RunHandlers {
  /** All answer on the link, by the run's number: `proceed`, `stored` or `code`, or else `cancel`. */
  boundary(run: number): void;
  file(run: number, bytes: ArrayBuffer): void;
  challenge(run: number, message: Extract<RunMessage, { type: 'challenge' }>): void;
}

/**
 * This thread's line to one browser host. Every run gets exactly one end: when the host's thread dies, its runs end here
 * as transient `browser_unavailable`, and the next host's port takes its place.
 */
export class BrowserLink {
  #channel: Channel<ToBrowser, FromBrowser> | undefined;
  #next = 1;
  readonly #runs = new Map<number, LinkedRun>();
  stats: BrowserStats | undefined;

  /** Connects to a host, the first one or the one that replaced it. */
  connect(port: MessagePort): void {
    const channel = new Channel<ToBrowser, FromBrowser>(port);
    this.#channel = channel;
    channel.onMessage((message) => this.#receive(message));
    channel.onClose(() => {
      if (this.#channel === channel) this.#channel = undefined;
      for (const [run, { on, proceeded }] of [...this.#runs]) if (on === channel) this.#end(run, lost(run, proceeded));
    });
  }

  /** Runs a page program to its end. Never rejects. `started` gets the run's number, for `send`. */
  run(order: RunOrder, handlers: RunHandlers, started: (run: number) => void): Promise<RunEnd> {
    const run = this.#next++;
    return new Promise((end) => {
      this.#runs.set(run, { handlers, end, on: this.#channel, proceeded: false });
      if (!this.#channel?.send({ type: 'run', run, ...order })) this.#end(run, lost(run, false));
      else started(run);
    });
  }

  send(message: Exclude<ToBrowser, { type: 'run' }>): void {
    const entry = message.type === 'proceed' ? this.#runs.get(message.run) : undefined;
    if (entry) entry.proceeded = true;
    this.#channel?.send(message);
  }

  /** Ends a run here that its host does not end though it was told to; what the host still says of it is not heard. */
  giveUp(run: number): void {
    const entry = this.#runs.get(run);
    if (!entry) return;
    this.#end(run, { type: 'failure', run, code: 'canceled', transient: false, pastBoundary: entry.proceeded });
  }

  #receive(message: FromBrowser): void {
    switch (message.type) {
      case 'stats':
        this.stats = message.stats;
        return;
      case 'boundary':
        this.#runs.get(message.run)?.handlers.boundary(message.run);
        return;
      case 'file':
        this.#runs.get(message.run)?.handlers.file(message.run, message.bytes);
        return;
      case 'challenge':
        this.#runs.get(message.run)?.handlers.challenge(message.run, message);
        return;
      case 'result':
      case 'skipped':
      case 'failure':
        this.#end(message.run, message);
    }
  }

  #end(run: number, message: RunEnd): void {
    const entry = this.#runs.get(run);
    this.#runs.delete(run);
    entry?.end(message);
  }
}

interface LinkedRun {
  handlers: RunHandlers;
  end: (message: RunEnd) => void;
  /** The line it went out on; undefined when there was none. */
  on: Channel<ToBrowser, FromBrowser> | undefined;
  /** It was told to go past the write boundary. */
  proceeded: boolean;
}

const lost = (run: number, pastBoundary: boolean): RunEnd => ({
  type: 'failure',
  run,
  code: 'browser_unavailable',
  details: { reason: 'browser_host_lost' },
  transient: !pastBoundary,
  pastBoundary,
});
