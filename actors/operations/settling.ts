import type { Logger } from '../../storage/log.js';
import { settleMailboxes } from '../../storage/operations/mailboxes.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import type { Partition } from './partition.js';

export interface SettlingOptions {
  db: Database;
  log: Logger;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/**
 * Settles the mailboxes of a thread's partitions, many in one statement: those with nothing in hand are closed, of the others the marks are
 * moved, so that a later owner reads no more than it must.
 */
export class Settling {
  readonly #options: SettlingOptions;
  #busy = false;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /** Settles all that is to be settled now; while it does so, further calls do nothing. Never rejects: what failed is settled later. */
  async settle(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const now_ms = performance.now();
    const due = this.#options
      .partitions()
      .flatMap((partition) => partition.toSettle(now_ms).map((mailbox) => ({ partition, mailbox })));
    for (let i = 0; i < due.length; i += LIMITS.settled_mailboxes) {
      const some = due.slice(i, i + LIMITS.settled_mailboxes);
      const settled = await settleMailboxes(
        this.#options.db,
        some.map(({ mailbox }) => mailbox),
      ).catch((error) => {
        this.#options.log.warn(
          { err: error, mailboxes: some.length },
          'mailboxes could not be settled, trying again later',
        );
        return [];
      });
      some.forEach(({ partition, mailbox }, at) => {
        partition.settled(mailbox, settled[at]);
      });
    }
    this.#busy = false;
  }
}
