import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { defineAttack, type Ground, nothing } from '../attack.js';
import type { Force } from '../force.js';
import { keepSockets, write } from '../sockets.js';

/* Routes that need no key, used as they are meant to be, and far too often. */

const CLIENTS = 256;
const SLOW_READERS = 900;
/** Less than a reader has to take not to be cut. */
const SLOW_BYTES = 16 * 1_024;
const SLOW_ms = 2_000;

/** Every body that does not change: the reference, the pages, and what both are made of. */
async function fixedPaths(force: Force): Promise<Ground<string[]>> {
  const pool = force.pool(1);
  const pages = ['/openapi.json', '/docs', '/console', '/reconnect'];
  const paths = [...pages, '/docs/viewer.js', '/docs/start.js'];
  for (const page of ['/console', '/reconnect']) {
    const { text = '' } = (await force.ask(pool, { path: page })) ?? {};
    paths.push(...[...text.matchAll(/(?:src|href)="(pages\/[^"]+)"/g)].map(([, file]) => `/${file}`));
  }
  return { things: paths };
}

const asked = (name: string, method: 'GET' | 'HEAD') =>
  defineAttack<string[]>({
    name,
    means: `${CLIENTS} clients without a key ${method} the reference and the pages`,
    prepare: fixedPaths,
    async attack(force, paths) {
      const pool = force.pool(CLIENTS);
      await force.clients(CLIENTS, (client, turn) =>
        force.fire(pool, { method, path: paths[(client + turn) % paths.length] ?? '/docs' }),
      );
    },
  });

export const fixedHeads = asked('fixed-heads', 'HEAD');
export const fixedBodies = asked('fixed-bodies', 'GET');

export const slowReaders = defineAttack<null>({
  name: 'slow-readers',
  means: `${SLOW_READERS} connections without a key ask for the largest file and read it as slowly as they can`,
  prepare: nothing,
  attack: (force) =>
    keepSockets(force, SLOW_READERS, async (socket) => {
      await write(socket, 'GET /docs/viewer.js HTTP/1.1\r\nHost: x\r\nUser-Agent: stranger\r\n\r\n');
      await readSlowly(force, socket);
    }),
});

async function readSlowly(force: Force, socket: Socket): Promise<void> {
  let taken = 0;
  socket.on('data', ({ length }: Buffer) => {
    taken += length;
    if (taken < SLOW_BYTES) return;
    taken = 0;
    socket.pause();
  });
  while (!socket.destroyed) {
    await force.pause(SLOW_ms);
    socket.resume();
  }
}

const made = () => randomBytes(48).toString('base64url').slice(0, 64);

export const links = defineAttack<null>({
  name: 'links',
  means: `${CLIENTS} clients try made-up reconnect links, sessions and keys for a session`,
  prepare: nothing,
  async attack(force) {
    const pool = force.pool(CLIENTS);
    const headers = { 'console-request': '1', 'user-agent': 'stranger' };
    const shots = [
      () => ({ method: 'POST', path: '/reconnect/open', headers, body: { token: made() } }),
      () => ({ method: 'POST', path: '/reconnect/progress', headers, body: { token: made(), page: made() } }),
      () => ({ path: '/console/session', headers: { ...headers, cookie: `console_session=${made()}` } }),
      () => ({ method: 'POST', path: '/console/session', headers, body: { key: `cs_live_${made()}` } }),
    ];
    await force.clients(CLIENTS, (client, turn) => force.fire(pool, shots[(client + turn) % shots.length]!()));
  },
});

export const probes = defineAttack<null>({
  name: 'probes',
  means: `${CLIENTS} clients ask whether the service lives and is ready`,
  prepare: nothing,
  async attack(force) {
    const pool = force.pool(CLIENTS);
    await force.clients(CLIENTS, (_, turn) => force.fire(pool, { path: turn % 2 === 0 ? '/healthz' : '/readyz' }));
  },
});
