import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import typia from 'typia';
import { request } from 'undici';
import { treeTime_ms } from '../kit/cost/cpu.js';
import { type Store, startPostgres, startRedis } from './store.js';
import type { Ended, Subject } from './subject.js';

/** The peers that serve HTTP: a folder of `programs/` each, with a program that serves and one that executes. */
export const PEERS = { 'pg-boss': startPostgres, 'graphile-worker': startPostgres, bullmq: startRedis } as const;
export type Peer = keyof typeof PEERS;

const BODY = '{"capability":"social.profile.get","input":{"profile_id":"person-NUMBER"}}';
const assertAddress = typia.json.createAssertParse<{ url: string }>();
const assertIdle = typia.createAssert<{ idle: boolean }>();
const assertEnded = typia.createAssert<Ended>();

/** Starts a peer with its store. `programs` is where the peers are installed, `folder` takes the store's data. */
export async function startPeer(peer: Peer, programs: string, folder: string): Promise<Subject> {
  const store = await PEERS[peer](folder);
  const children: ChildProcess[] = [];
  const start = (name: string) => {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [join(programs, peer, name)], {
      env: { PATH, NODE_ENV: 'production', ...store.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  };
  const stop = () => stopAll(children, store);
  try {
    // The tables are the first one's to make.
    const { url } = await addressOf(start('web.mjs'));
    start('worker.mjs').stdout?.resume();
    return {
      url,
      authorization: 'none',
      submissions: { [peer]: { paths: ['/operations'], body: BODY } },
      pathOf: (id) => `/operations/${id}`,
      idle: async () => assertIdle(await get(`${url}/idle`)).idle,
      ended: async () => assertEnded(await get(`${url}/ended`)),
      cpu: () => ({
        server_ms: children.reduce((sum, { pid = 0 }) => sum + treeTime_ms(pid), 0),
        store_ms: treeTime_ms(store.pid),
      }),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addressOf(child: ChildProcess): Promise<{ url: string }> {
  if (!child.stdout) throw new Error('the peer has no stdout');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`a peer ended (status ${code})`)));
  const [text] = (await Promise.race([line, ended])) as [string];
  ended.catch(() => {});
  return assertAddress(text);
}

/** The programs first: they would complain of a store that is gone. */
async function stopAll(children: ChildProcess[], store: Store): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  await store[Symbol.asyncDispose]();
}

async function get(url: string): Promise<unknown> {
  const answer = await request(url);
  return answer.body.json();
}
