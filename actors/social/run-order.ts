import type { RunOrder } from '../../browser-pool/messages.js';
import { readSecrets } from '../../storage/connections/session-secrets.js';
import { OperationError } from '../../storage/model/errors.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { passwordContext, sessionContext } from '../../storage/secrets/sealing.js';
import { type Execution, Interrupted } from '../operations/execution.js';
import { pinProxy } from './proxy-pin.js';

/** Where an order's proxy and secrets come from. */
export interface OrderSources {
  db: Database;
  ring: KeyRing;
}

/**
 * The order for one run of an execution: the connection's session, its pinned proxy, and the running time left. Throws
 * `regional_proxy_unavailable` when the connection has no proxy to use, and KeyUnknown when this node lacks the key of a secret.
 */
export async function orderRun(sources: OrderSources, execution: Execution): Promise<RunOrder> {
  const { connection, capability } = execution;
  const login = capability.opensSession === true;
  const proxy = await pinProxy(sources.db, sources.ring, connection, login);
  if (!proxy) throw new OperationError('regional_proxy_unavailable', { region: connection.region });
  return {
    workspaceId: connection.workspace_id,
    connectionId: connection.id,
    stateRevision: connection.state_revision,
    epoch: execution.epoch,
    capability: capability.name,
    input: execution.input,
    proxy,
    ...(await openSecrets(sources, connection, login)),
    actorId: connection.actor_id,
    deadline_ms: execution.remaining_ms,
  };
}

/** The session; for a login the credentials, too, when the connection has a password. */
async function openSecrets(
  { db, ring }: OrderSources,
  connection: ConnectionRow,
  login: boolean,
): Promise<Pick<RunOrder, 'session' | 'credentials'>> {
  const row = await readSecrets(db, connection.id);
  if (!row) throw new Interrupted('fenced'); // deleted in the meantime
  const session = row.session_sealed && ring.open(row.session_sealed, sessionContext(connection.id)).toString('utf8');
  if (!login || !row.password_sealed) return { session };
  const password = ring.open(row.password_sealed, passwordContext(connection.id)).toString('utf8');
  return { session, credentials: { username: connection.username ?? '', password } };
}
