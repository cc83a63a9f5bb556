import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onCores, splitCores } from '../kit/cores.js';
import { number } from '../kit/report.js';
import { drive } from './drive.js';
import type { LoadOrder } from './messages.js';

/** Below so many times what was measured, the load program may have been what was measured. */
const ENOUGH = 1.5;

/** Submissions a second that the load program can make on a core of its own, of a server that does nothing with them. */
export async function clientCapacity(
  order: Omit<LoadOrder, 'seconds'>,
  seconds: number,
  say: (line: string) => void,
): Promise<number> {
  const cores = splitCores();
  const [execPath, execArgv] = onCores(cores?.service, process.execPath, []);
  const server = fork(new URL('./trivial.js', import.meta.url), { execPath, execArgv });
  try {
    const [port] = (await once(server, 'message')) as [number];
    const aimed = { ...order, urls: [`http://127.0.0.1:${port}`], kinds: ['submit' as const], seconds };
    const { answered, seconds: taken } = await drive('the client alone', aimed, say, cores?.client);
    return answered / taken;
  } finally {
    server.disconnect();
    await once(server, 'exit');
  }
}

export function capacityText(capacity: number, measured: number): string {
  const times = capacity / measured;
  const verdict = times < ENOUGH ? ': IT MAY BE THE BOTTLENECK' : '';
  return `undici, ${number(capacity)} requests/s on one core from a server that does nothing, ${number(times, 1)} times the rate${verdict}`;
}
