import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Sends a signal; false when there is no such process. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Resolves once the process has ended, at once when it has ended already. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Runs a command to its end. Throws with what it wrote to stderr when it fails. */
export async function run(
  command: string,
  args: string[],
  options: { uid?: number; gid?: number } = {},
): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = (await Promise.race([once(child, 'close'), once(child, 'error').then(([error]) => [error])])) as [
    unknown,
  ];
  if (code !== 0) throw new Error(`${command} failed (${code}): ${errors.trim().split('\n').at(-1) ?? ''}`);
}

/** Ports from here on are given to no outgoing connection, so one stays free for a part that is started again. */
const LOWEST = 20_000;
const PORTS = 10_000;
const taken = new Set<number>();

/** A port of 127.0.0.1 that stays the same however often its part is started. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * PORTS);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  await new Promise((resolve) => server.close(resolve));
  return free;
}
