import type { Logger } from '../../storage/log.js';
import type { Sql } from '../../storage/postgres/database.js';
import { beginDataSealing } from '../../storage/secrets/data-sealing.js';
import type { DataVault } from '../../storage/secrets/data-vault.js';
import { LIMITS } from './limits.js';

/**
 * When this process begins to seal what customers wrote. A node of the version before reads the plain columns only, so nobody
 * seals while one of them is alive, and none of them may start afterwards:
 *
 *     plain ──no node is alive that cannot read sealed values──▶ sealed
 *
 * `sealed` is a row among the migrations that former versions do not know and that says of itself that it breaks them: they refuse
 * to start. There is no way back but a backup. A process without a key never begins, and stores plain values.
 */
export class DataSealing {
  readonly #options: { db: Sql; vault: DataVault; log: Logger };
  readonly #formerNode_ms: number;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();

  /** `former_node_ms`: how long a node of a former version counts as alive after its last heartbeat. */
  constructor(options: { db: Sql; vault: DataVault; log: Logger }, former_node_ms: number = LIMITS.former_node_ms) {
    this.#options = options;
    this.#formerNode_ms = former_node_ms;
  }

  /** Looks at once, and again from time to time while a former node is left. */
  async start(): Promise<void> {
    const { db, vault, log } = this.#options;
    try {
      if (!vault.available) return;
      if (await beginDataSealing(db, this.#formerNode_ms)) return vault.begin();
      log.info('results, inputs and events are stored plain until the nodes of the former version are gone');
    } catch (error) {
      log.warn({ err: error }, 'whether data may be sealed is not known yet, trying again');
    }
    this.#timer = setTimeout(() => {
      this.#look = this.start();
    }, LIMITS.former_node_check_ms).unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#look;
    clearTimeout(this.#timer);
  }
}
