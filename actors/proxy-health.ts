import { noteProxy, type ProxyRow } from '../storage/connections/proxies.js';
import type { Logger } from '../storage/log/log.js';
import type { Sql } from '../storage/postgres/database.js';

/** A proxy as it was read before it was used. */
export type UsedProxy = Pick<ProxyRow, 'id' | 'failing_since'>;

/**
 * Tells operators which proxies fail, by what runs and streams of this thread come upon. A report that says the same as the row costs nothing; a
 * proxy that fails under many at once is noted by one of them.
 */
export class ProxyHealth {
  readonly #db: Sql;
  readonly #log: Logger;
  readonly #noting = new Set<string>();

  constructor(db: Sql, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** `failure`: why nothing got through, null when something did. Never rejects: what was done through the proxy does not depend on it. */
  async saw({ id, failing_since }: UsedProxy, failure: string | null): Promise<void> {
    if ((failing_since !== null) === (failure !== null) || this.#noting.has(id)) return;
    this.#noting.add(id);
    try {
      await noteProxy(this.#db, id, failure);
    } catch (error) {
      this.#log.warn({ err: error, proxy_id: id }, 'proxies: what became of one is not noted');
    } finally {
      this.#noting.delete(id);
    }
  }
}
