import { findRecipients, type KnownRecipient, type Recipient } from '../../storage/operations/simulated-invitations.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Sql } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

/** What the simulated network reads of the database: recipients in batches, the rest by the statement. */
export interface SimulatedStore {
  db: Sql;
  recipient(recipient: Recipient): Promise<KnownRecipient>;
}

export function simulatedStore(db: Sql): SimulatedStore {
  const lookups = new Batcher<Recipient, KnownRecipient>({
    maxItems: LIMITS.lookup_recipients,
    linger_ms: 0,
    concurrency: LIMITS.lookup_statements,
    bound: LIMITS.waiting_lookups,
    flush: (recipients) => findRecipients(db, recipients),
  });
  return { db, recipient: (recipient) => lookups.add(recipient) };
}
