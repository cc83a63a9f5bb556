import type { Logger } from '../../../storage/log/log.js';
import { closeMailboxes } from '../../../storage/operations/mailboxes.js';
import type { Database } from '../../../storage/postgres/database.js';
import { LIMITS } from '../../limits.js';
import type { Partition } from './partition.js';

export interface MailboxCloserOptions {
  db: Database;
  log: Logger;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/**
 * Closes the mailboxes of a thread's partitions, many in one statement: those with nothing in hand are closed, of the others the marks are
 * moved, so that a later owner reads no more than it must.
 */
export class MailboxCloser {
  readonly #options: MailboxCloserOptions;
  #busy = false;

  constructor(options: MailboxCloserOptions) {
    this.#options = options;
  }

  /** Closes all that is to be closed now; while it does so, further calls do nothing. Never rejects: what failed is closed later. */
  async close(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const now_ms = performance.now();
    const due = this.#options
      .partitions()
      .flatMap((partition) => partition.toClose(now_ms).map((mailbox) => ({ partition, mailbox })));
    for (let i = 0; i < due.length; i += LIMITS.closing_mailboxes) {
      const some = due.slice(i, i + LIMITS.closing_mailboxes);
      const closed = await closeMailboxes(
        this.#options.db,
        some.map(({ mailbox }) => mailbox),
      ).catch((error) => {
        this.#options.log.warn({ err: error, mailboxes: some.length }, 'mailboxes: closing failed, trying again later');
        return [];
      });
      some.forEach(({ partition, mailbox }, at) => {
        partition.closed(mailbox, closed[at]);
      });
    }
    this.#busy = false;
  }
}
