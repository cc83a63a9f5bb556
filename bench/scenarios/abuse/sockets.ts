import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { classOf, count } from './answers.js';
import type { Force } from './force.js';

/** Between two connections that one stranger opens, and between the first ones of two strangers. */
const AGAIN_ms = 50;
const STAGGER_ms = 0.5;

/**
 * So many connections of strangers, each opened again as soon as it was closed, until the attack's time is over. `work` writes to one;
 * what comes back is counted by its status, and a connection that was closed without any as a reset.
 */
export async function keepSockets(force: Force, many: number, work: (socket: Socket) => Promise<void>): Promise<void> {
  const { hostname, port } = new URL(force.tenant.url);
  const stranger = async (number: number) => {
    await force.pause(number * STAGGER_ms);
    while (!force.isOver) {
      await use(force, connect(Number(port), hostname), work);
      await force.pause(AGAIN_ms);
    }
  };
  await Promise.all(Array.from({ length: many }, (_, number) => stranger(number)));
}

/** Resolves when the connection is closed, by either side. */
async function use(force: Force, socket: Socket, work: (socket: Socket) => Promise<void>): Promise<void> {
  const end = () => socket.destroy();
  force.over.addEventListener('abort', end, { once: true });
  let answered = false;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    force.received_bytes += chunk.length;
    const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1', 0, 12))?.[1];
    if (!status) return;
    answered = true;
    count(force.answers, classOf(Number(status)));
  });
  const closed = once(socket, 'close').catch(() => {});
  await Promise.race([once(socket, 'connect').catch(() => {}), closed]);
  if (!socket.destroyed) await Promise.race([work(socket).catch(() => {}), closed]);
  await closed;
  force.over.removeEventListener('abort', end);
  if (!answered && !force.isOver) count(force.answers, 'reset');
}

/** Writes at the pace at which the other side takes it. */
export async function write(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
}
