import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ProxyTarget } from '../../browser-pool/messages.js';
import { type Site, socialSite } from '../../browser-pool/social/site/site.js';

interface ReadyLine {
  control_url: string;
  origin: string;
  ca_file: string;
  spki: string;
  proxies: { region: string; url: string; username: string; password: string }[];
}

/** A write the network received. */
export interface LedgerEntry {
  id: string;
  account: string;
  kind: string;
  target: string;
  text: string;
}

const MAIN = fileURLToPath(new URL('../../bench/sandbox/main.js', import.meta.url));

/** The stand-in network as a process, on a data directory of its own; to be closed by the test. */
export class Network {
  readonly site: Site;
  readonly proxies: ProxyTarget[];
  #child: ChildProcessWithoutNullStreams;
  #directory: string;
  #control: string;

  private constructor(child: ChildProcessWithoutNullStreams, directory: string, ready: ReadyLine) {
    this.#child = child;
    this.#directory = directory;
    this.#control = ready.control_url;
    this.site = socialSite({ origin: ready.origin, ca: readFileSync(ready.ca_file, 'utf8'), spki: ready.spki });
    this.proxies = ready.proxies.map(({ region, url, username, password }) => ({
      id: region,
      server: url,
      username,
      password,
    }));
  }

  static async start(): Promise<Network> {
    const directory = mkdtempSync(join(tmpdir(), 'network-'));
    const child = spawn(process.execPath, [MAIN, '--data-dir', directory], { stdio: 'pipe' });
    child.stderr.pipe(process.stderr);
    const [line] = await once(createInterface(child.stdout), 'line');
    return new Network(child, directory, JSON.parse(line));
  }

  get proxy(): ProxyTarget {
    const [first] = this.proxies;
    if (!first) throw new Error('the network has no proxy');
    return first;
  }

  async ledger(account: string): Promise<LedgerEntry[]> {
    const { entries } = await this.#ask('GET', `/ledger?account=${encodeURIComponent(account)}`);
    return entries as LedgerEntry[];
  }

  fault(fault: { account?: string; capability?: string; mode: string; status?: number; ms?: number; times?: number }) {
    return this.#ask('POST', '/faults', fault);
  }

  /** The faults that still wait for a request. */
  async faults(): Promise<unknown[]> {
    const { faults } = await this.#ask('GET', '/faults');
    return faults as unknown[];
  }

  stream(order: { account: string; action: string; type?: string; data?: Record<string, unknown> }) {
    return this.#ask('POST', '/stream', order);
  }

  /** Changes an account, or makes it; `end_sessions` signs it out everywhere. */
  account(change: Record<string, unknown>) {
    return this.#ask('POST', '/accounts', change);
  }

  /** Requests of an account that came through any proxy. */
  async requestsOf(account: string): Promise<number> {
    const { regions } = await this.#ask('GET', '/proxies');
    const counts = (regions as { accounts: Record<string, number> }[]).map(({ accounts }) => accounts[account] ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(this.#control + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }
}
