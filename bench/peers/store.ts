import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connectDatabase } from '../../storage/postgres/embedded/embedded.js';
import { readRunning } from '../../storage/postgres/embedded/embedded-server.js';
import { databaseChoice } from '../kit/postgres/choice.js';
import { startStockDatabase } from '../kit/postgres/stock-database.js';

/** Where a peer stores: what its programs find it by, and its process, which its children belong to. */
export interface Store extends AsyncDisposable {
  environment: Record<string, string>;
  pid: number;
}

/** A PostgreSQL of its own in the folder, the same and with the same settings as the service's own. */
export async function startPostgres(folder: string): Promise<Store> {
  const choice = databaseChoice();
  if (choice === 'embedded') return startEmbedded(folder);
  const { url, server } = await startStockDatabase(choice, folder);
  return {
    environment: { DATABASE_URL: url },
    pid: server.pid,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function startEmbedded(folder: string): Promise<Store> {
  const server = await connectDatabase({ dataDir: folder, exclusive: true });
  const running = await readRunning(join(folder, 'running.json'));
  if (!running) throw new Error(`there is no database in ${folder}`);
  return {
    environment: { DATABASE_URL: server.url },
    pid: running.postmaster,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** A Redis of its own in the folder that answers when it has synced, as PostgreSQL does. */
export async function startRedis(folder: string): Promise<Store> {
  const dir = join(folder, 'redis');
  await mkdir(dir);
  const port = await freePort();
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', dir, ...durable];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout })) if (/Ready to accept/.test(line)) return;
    throw new Error('redis-server ended before it was ready');
  })();
  await ready;
  child.stdout.resume();
  return {
    environment: { REDIS_URL: `redis://127.0.0.1:${port}` },
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
