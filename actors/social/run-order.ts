import type { RunOrder } from '../../browser-pool/messages.js';
import { openProxy } from '../../storage/connections/proxies.js';
import { readSecrets } from '../../storage/connections/session-secrets.js';
import { OperationError } from '../../storage/model/errors.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { passwordContext, sessionContext } from '../../storage/secrets/sealing.js';
import { type Execution, Interrupted } from '../operations/attempt/execution.js';
import type { UsedProxy } from '../proxy-health.js';
import type { SessionSaves } from '../session-saves.js';
import { proxyOf } from './proxy-pin.js';

/** Where an order's proxy and secrets come from. */
export interface OrderSources {
  db: Database;
  ring: KeyRing;
  /** Renewals of sessions that are still being stored. */
  saves: Pick<SessionSaves, 'settled' | 'use' | 'quiet'>;
}

/** An order, its proxy, and the stored session it was made from, as it is sealed. */
export interface OrderedRun {
  order: RunOrder;
  proxy: UsedProxy;
  sealed: Buffer | null;
  /** The password that it signs in with, when that was given at a reconnect link. */
  given: string | undefined;
}

/** What an order is made of: an operation's execution, or a look (OPS-22). */
export interface Ordered extends Pick<Execution, 'operationId' | 'connection' | 'epoch' | 'input' | 'remaining_ms'> {
  /** Its page program has this name. */
  readonly capability: Pick<Execution['capability'], 'name' | 'opensSession'>;
}

/**
 * The order for one run of an execution: the connection's session, its pinned proxy, and the running time left. Throws
 * `regional_proxy_unavailable` when the connection has no proxy to use, KeyUnknown when the ring lacks the key of a secret.
 */
export async function orderRun(sources: OrderSources, execution: Ordered): Promise<OrderedRun> {
  const { operationId, connection, capability } = execution;
  const login = capability.opensSession === true;
  const proxy = await proxyOf(sources.db, connection, login);
  if (!proxy) throw new OperationError('regional_proxy_unavailable', { region: connection.region });
  const { sealed, given, ...secrets } = await openSecrets(sources, connection, login ? operationId : null);
  const order = {
    workspaceId: connection.workspace_id,
    connectionId: connection.id,
    stateRevision: connection.state_revision,
    epoch: execution.epoch,
    capability: capability.name,
    input: execution.input,
    proxy: openProxy(sources.ring, proxy),
    ...secrets,
    actorId: connection.actor_id,
    deadline_ms: execution.remaining_ms,
  };
  return { order, proxy, sealed, given };
}

/** The session; for a login, whose operation is named, the credentials, too, when the connection has a password. */
async function openSecrets(
  { db, ring, saves }: OrderSources,
  connection: ConnectionRow,
  login: string | null,
): Promise<Pick<RunOrder, 'session' | 'credentials'> & Pick<OrderedRun, 'sealed' | 'given'>> {
  await saves.settled(connection.id);
  const row = await readSecrets(db, connection.id, login);
  if (!row) throw new Interrupted('fenced'); // deleted in the meantime
  const sealed = row.session_sealed;
  const session = sealed && ring.open(sealed, sessionContext(connection.id)).toString('utf8');
  if (login === null || !row.password_sealed) return { session, sealed, given: undefined };
  const password = ring.open(row.password_sealed, passwordContext(connection.id)).toString('utf8');
  const given = row.password_given ? password : undefined;
  return { session, sealed, given, credentials: { username: connection.username ?? '', password } };
}
