import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

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
