import {
  activeProxyFor,
  findProxy,
  type OpenProxy,
  openProxy,
  pinConnection,
} from '../../storage/connections/proxies.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';

export type PinnedProxy = OpenProxy;

/**
 * The proxy a connection's session lives behind. Only a login may choose one: a session that moved to another address
 * would look stolen to the provider. A pin that is gone, switched off or in another region holds until that login.
 * Undefined: there is none to use, `regional_proxy_unavailable`.
 */
export async function pinProxy(
  db: Database,
  ring: KeyRing,
  connection: ConnectionRow,
  login: boolean,
): Promise<PinnedProxy | undefined> {
  const pinned = connection.proxy_id ? await findProxy(db, connection.proxy_id) : undefined;
  if (pinned?.active && pinned.region === connection.region) return openProxy(ring, pinned);
  if (!login || !connection.region) return undefined;
  const chosen = await activeProxyFor(db, connection.region, connection.id);
  if (!chosen) return undefined;
  await pinConnection(db, connection.id, chosen.id);
  return openProxy(ring, chosen);
}
