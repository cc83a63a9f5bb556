import { activeProxyFor, findProxy, type ProxyRow } from '../../storage/connections/proxies.js';
import type { ConnectionRow } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';

/**
 * The proxy a connection's session lives behind. Only a login may choose another: a session that moved to another address
 * would look stolen to the provider. What it chose becomes the pin with the login's success (CONN-10). A pin that is switched off
 * or in another region holds until then. Undefined: there is none to use, `regional_proxy_unavailable`.
 */
export async function proxyOf(db: Database, connection: ConnectionRow, login: boolean): Promise<ProxyRow | undefined> {
  const pinned = connection.proxy_id ? await findProxy(db, connection.proxy_id) : undefined;
  if (pinned?.active && pinned.region === connection.region) return pinned;
  if (!login || !connection.region) return undefined;
  return activeProxyFor(db, connection.region, connection.id);
}
