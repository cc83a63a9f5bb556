import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf, processorOf } from './cost/cpu.js';
import { LIMITS } from './limits.js';
import { deleteTemporaryFolders } from './temporary-folder.js';

/**
 * Has SIGTERM and Ctrl-C end the processes that a scenario started, with all below them, and then this one; a service of its own would go
 * on measuring itself. Under npm Ctrl-C comes twice, from the terminal and from npm; the second changes nothing. Aborted from the first on:
 * what fails then fails because its processes end.
 */
export function endChildrenOnSignal(): AbortSignal {
  const ending = new AbortController();
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (ending.signal.aborted) return;
      ending.abort();
      for (const failure of ['unhandledRejection', 'uncaughtException']) process.on(failure, () => {});
      void endChildren(status);
    });
  }
  return ending.signal;
}

/**
 * Children get SIGTERM, and end what is below them by themselves; what outlives its parent gets SIGINT, on which PostgreSQL waits for no
 * client. A PostgreSQL that the scenario started itself gets that once all others have ended: a service drains into it. The scenario goes on meanwhile and may start others, which get the same. What has not ended in time is killed. From then on
 * nothing of the scenario runs: its folders go and the process exits in one turn.
 */
async function endChildren(status: number): Promise<void> {
  const until = performance.now() + LIMITS.children_end_ms;
  /** When each process below this one began, and who started it; a number alone may be given to another one. */
  const seen = new Map<number, Seen>();
  for (;;) {
    for (const pid of descendantsOf(process.pid)) {
      const { began, parent, name } = processorOf(pid) ?? {};
      if (began === undefined || parent === undefined || seen.get(pid)?.began === began) continue;
      seen.set(pid, { began, parent });
      if (parent === process.pid && name !== DATABASE) signal(pid, 'SIGTERM');
    }
    const onlyDatabases = [...seen.keys()].every((pid) => [DATABASE, undefined].includes(processorOf(pid)?.name));
    for (const [pid, one] of seen) {
      const now = processorOf(pid);
      if (now?.began !== one.began || now.isZombie) seen.delete(pid);
      else if (now.parent !== one.parent || (onlyDatabases && now.parent === process.pid)) signal(pid, 'SIGINT');
      one.parent = now?.parent ?? one.parent;
    }
    if (seen.size === 0 || performance.now() > until) break;
    await delay(LIMITS.children_poll_ms);
  }
  const left = new Set([...seen.keys(), ...descendantsOf(process.pid).filter(isRunning)]);
  for (const pid of left) signal(pid, 'SIGKILL');
  if (left.size > 0) writeSync(process.stderr.fd, `${left.size} processes had to be killed\n`);
  deleteTemporaryFolders();
  process.exit(status);
}

const isRunning = (pid: number): boolean => processorOf(pid)?.isZombie === false;

/** The name of PostgreSQL's processes. */
const DATABASE = 'postgres';

interface Seen {
  began: number;
  parent: number;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
