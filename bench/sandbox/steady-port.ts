import { createServer } from 'node:net';

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
