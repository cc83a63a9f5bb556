import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf } from '../../../kit/cost/cpu.js';
import { ended, signal } from '../../../kit/processes.js';
import { profileArguments } from '../../../kit/profile.js';
import { steadyPort } from '../../../sandbox/steady-port.js';
import { LIMITS } from '../limits.js';
import { FaultyLink } from '../link.js';

const TAMPERING = new URL('./tampering.js', import.meta.url).href;

/** A node that ended although nobody ended it. */
export interface OwnEnd {
  node: number;
  at: number;
  status: number | string | null;
}

export interface NodeOptions {
  number: number;
  /** Its log, its DATA_DIR and its orders stand here. */
  folder: string;
  /** As whom it connects to the database, and that role's address of it. */
  role: string;
  databaseUrl: string;
  /** The service's `main.js`. */
  program: string;
  /** Further variables. */
  env: Record<string, string>;
  /** Called when it had served and ended by itself. */
  onOwnEnd: (end: OwnEnd) => void;
}

/**
 * The real service as a process behind a link of its own, at addresses that it keeps. While it is wanted it is started again
 * whenever it ends.
 */
export class ChaosNode implements AsyncDisposable {
  readonly number: number;
  readonly link: FaultyLink;
  readonly url: string;
  readonly metricsUrl: string;
  readonly #options: NodeOptions;
  readonly #orders: string;
  readonly #log: WriteStream;
  readonly #env: Record<string, string | undefined>;
  #start_ms: number = LIMITS.node_start_ms;
  #program: string;
  #child: ChildProcess | undefined;
  #wanted = false;
  /** The signal that the run sent to the process, if any. */
  #told = false;
  #keeping: Promise<void> | undefined;
  #served: (() => void)[] = [];
  #serving = false;

  private constructor(options: NodeOptions, link: FaultyLink, ports: { port: number; metricsPort: number }) {
    const { number, folder } = options;
    this.number = number;
    this.link = link;
    this.url = `http://127.0.0.1:${ports.port}`;
    this.metricsUrl = `http://127.0.0.1:${ports.metricsPort}`;
    this.#options = options;
    this.#program = options.program;
    this.#orders = join(folder, 'orders');
    this.#log = createWriteStream(join(folder, 'node.log'), { flags: 'a' });
    this.#env = {
      LOG_LEVEL: 'info',
      ACTOR_THREADS: '2',
      BROWSER_THREADS: '1',
      ...process.env,
      ...options.env,
      LOG_FORMAT: 'json',
      DATABASE_URL: link.through(options.databaseUrl),
      DATA_DIR: join(folder, 'data'),
      PORT: String(ports.port),
      METRICS_PORT: String(ports.metricsPort),
      NODE_OPTIONS: `--import ${TAMPERING}`,
      CHAOS_ORDERS: this.#orders,
      CHAOS_POLL_MS: String(LIMITS.tamper_poll_ms),
    };
  }

  /** Opens the link and starts the node; it may take a while until it serves. */
  static async start(options: NodeOptions): Promise<ChaosNode> {
    await mkdir(join(options.folder, 'orders'), { recursive: true });
    const link = await FaultyLink.open(Number(new URL(options.databaseUrl).port));
    const node = new ChaosNode(options, link, { port: await steadyPort(), metricsPort: await steadyPort() });
    node.start();
    return node;
  }

  get role(): string {
    return this.#options.role;
  }

  /** Of the process that serves now. */
  get pid(): number | undefined {
    return this.#serving ? this.#child?.pid : undefined;
  }

  /** From its next start on: this program, and these variables beside the others; a start may take so long. */
  use(program: string, env: Record<string, string>, start_ms: number = LIMITS.node_start_ms): void {
    this.#program = program;
    Object.assign(this.#env, env);
    this.#start_ms = start_ms;
  }

  start(): void {
    this.#wanted = true;
    this.#keeping ??= this.#keep().finally(() => {
      this.#keeping = undefined;
    });
  }

  /** Resolves once it serves. */
  async serves(): Promise<void> {
    if (!this.#serving) await new Promise<void>((resolve) => this.#served.push(resolve));
  }

  async kill(): Promise<void> {
    this.#wanted = false;
    this.#signal('SIGKILL');
    await this.#keeping;
  }

  /** SIGTERM; false when it had to be killed in the end. */
  async end(): Promise<boolean> {
    this.#wanted = false;
    this.#signal('SIGTERM');
    let inTime = true;
    const late = setTimeout(() => {
      inTime = false;
      this.#signal('SIGKILL');
    }, LIMITS.node_stop_ms);
    await this.#keeping;
    clearTimeout(late);
    return inTime;
  }

  pause(): void {
    if (this.#child?.pid) signal(this.#child.pid, 'SIGSTOP');
  }

  goOn(): void {
    if (this.#child?.pid) signal(this.#child.pid, 'SIGCONT');
  }

  /** The processes of its Chromium, wrapper included. */
  browsers(): number[] {
    const pid = this.#child?.pid;
    return pid === undefined ? [] : descendantsOf(pid);
  }

  /** Sets its clock off by so much; 0 sets it right. */
  setClock(off_ms: number): Promise<void> {
    return this.#order('clock', String(off_ms));
  }

  /** One of its actor threads ends with an error that nothing catches. */
  crashThread(): Promise<void> {
    return this.#order('crash', '');
  }

  /** One of its actor threads gets to nothing for so long. */
  pauseThread(ms: number): Promise<void> {
    return this.#order('pause', String(ms));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.link.accept();
    this.link.pass();
    this.goOn();
    await this.end();
    await this.link.close();
    this.#log.end();
  }

  #signal(name: NodeJS.Signals): void {
    this.#told = true;
    this.#child?.kill(name);
  }

  /** Written beside and moved, so that no thread reads half of it. */
  async #order(name: string, text: string): Promise<void> {
    const file = join(this.#orders, name);
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  /** Until it is not wanted. */
  async #keep(): Promise<void> {
    while (this.#wanted) {
      for (const name of ['crash', 'pause']) await rm(join(this.#orders, name), { force: true });
      this.#told = false;
      await this.#once();
      if (this.#wanted) await delay(LIMITS.restart_ms);
    }
  }

  /** One process, from its start to its end. */
  async #once(): Promise<void> {
    // Through env -i: a runner of tests loads hooks of its own into every Node that it sees.
    const variables = Object.entries(this.#env).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}=${value}`,
    );
    const program = [`CHAOS_PROGRAM=${this.#program}`, process.execPath, ...profileArguments(), this.#program];
    const child = spawn('env', ['-i', ...variables, ...program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.pipe(this.#log, { end: false });
    const tooLate = setTimeout(() => this.#signal('SIGKILL'), this.#start_ms);
    const end = ended(child);
    const ready = once(createInterface({ input: child.stdout }), 'line').then(() => true);
    const served = await Promise.race([ready, end.then(() => false)]);
    clearTimeout(tooLate);
    this.#serving = served;
    if (served) {
      for (const resolve of this.#served.splice(0)) resolve();
      await end;
      this.#serving = false;
    }
    // A browser that outlives its node for a moment keeps the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
    const status = child.signalCode ?? child.exitCode;
    this.#log.write(`${JSON.stringify({ chaos: 'the process ended', status, told: this.#told, at: Date.now() })}\n`);
    if (served && !this.#told) this.#options.onOwnEnd({ node: this.number, at: Date.now(), status });
  }
}
