import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { BrowserHostTask, FromBrowserHost, ToBrowserHost } from '../../browser-pool/host.js';
import type { PoolLimits } from '../../browser-pool/limits.js';
import type { BrowserStats, FromBrowser, RenewedSession, RunOrder, ToBrowser } from '../../browser-pool/messages.js';
import type { SendPermission } from '../../browser-pool/send-permission.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import { Channel } from '../../storage/process/channel.js';
import { programFile } from '../../storage/process/programs.js';

type RunMessage = Exclude<FromBrowser, { type: 'stats' | 'clock' | 'renewed' }>;

/** A browser host in a thread of its own, with one channel to it; the test closes it. */
export class Pool {
  readonly channel: ActorChannel;
  readonly #piscina: Piscina;
  readonly #control: Channel<ToBrowserHost, FromBrowserHost>;
  readonly #task: Promise<void>;

  constructor(site: Site, limits: Partial<PoolLimits> = {}, env: Record<string, string> = {}, artifactsDir?: string) {
    const control = new MessageChannel();
    const actor = new MessageChannel();
    this.#control = new Channel(control.port1);
    this.#control.onMessage(() => {});
    this.channel = new ActorChannel(actor.port1);
    this.#piscina = new Piscina({
      filename: pathToFileURL(programFile('browser-pool/host')).href,
      minThreads: 1,
      maxThreads: 1,
      env: { ...process.env, ...env },
    });
    const task: BrowserHostTask = {
      options: {
        thread: 0,
        site,
        log: { level: 'warn', format: 'json' },
        limits: { stats_interval_ms: 50, ...limits },
        ...(artifactsDir && { artifactsDir }),
      },
      control: control.port2,
      actors: [actor.port2],
    };
    this.#task = this.#piscina.run(task, { transferList: [control.port2, actor.port2] });
  }

  /** Another actor host, connected while the host runs. */
  connect(): ActorChannel {
    const { port1, port2 } = new MessageChannel();
    this.#control.send({ type: 'connect', port: port2 }, [port2]);
    return new ActorChannel(port1);
  }

  /** Drains the host and ends its thread. Resolves when the task has. */
  async close(grace_ms = 0): Promise<void> {
    this.#control.send({ type: 'drain', grace_ms });
    await this.#task;
    await this.#piscina.destroy();
  }
}

/** The actor's end of a channel to a browser host, with its runs. */
export class ActorChannel {
  readonly #channel: Channel<ToBrowser, FromBrowser>;
  readonly #runs = new Map<number, TestRun>();
  /** Sessions that their site renewed, in the order in which they were reported. */
  readonly renewed: RenewedSession[] = [];
  #statsWaiters: { until: (stats: BrowserStats) => boolean; resolve: (stats: BrowserStats) => void }[] = [];
  #next = 1;

  constructor(port: MessagePort) {
    this.#channel = new Channel(port);
    this.#channel.onMessage((message) => {
      if (message.type === 'stats') this.#reported(message.stats);
      else if (message.type === 'renewed') this.renewed.push(message);
      else if (message.type === 'clock') this.#runs.get(message.run)?.clock.push(message.running);
      else if (message.type === 'unverify') this.#channel.send({ type: 'stored', run: message.run });
      else this.#runs.get(message.run)?.take(message);
    });
  }

  run(order: RunOrder): TestRun {
    const id = this.#next++;
    const run = new TestRun(id, (message) => this.#channel.send(message));
    this.#runs.set(id, run);
    this.#channel.send({ type: 'run', run: id, ...order });
    return run;
  }

  closeConnection(connectionId: string): void {
    this.#channel.send({ type: 'close', connectionId });
  }

  retire(connectionId: string): void {
    this.#channel.send({ type: 'retire', connectionId });
  }

  /** The next report for which `until` holds. */
  stats(until: (stats: BrowserStats) => boolean): Promise<BrowserStats> {
    return new Promise((resolve) => this.#statsWaiters.push({ until, resolve }));
  }

  close(): void {
    this.#channel.close();
  }

  #reported(stats: BrowserStats): void {
    this.#statsWaiters = this.#statsWaiters.filter(({ until, resolve }) => {
      if (!until(stats)) return true;
      resolve(stats);
      return false;
    });
  }
}

/** One run as the actor sees it: its messages in order. */
export class TestRun {
  readonly #id: number;
  readonly #send: (message: ToBrowser) => void;
  readonly #messages: RunMessage[] = [];
  /** Each change of the run's clock. */
  readonly clock: boolean[] = [];
  #waiter: ((message: RunMessage) => void) | undefined;

  constructor(id: number, send: (message: ToBrowser) => void) {
    this.#id = id;
    this.#send = send;
  }

  take(message: RunMessage): void {
    if (this.#waiter) this.#waiter(message);
    else this.#messages.push(message);
    this.#waiter = undefined;
  }

  /** The run's next message. */
  next(): Promise<RunMessage> {
    const message = this.#messages.shift();
    if (message) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  /** The run's next message, which must be of this type. */
  async expect<Type extends RunMessage['type']>(type: Type): Promise<Extract<RunMessage, { type: Type }>> {
    const message = await this.next();
    if (message.type !== type) throw new Error(`expected ${type}, got ${JSON.stringify(message)}`);
    return message as Extract<RunMessage, { type: Type }>;
  }

  /** Whether no message of the run waits to be read. */
  get silent(): boolean {
    return this.#messages.length === 0;
  }

  /** Lets it past its boundary; the request may begin to leave for this long. */
  proceed(for_ms = 60_000): void {
    this.proceedWith({
      until_ns: process.hrtime.bigint() + BigInt(for_ms) * 1_000_000n,
      until_ms: Date.now() + for_ms,
    });
  }

  proceedWith(permission: SendPermission): void {
    this.#send({ type: 'proceed', run: this.#id, permission });
  }

  stored(): void {
    this.#send({ type: 'stored', run: this.#id });
  }

  code(code: string): void {
    this.#send({ type: 'code', run: this.#id, code });
  }

  cancel(): void {
    this.#send({ type: 'cancel', run: this.#id });
  }
}
