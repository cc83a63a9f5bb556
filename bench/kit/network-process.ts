import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ProxyTarget } from '../../browser-pool/messages.js';
import type { Site } from '../../browser-pool/social/site/site.js';
import { socialSite } from '../../browser-pool/social/site/stand-in.js';
import { programFile } from '../../storage/process/programs.js';
import type { Ready } from '../sandbox/network.js';

/** The stand-in network as a process of its own, as its parent sees it. */
export class NetworkProcess {
  readonly ready: Ready;
  readonly pid: number;
  /** Its exit code, once it has ended; null after a signal. */
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;

  constructor(child: ChildProcessByStdio<Writable, Readable, null>, exited: Promise<number | null>, ready: Ready) {
    this.#child = child;
    this.exited = exited;
    this.ready = ready;
    this.pid = child.pid ?? 0;
  }

  /** Starts it on this data directory; resolves once it is up. Throws when it ends instead. */
  static async start(dataDir: string): Promise<NetworkProcess> {
    const child = spawn(process.execPath, [programFile('bench/sandbox/main'), '--data-dir', dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit').then(([code]) => code as number | null);
    const ended = exited.then((code) => Promise.reject(new Error(`the network ended (status ${code})`)));
    const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string];
    ended.catch(() => {});
    return new NetworkProcess(child, exited, JSON.parse(line) as Ready);
  }

  /** Its site, as the browser pool takes it. */
  async site(): Promise<Site> {
    const { origin, spki, ca_file } = this.ready;
    return socialSite({ origin, spki, ca: await readFile(ca_file, 'utf8') });
  }

  /** Its proxies, one a region, as the browser pool takes them. */
  get proxies(): ProxyTarget[] {
    return this.ready.proxies.map(({ region, url, username, password }) => ({
      id: region,
      server: url,
      username,
      password,
    }));
  }

  /** Ends it as the death of its parent does. Gives the exit code. */
  stop(): Promise<number | null> {
    this.#child.stdin.end();
    return this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}
