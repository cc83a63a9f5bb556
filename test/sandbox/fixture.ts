import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { control as requestControl } from '../../bench/kit/control.js';
import { NetworkProcess } from '../../bench/kit/network-process.js';
import type { Ready } from '../../bench/sandbox/network.js';

/** What a fixture needs of a tap test: a call at its end. */
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
  const network = await NetworkProcess.start(directory ?? (await dataDirectory(owner)));
  owner.teardown(() => network.stop());
  const { ready, pid, exited } = network;
  return { ...ready, pid, exited, stop: () => network.stop(), kill: () => network.kill() };
}

/** One request to the control API; throws on an answer that is no success. */
export async function control<T>(
  network: Ready,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<T> {
  return (await requestControl(network.control_url, method, path, body)) as T;
}

/** The ledger of one account. */
export async function ledgerOf(network: Ready, account: string): Promise<Record<string, string>[]> {
  const path = `/ledger?account=${encodeURIComponent(account)}`;
  return (await control<{ entries: Record<string, string>[] }>(network, 'GET', path)).entries;
}
