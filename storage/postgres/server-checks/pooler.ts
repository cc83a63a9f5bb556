import pg from 'pg';
import { LIMITS } from '../../limits.js';
import { Deadline } from '../../process/deadline.js';

/** What stands between the service and PostgreSQL, by when it gives a client's server connection to another client. */
export type Pooler = 'none' | 'session' | 'transaction';

/**
 * Which kind of pooler answers at this address, to which `client` is connected. A pooler gives its clients a key of its own to
 * cancel by, so that the process that was announced is not the one that runs the statements. One that pools transactions gives
 * another client the server connection of a client that is between two transactions; one that pools sessions never does.
 *
 * @throws Error when the address does not answer, or gives no second connection within LIMITS.probe_timeout_ms
 */
export async function poolerOf(client: pg.Client, url: string): Promise<Pooler> {
  if ((await processOf(client)) === announced(client)) return 'none';
  const second = probingClient(url);
  try {
    await inTime(() => second.connect());
    for (let round = 0; round < LIMITS.pooler_rounds; round++) {
      if (await moves(client, second)) return 'transaction';
    }
    return 'session';
  } finally {
    await second.end().catch(() => {});
  }
}

/** Whether the first client's server connection goes to the second, or to nobody and back as another one, between two statements. */
async function moves(first: pg.Client, second: pg.Client): Promise<boolean> {
  const before = await processOf(first);
  try {
    await inTime(() => second.query('begin'));
  } catch (error) {
    if (error instanceof pg.DatabaseError) return true; // it pools single statements, which is less still
    throw error;
  }
  if ((await processOf(second)) === before) return true; // of a pool of one, the first now waits for it
  const after = await inTime(() => processOf(first));
  await second.query('rollback');
  return before !== after;
}

function probingClient(url: string): pg.Client {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.probe_timeout_ms });
  client.on('error', () => {});
  return client;
}

async function processOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** The process that the server named when the connection was made. */
const announced = (client: pg.Client) => (client as unknown as { processID: number }).processID;

/** What a pooler without another server connection leaves without an answer. */
const inTime = <T>(work: () => Promise<T>): Promise<T> =>
  Deadline.within(LIMITS.probe_timeout_ms, work(), { reason: noSecond });

const noSecond = () => new Error('a pooler answers, and gives no second connection: allow it more');
