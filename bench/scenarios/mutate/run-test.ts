import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ended } from '../../kit/processes.js';
import { LIMITS } from './limits.js';

export type TestEnd = 'passed' | 'failed' | 'timed out';

/**
 * Runs one test file of a tree until its first failure. What it started ends with it; the databases that the tests share do not. With a
 * folder `executed`, V8 tells there what its processes have executed, and those have a little time to do so.
 */
export async function runTest(
  tree: string,
  file: string,
  limit_ms: number,
  executed?: string,
): Promise<{ end: TestEnd; took_ms: number }> {
  const since = performance.now();
  const own = { TAP: '1', TAP_BAIL: '1', TAP_TIMEOUT: '0', ...(executed && { NODE_V8_COVERAGE: executed }) };
  const child = spawn(process.execPath, [file], {
    cwd: tree,
    env: { DATABASE: 'embedded', ...process.env, ...own },
    stdio: 'ignore',
    detached: true,
  });
  const over = new AbortController();
  const limit = delay(limit_ms, true, { signal: over.signal }).catch(() => false);
  const timedOut = await Promise.race([limit, once(child, 'exit').then(() => false)]);
  over.abort();
  const took_ms = performance.now() - since;
  if (executed && !timedOut) await groupEnded(child.pid);
  signalGroup(child.pid, 'SIGKILL');
  await ended(child);
  const end = timedOut ? 'timed out' : child.exitCode === 0 ? 'passed' : 'failed';
  return { end, took_ms };
}

/** Resolves when nothing is left that a test started and did not detach, or after a number of looks. */
async function groupEnded(pid: number | undefined): Promise<void> {
  for (let looks = 0; looks < LIMITS.looks_for_end && signalGroup(pid, 0); looks++) await delay(LIMITS.look_ms);
}

/** False when nothing of the group is left. */
function signalGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, name);
  } catch {
    return false;
  }
}
