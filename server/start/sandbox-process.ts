import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import typia from 'typia';
import type { NewProxy } from '../../storage/connections/proxies.js';
import type { Logger } from '../../storage/log.js';

/**
 * The stand-in network as a child process, started by path: the service shares no code with it.
 *
 *     starting ──ready line──▶ ready ──exit──▶ backing off ──▶ starting
 *         └──────exit or no line in time──────────▲
 *     any ──stop()──▶ stopping ──exit──▶ stopped
 *
 * Owns: the process. It ends when its stdin closes, so it never outlives this one, whatever ends this one.
 */
export interface SandboxReady {
  /** Of the control API on loopback. */
  control_url: string;
  /** Of the web site, as the proxies reach it. */
  origin: string;
  /** PEM file of the CA that signs the web site's certificates. */
  ca_file: string;
  /** Base64 SHA-256 of the web site's public key, for a browser that is to trust it. */
  spki: string;
  proxies: NewProxy[];
}

export interface SandboxProcess {
  /** As last announced. A restart keeps the control address; proxies may have new ports and passwords. */
  readonly ready: SandboxReady;
  /** Of the process that runs now. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface SandboxOptions {
  /** Its state stands in `sandbox/` below. */
  dataDir: string;
  /** 0 takes a free one. */
  controlPort: number;
  log: Logger;
  /** After a restart: the proxies have to be put in place again. */
  onRestart: (ready: SandboxReady) => Promise<void>;
}

const PROGRAM = new URL('../../bench/sandbox/main.js', import.meta.url).pathname;
const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_LAST_MS = 10_000;

/** Starts the stand-in network and waits until it serves. Throws Error when it does not come up the first time. */
export async function startSandbox(options: SandboxOptions): Promise<SandboxProcess> {
  const supervised = new Supervised(options);
  await supervised.start(options.controlPort);
  return supervised;
}

class Supervised implements SandboxProcess {
  #child: ChildProcess | undefined;
  #ready: SandboxReady | undefined;
  #stopping = new AbortController();
  #backoff_ms = BACKOFF_FIRST_MS;

  constructor(private readonly options: SandboxOptions) {}

  get ready(): SandboxReady {
    if (!this.#ready) throw new Error('the stand-in network has not started');
    return this.#ready;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** starting → ready; from then on, an exit starts it anew. */
  async start(controlPort: number): Promise<void> {
    const { dataDir, log } = this.options;
    const args = [PROGRAM, '--data-dir', `${dataDir}/sandbox`, '--control-port', String(controlPort)];
    // Its own session: a terminal's Ctrl-C must not end the network under a service that still drains.
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.#child = child;
    // A broken pipe is told by the exit.
    child.stdin.on('error', () => {});
    // Of an uncaught error Node writes the source line, the error, its stack and its own version.
    let reason = '';
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (reason === '' && /error|usage/i.test(line)) reason = line.trim();
      log.info({ part: 'sandbox' }, line);
    });
    this.#ready = await readyLine(child).catch((error: Error) => {
      child.kill('SIGKILL');
      throw new Error(`the stand-in network did not start: ${reason || error.message}`);
    });
    this.#backoff_ms = BACKOFF_FIRST_MS;
    child.once('exit', (code, signal) => {
      if (this.#stopping.signal.aborted) return;
      log.warn({ code, signal }, 'the stand-in network ended and is started again');
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    const { log, onRestart } = this.options;
    const controlPort = Number(new URL(this.ready.control_url).port);
    while (!this.#stopping.signal.aborted) {
      try {
        await delay(this.#backoff_ms, undefined, { signal: this.#stopping.signal });
        this.#backoff_ms = Math.min(this.#backoff_ms * 2, BACKOFF_LAST_MS);
        await this.start(controlPort);
        return await onRestart(this.ready);
      } catch (error) {
        if (!this.#stopping.signal.aborted) log.error({ err: error }, 'the stand-in network is not back yet');
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.stdin?.end();
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(late);
  }
}

/** The first line on stdout. Whatever else it says there is ignored. */
function readyLine(child: ChildProcess): Promise<SandboxReady> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no ready line in time')), READY_TIMEOUT_MS);
    const settle = (finish: () => void) => {
      clearTimeout(late);
      finish();
    };
    if (!child.stdout) return reject(new Error('no stdout'));
    createInterface({ input: child.stdout }).once('line', (line) =>
      settle(() => {
        try {
          resolve(typia.json.assertParse<SandboxReady & { ready: true }>(line));
        } catch {
          reject(new Error('its ready line is not what was agreed'));
        }
      }),
    );
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code, signal) => settle(() => reject(new Error(`it ended (${signal ?? code})`))));
  });
}
