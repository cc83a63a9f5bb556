import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../storage/log/log.js';
import { Backoff } from '../../../storage/process/backoff.js';
import { childEnvironment } from '../../../storage/process/child-environment.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { programFile } from '../../../storage/process/programs.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { LIMITS } from '../limits.js';
import { readReadyLine, type SandboxReady } from './sandbox-ready.js';

/*
 * The stand-in network as a child process, started by path: the service shares no code with it.
 *
 *     starting ──ready line──▶ ready ──exit──▶ backing_off ──▶ starting
 *         └──────exit or no line in time───────────▲
 *     any ──stop()──▶ stopping ──exit──▶ stopped
 *
 * I1. It owns the process, which ends when its stdin closes: it never outlives this process.
 * I2. At most one process runs.
 * I3. After a restart `onRestart` is called until it succeeds: proxies may have new ports and passwords.
 */
export interface SandboxProcess {
  /** As last announced. A restart keeps the control address. */
  readonly ready: SandboxReady;
  /** Of the process that runs now. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface SandboxOptions {
  /** Its state is kept in `sandbox/` below. */
  dataDir: string;
  /** 0 takes a free one. */
  controlPort: number;
  log: Logger;
  /** After a restart: puts the proxies in place again. */
  onRestart: (ready: SandboxReady) => Promise<void>;
}

type State =
  | { kind: 'starting' | 'ready'; child: ChildProcess }
  | { kind: 'stopping'; child: ChildProcess | undefined }
  | { kind: 'backing_off' | 'stopped' };

const STEPS: Steps<State['kind']> = {
  starting: ['ready', 'backing_off', 'stopping'],
  ready: ['backing_off', 'stopping'],
  backing_off: ['starting', 'stopping'],
  stopping: ['stopped'],
  stopped: ['starting'],
};

const PROGRAM = programFile('bench/sandbox/main');

/** Starts the stand-in network and waits until it serves. Throws Error when it does not come up the first time. */
export async function startSandbox(options: SandboxOptions): Promise<SandboxProcess> {
  const { sandbox, started } = launchSandbox(options);
  await started;
  return sandbox;
}

/** The same, with what resolves when it serves: it can be stopped before. A rejection that nobody awaits yet is not lost. */
export function launchSandbox(options: SandboxOptions): { sandbox: SandboxProcess; started: Promise<void> } {
  const sandbox = new SupervisedSandbox(options);
  const started = sandbox.start(options.controlPort);
  started.catch(() => {});
  return { sandbox, started };
}

class SupervisedSandbox implements SandboxProcess {
  readonly #options: SandboxOptions;
  readonly #backoff = new Backoff({ first_ms: LIMITS.sandbox_retry_ms, cap_ms: LIMITS.sandbox_retry_cap_ms });
  readonly #stopping = new AbortController();
  #state: State = { kind: 'stopped' };
  #ready: SandboxReady | undefined;
  #restarting: Promise<void> | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  get ready(): SandboxReady {
    if (!this.#ready) throw new Error('the stand-in network has not started');
    return this.#ready;
  }

  get pid(): number | undefined {
    return 'child' in this.#state ? this.#state.child?.pid : undefined;
  }

  /** Resolves in `ready`; from then on, an exit starts the process again. */
  async start(controlPort: number): Promise<void> {
    const { dataDir, log } = this.#options;
    const args = [PROGRAM, '--data-dir', `${dataDir}/sandbox`, '--control-port', String(controlPort)];
    // Its own session: a terminal's Ctrl-C must not end the network under a service that still drains. The pipe is I1.
    const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];
    const child = spawn(process.execPath, args, {
      stdio,
      detached: true,
      env: childEnvironment({}, ['NODE_COMPILE_CACHE']),
    });
    this.#enter({ kind: 'starting', child }); // I2
    // A broken pipe is reported by the exit.
    child.stdin.on('error', () => {});
    // Of an uncaught error Node writes the source line, the error, its stack and its own version.
    let reason = '';
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (reason === '' && /error|usage/i.test(line)) reason = line.trim();
      log.info({ part: 'sandbox' }, line);
    });
    const ready = await readReadyLine(child).catch((error: Error) => {
      child.kill('SIGKILL');
      if (this.#state.kind === 'starting') this.#enter({ kind: 'backing_off' });
      if (controlPort !== 0 && reason.includes('EADDRINUSE')) {
        throw new Error(`SANDBOX_CONTROL_PORT: the port ${controlPort} is in use`);
      }
      throw new Error(`the stand-in network did not start: ${reason || error.message}`);
    });
    if (this.#state.kind !== 'starting') return;
    this.#ready = ready;
    this.#enter({ kind: 'ready', child });
    this.#backoff.reset();
    child.once('exit', (code, signal) => this.#ended(code, signal));
  }

  async stop(): Promise<void> {
    if (this.#state.kind === 'stopped') return;
    const child = 'child' in this.#state ? this.#state.child : undefined;
    if (this.#state.kind !== 'stopping') this.#enter({ kind: 'stopping', child });
    this.#stopping.abort();
    if (child && child.exitCode === null && child.signalCode === null) await endProcess(child);
    // A second call may have come to its end first.
    if (this.#isStopping()) this.#enter({ kind: 'stopped' });
  }

  #isStopping(): boolean {
    return this.#state.kind === 'stopping';
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#state.kind !== 'ready') return;
    this.#enter({ kind: 'backing_off' });
    this.#options.log.warn({ code, signal }, 'stand-in network: it ended and is started again');
    this.#restarting ??= this.#restart().finally(() => {
      this.#restarting = undefined;
    });
  }

  /** Until the network is ready and `onRestart` has succeeded (I3), or it is stopped. */
  async #restart(): Promise<void> {
    const { log, onRestart } = this.#options;
    const { signal } = this.#stopping;
    const controlPort = Number(new URL(this.ready.control_url).port);
    while (!signal.aborted) {
      try {
        await delay(this.#backoff.next_ms(), undefined, { signal });
        if (this.#state.kind === 'backing_off') await this.start(controlPort);
        if (signal.aborted) return;
        await onRestart(this.ready);
        if (this.#state.kind === 'ready') return;
      } catch (error) {
        if (!signal.aborted) log.error({ err: error }, 'stand-in network: not back yet');
      }
    }
  }

  #enter(next: State): void {
    checkStep('stand-in network', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}

/** Closes the child's stdin, which ends it; kills it when it does not end in time. */
async function endProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.stdin?.end();
  await Deadline.within(LIMITS.sandbox_stop_ms, exited).catch(() => child.kill('SIGKILL'));
  await exited;
}
