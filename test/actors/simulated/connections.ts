import type { Test } from 'tap';
import { createSimulatedProvider } from '../../../actors/providers/simulated.js';
import type { Vault } from '../../../storage/model/vault.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { connectionRow, perform, succeed } from './request.js';

/** A workspace of simulated connections on a database of its own, and what a test does with them. */
export async function network(t: Test, vault?: Vault) {
  const { db } = await freshDatabase(t, vault);
  const workspaceId = await insertWorkspace(db);
  let now = Date.now();
  const provider = createSimulatedProvider({ db, clock: () => now++ });
  const connect = async (actorId: string, workspace = workspaceId) => {
    const { id } = await insertSimulated(db, workspace, actorId);
    return connectionRow(actorId, { id, workspaceId: workspace });
  };
  type Connection = Awaited<ReturnType<typeof connect>>;
  const get = async <Result>(connection: Connection, capability: string, input: Record<string, unknown> = {}) =>
    (await succeed(provider, connection, capability, input)) as unknown as Result;
  const write = (connection: Connection, capability: string, input: Record<string, unknown>, operationId?: string) =>
    perform(db, provider, connection, capability, input, operationId);
  const send = (connection: Connection, input: Record<string, unknown>, operationId?: string) =>
    write(connection, 'social.message.send', input, operationId);
  const eventsOf = (connection: Connection) =>
    db.query<{ type: string; provider_event_id: string; data: Record<string, unknown> }>(
      'testEvents',
      'select type, provider_event_id, data from event where connection_id = $1 order by id',
      [connection.id],
    );
  return { db, workspaceId, connect, get, write, send, eventsOf };
}
