import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { holdingLock } from '../../process/file-lock.js';
import { programFile } from '../../process/programs.js';
import { databaseEnvironment } from '../database-environment.js';
import type { Order } from './keeper.js';
import { postgresUser } from './postgres-user.js';

const PROGRAM = programFile('storage/postgres/embedded/keeper');

/** A keeper (keeper.ts) whose PostgreSQL accepts connections. */
export interface RunningKeeper {
  pid: number;
  port: number;
  /** Resolves with the reason when it has ended, and PostgreSQL with it unless the keeper was killed. */
  ended: Promise<string>;
  /** Stops PostgreSQL; resolves when the keeper has ended. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL in a keeper of its own, which holds the lock of the folder; `held` is called when it does. Rejects with the reason when it
 * does not start.
 */
export async function startKeeper(lockFile: string, order: Order, held?: () => void): Promise<RunningKeeper> {
  const identity = process.getuid?.() === 0 ? await postgresUser(order.dir, PROGRAM) : { command: [], options: {} };
  const [command = process.execPath, ...args] = [...identity.command, process.execPath, PROGRAM];
  const keeper = holdingLock(lockFile, (open) =>
    spawn(command, args, {
      ...identity.options,
      cwd: '/',
      env: databaseEnvironment(), // PostgreSQL inherits it from the keeper
      detached: true, // its own session: a terminal's Ctrl-C must not stop the database under a draining service
      stdio: ['pipe', 'pipe', 'inherit', ...open],
    }),
  ) as ChildProcessByStdio<Writable, Readable, null>;
  let reason = 'its process ended';
  const started = Promise.withResolvers<number>();
  const ended = new Promise<string>((done) => keeper.once('close', () => done(reason)));
  createInterface({ input: keeper.stdout }).on('line', (line) => {
    const { port, error = reason } = JSON.parse(line) as { port?: number; error?: string };
    if (port !== undefined) started.resolve(port);
    reason = error;
  });
  keeper.once('error', started.reject);
  void ended.then((why) => started.reject(new Error(why)));
  keeper.stdin.on('error', () => {});
  keeper.stdin.write(`${JSON.stringify(order)}\n`);
  if (keeper.pid !== undefined) held?.();
  const port = await started.promise;
  keeper.unref();
  return {
    pid: keeper.pid ?? 0,
    port,
    ended,
    async stop() {
      keeper.ref();
      keeper.stdin.end();
      await ended;
    },
  };
}
