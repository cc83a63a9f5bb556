import { activeProxyFor, findProxy, type OpenProxy, openProxy } from '../../storage/connections/proxies.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';

/**
 * The proxy a connection's session lives behind. Only a login may choose another: a session that moved to another address
 * would look stolen to the provider. What it chose becomes the pin with the login's success (CONN-10). A pin that is switched off
 * or in another region holds until then. Undefined: there is none to use, `regional_proxy_unavailable`.
 */
export async function proxyOf(
  db: Database,
  ring: KeyRing,
  connection: ConnectionRow,
  login: boolean,
): Promise<OpenProxy | undefined> {
  const pinned = connection.proxy_id ? await findProxy(db, connection.proxy_id) : undefined;
  if (pinned?.active && pinned.region === connection.region) return openProxy(ring, pinned);
  if (!login || !connection.region) return undefined;
  const chosen = await activeProxyFor(db, connection.region, connection.id);
  return chosen && openProxy(ring, chosen);
}
