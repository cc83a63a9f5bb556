import { randomBytes } from 'node:crypto';
import { defineAttack, nothing } from '../attack.js';
import { keepSockets, write } from '../sockets.js';

/* What needs no key. */

const STALLED_BODIES = 1_000;
const DECLARED_BYTES = 2 * 1_024 * 1_024;
const SENT_BYTES = 1_900_000;
const FLOOD_CLIENTS = 256;
const SLOW_HEADS = 2_000;
const HEAD_LINE_ms = 500;
const IDLE_SOCKETS = 8_000;

export const bodies = defineAttack<null>({
  name: 'bodies',
  means: `${STALLED_BODIES} connections without a key send 1.9 of 2 MiB and stall`,
  prepare: nothing,
  attack(force) {
    const part = Buffer.alloc(64 * 1_024, ' ');
    const head = [
      'POST /v1/connections/01990000-0000-7000-8000-000000000000/operations HTTP/1.1',
      ...['Host: x', 'User-Agent: stranger', 'Content-Type: application/json', 'Idempotency-Key: x'],
      `Content-Length: ${DECLARED_BYTES}`,
    ];
    return keepSockets(force, STALLED_BODIES, async (socket) => {
      await write(socket, `${head.join('\r\n')}\r\n\r\n`);
      for (let sent = 0; sent < SENT_BYTES && !socket.destroyed; sent += part.length) await write(socket, part);
    });
  },
});

export const keys = defineAttack<null>({
  name: 'keys',
  means: `${FLOOD_CLIENTS} clients ask with another wrong key each time`,
  prepare: nothing,
  async attack(force) {
    const pool = force.pool(FLOOD_CLIENTS);
    await force.clients(FLOOD_CLIENTS, () => {
      const authorization = `Bearer cs_${randomBytes(32).toString('base64url')}`;
      return force.fire(pool, { path: '/v1/connections', headers: { authorization } });
    });
  },
});

export const methods = defineAttack<null>({
  name: 'methods',
  means: `${FLOOD_CLIENTS} clients without a key ask with random methods for random paths`,
  prepare: nothing,
  async attack(force) {
    const pool = force.pool(FLOOD_CLIENTS);
    const random = (length: number) => randomBytes(length).toString('hex');
    await force.clients(FLOOD_CLIENTS, (_, turn) => {
      const path = turn % 2 === 0 ? `/v1/${random(8)}` : `/${random(4)}/${random(12)}?${random(3)}=${random(3)}`;
      return force.fire(pool, { method: `M${random(5).toUpperCase()}`, path });
    });
  },
});

export const heads = defineAttack<null>({
  name: 'heads',
  means: `${SLOW_HEADS} connections without a key send their head a line each ${HEAD_LINE_ms} ms`,
  prepare: nothing,
  attack: (force) =>
    keepSockets(force, SLOW_HEADS, async (socket) => {
      await write(socket, 'GET /v1/connections HTTP/1.1\r\nHost: x\r\n');
      for (let line = 0; !socket.destroyed; line++) {
        await force.pause(HEAD_LINE_ms);
        await write(socket, `X-Line-${line}: ${line}\r\n`);
      }
    }),
});

export const idle = defineAttack<null>({
  name: 'idle',
  means: `${IDLE_SOCKETS} connections that say nothing`,
  prepare: nothing,
  attack: (force) => keepSockets(force, IDLE_SOCKETS, () => new Promise(() => {})),
});
