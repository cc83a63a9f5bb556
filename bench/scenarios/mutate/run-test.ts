import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ended } from '../../kit/processes.js';

export type TestEnd = 'passed' | 'failed' | 'timed out';

/** Runs one test file of a tree until its first failure. What it started ends with it; the databases that the tests share do not. */
export async function runTest(
  tree: string,
  file: string,
  limit_ms: number,
): Promise<{ end: TestEnd; took_ms: number }> {
  const since = performance.now();
  const child = spawn(process.execPath, [file], {
    cwd: tree,
    env: { DATABASE: 'embedded', ...process.env, TAP: '1', TAP_BAIL: '1', TAP_TIMEOUT: '0' },
    stdio: 'ignore',
    detached: true,
  });
  const over = new AbortController();
  const limit = delay(limit_ms, true, { signal: over.signal }).catch(() => false);
  const timedOut = await Promise.race([limit, once(child, 'exit').then(() => false)]);
  over.abort();
  endGroup(child.pid);
  await ended(child);
  const end = timedOut ? 'timed out' : child.exitCode === 0 ? 'passed' : 'failed';
  return { end, took_ms: performance.now() - since };
}

/** All that a test started and did not detach. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
