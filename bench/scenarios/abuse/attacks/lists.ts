import { v7 as uuidv7 } from 'uuid';
import { insertSimulatedConnection } from '../../../../storage/connections/connections.js';
import { partitionOf } from '../../../../storage/model/records.js';
import { type Database, openDatabase } from '../../../../storage/postgres/database.js';
import { fillHistory } from '../../../kit/history.js';
import { mapConcurrent } from '../../../kit/map-concurrent.js';
import { defineAttack } from '../attack.js';
import type { Force } from '../force.js';
import { connect } from '../greed.js';

const PARALLEL_LISTS = 116;
const LISTED_CONNECTIONS = 20_000;
const LISTERS = 16;

/** Works on the service's database itself, where the API would take too long. */
async function onDatabase<T>({ tenant }: Force, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url: tenant.databaseUrl, maxConnections: 4, applicationName: 'bench' });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Filters that find little or nothing: what they leave out is looked at. */
export const lists = defineAttack<string[]>({
  name: 'lists',
  means: `${PARALLEL_LISTS} filtered lists at once, of a workspace with a long history (--rows)`,
  async prepare(force, rows) {
    const [connection] = (await connect(force, 1)) as [string];
    const { subscriptionId } = await onDatabase(force, (db) => fillHistory(db, connection, rows));
    const offset = Math.max(0, Math.floor(Math.min(rows, 100_000) / 2) - 100);
    const statuses = ['failed', 'queued', 'waiting_user', 'outcome_unknown', 'canceled'];
    const operations = statuses.flatMap((status) => [
      `/v1/operations?status=${status}`,
      `/v1/operations?status=${status}&connection_id=${connection}`,
    ]);
    const deliveries = ['failed', 'pending'].map(
      (status) => `/v1/subscriptions/${subscriptionId}/deliveries?status=${status}&offset=${offset}`,
    );
    return { things: [...operations, ...deliveries, `/v1/connections/${connection}/events?offset=${offset}`] };
  },
  async attack(force, paths) {
    const pool = force.pool(PARALLEL_LISTS);
    await force.clients(PARALLEL_LISTS, (client, turn) =>
      force.fire(pool, { path: paths[(client + turn) % paths.length] as string, headers: force.key }),
    );
  },
});

export const wholeList = defineAttack<null>({
  name: 'whole-list',
  means: `${LISTERS} clients read GET /v1/connections of a workspace with ${LISTED_CONNECTIONS} connections`,
  async prepare(force) {
    const { workspaceId } = force.tenant;
    await onDatabase(force, (db) =>
      mapConcurrent(Array.from({ length: LISTED_CONNECTIONS }).keys(), (number) => {
        const id = uuidv7();
        const actor = { kind: 'person', id: `listed-${number}` } as const;
        return insertSimulatedConnection(db, { id, workspaceId, partition: partitionOf(id), actor });
      }),
    );
    return { things: null };
  },
  async attack(force) {
    const pool = force.pool(LISTERS);
    await force.clients(LISTERS, () => force.fire(pool, { path: '/v1/connections', headers: force.key }));
  },
});
