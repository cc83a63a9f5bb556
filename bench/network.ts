import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import typia from 'typia';
import type { ProxyTarget } from '../browser-pool/messages.js';
import type { Site } from '../browser-pool/social/site/site.js';
import { socialSite } from '../browser-pool/social/site/stand-in.js';

/** The stand-in network as a process of its own, with a data directory that goes with it. */
export interface BenchNetwork extends AsyncDisposable {
  site: Site;
  proxy: ProxyTarget;
}

interface Ready {
  origin: string;
  ca_file: string;
  spki: string;
  proxies: { region: string; url: string; username: string; password: string }[];
}

const PROGRAM = new URL('./sandbox/main.js', import.meta.url).pathname;

export async function startNetwork(): Promise<BenchNetwork> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-network-'));
  const child = spawn(process.execPath, [PROGRAM, '--data-dir', directory], { stdio: 'pipe' });
  child.stderr.pipe(process.stderr);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { origin, ca_file, spki, proxies } = typia.json.assertParse<Ready>(line);
  const [proxy] = proxies;
  if (!proxy) throw new Error('the network has no proxy');
  const { region, url, username, password } = proxy;
  return {
    site: socialSite({ origin, spki, ca: await readFile(ca_file, 'utf8') }),
    proxy: { id: region, server: url, username, password },
    [Symbol.asyncDispose]: () => end(child, directory),
  };
}

async function end(child: ChildProcessWithoutNullStreams, directory: string): Promise<void> {
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
  await rm(directory, { recursive: true, force: true });
}
