import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Ready } from '../../bench/sandbox/network.js';

const MAIN = fileURLToPath(new URL('../../bench/sandbox/main.js', import.meta.url));

/** What a fixture needs of a tap test: a way to be told of its end. */
export interface Owner {
  teardown(clean: () => unknown): unknown;
}

/** A running stand-in network, as its parent process sees it. */
export interface RunningNetwork extends Ready {
  pid: number;
  /** Its exit code, once it has ended. */
  exited: Promise<number | null>;
  /** Ends it as the parent's death would. Gives the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

/** An empty data directory, removed at the end of the test. */
export async function dataDirectory(owner: Owner): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'network-'));
  owner.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts the network as a process of its own; it ends with the test. */
export async function startedNetwork(owner: Owner, directory?: string): Promise<RunningNetwork> {
  const dataDir = directory ?? (await dataDirectory(owner));
  const child = spawn(process.execPath, [MAIN, '--data-dir', dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const stop = async (): Promise<number | null> => {
    child.stdin.end();
    return exited;
  };
  owner.teardown(stop);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { ...(JSON.parse(line) as Ready), pid: child.pid ?? 0, exited, stop, kill };
}

/** One request to the control API; throws unless it is answered with 200. */
export async function control<T>(
  network: Ready,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await request(`${network.control_url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as T;
}

/** The ledger of one account. */
export async function ledgerOf(network: Ready, account: string): Promise<Record<string, string>[]> {
  const path = `/ledger?account=${encodeURIComponent(account)}`;
  return (await control<{ entries: Record<string, string>[] }>(network, 'GET', path)).entries;
}
