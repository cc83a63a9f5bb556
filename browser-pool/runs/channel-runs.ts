import type { Channel } from '../../storage/process/channel.js';
import { RunFailure } from '../failures.js';
import type { BrowserStats, FromBrowser, ToBrowser } from '../messages.js';
import type { Program } from '../program.js';
import { Run } from './run.js';
import type { RunResources } from './run-resources.js';

/** What the runs of a channel need of their host. */
export interface RunHost {
  readonly resources: RunResources;
  /** Has the connection's context serve no further run. */
  retire(connectionId: string): void;
  /** The program of a capability, or the failure with which its runs are refused. */
  admit(capability: string): Program | RunFailure;
  /** A run has ended. */
  ended(): void;
}

/**
 * The runs of one actor host, which come and are answered on its channel.
 *
 * I1. When the channel closes nothing receives the answers any more: its runs are interrupted.
 */
export class ChannelRuns {
  readonly #channel: Channel<FromBrowser, ToBrowser>;
  readonly #host: RunHost;
  readonly #runs = new Map<number, Run>();
  /** One for all runs: what it closes over would live as long as their contexts. */
  readonly #reports = { send: (message: FromBrowser) => this.#send(message) };

  constructor(channel: Channel<FromBrowser, ToBrowser>, host: RunHost) {
    this.#channel = channel;
    this.#host = host;
    channel.onMessage((message) => this.#receive(message));
    channel.onClose(() => this.interrupt(new RunFailure('session_fenced'))); // I1
  }

  /** Runs that have not ended. */
  get size(): number {
    return this.#runs.size;
  }

  /** Pages that the runs hold. */
  get openPages(): number {
    return [...this.#runs.values()].filter((run) => run.holdsPage).length;
  }

  /** Ends all runs, or those of one connection, with this failure. */
  interrupt(failure: RunFailure, connectionId?: string): void {
    for (const run of this.#runs.values()) {
      if (connectionId === undefined || run.order.connectionId === connectionId) run.interrupt(failure);
    }
  }

  report(stats: BrowserStats): void {
    this.#channel.send({ type: 'stats', stats });
  }

  close(): void {
    this.#channel.close();
  }

  #receive(message: ToBrowser): void {
    switch (message.type) {
      case 'run':
        this.#start(message);
        break;
      case 'proceed':
        this.#runs.get(message.run)?.proceed(message.permission);
        break;
      case 'stored':
        this.#runs.get(message.run)?.stored();
        break;
      case 'code':
        this.#runs.get(message.run)?.code(message.code);
        break;
      case 'cancel':
        this.#runs.get(message.run)?.interrupt(new RunFailure('canceled'));
        break;
      case 'close':
        this.interrupt(new RunFailure('session_fenced'), message.connectionId);
        this.#host.retire(message.connectionId);
        break;
      case 'retire':
        this.#host.retire(message.connectionId);
        break;
      default:
        message satisfies never;
    }
  }

  #start(order: Extract<ToBrowser, { type: 'run' }>): void {
    const run = new Run(order.run, order, this.#host.resources, this.#reports);
    const program = this.#host.admit(order.capability);
    if (program instanceof RunFailure) {
      run.interrupt(program);
      return;
    }
    this.#runs.set(order.run, run);
    void run.execute(program).finally(() => {
      this.#runs.delete(order.run);
      this.#host.ended();
    });
  }

  #send(message: FromBrowser): void {
    this.#channel.send(message, message.type === 'file' ? [message.bytes] : undefined);
  }
}
