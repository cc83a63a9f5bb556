import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from './limits.js';

/**
 * Has SIGTERM and Ctrl-C end the processes that a scenario started, and then this one: a service of its own would go on measuring
 * itself. Under npm Ctrl-C comes twice, from the terminal and from npm; the second changes nothing.
 */
export function endChildrenOnSignal(): void {
  let ending = false;
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (ending) return;
      ending = true;
      void endChildren().finally(() => process.exit(status));
    });
  }
}

/** Those that do not end in time are killed. */
async function endChildren(): Promise<void> {
  signalChildren('SIGTERM');
  const until = performance.now() + LIMITS.children_end_ms;
  while (children().length > 0 && performance.now() < until) await delay(LIMITS.children_poll_ms);
  signalChildren('SIGKILL');
}

function signalChildren(signal: NodeJS.Signals): void {
  for (const pid of children()) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}

/** As the kernel lists them; where it does not, none are known. */
function children(): number[] {
  try {
    const list = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
    return list.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
