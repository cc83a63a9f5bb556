import { findRecipients, type KnownRecipient, type Recipient } from '../../storage/operations/simulated-invitations.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Sql } from '../../storage/postgres/database.js';

/** Look-ups of one turn that go to PostgreSQL together. */
const LOOKUP_RECIPIENTS = 256;
const LOOKUPS_AT_ONCE = 2;
/** A thread has at most one running operation a connection; this is far more than its mailboxes hold. */
const LOOKUPS_HELD = 100_000;

/** What the simulated network reads of the database: recipients in batches, the rest by the statement. */
export interface SimulatedStore {
  db: Sql;
  recipient(recipient: Recipient): Promise<KnownRecipient>;
}

export function simulatedStore(db: Sql): SimulatedStore {
  const lookups = new Batcher<Recipient, KnownRecipient>({
    maxItems: LOOKUP_RECIPIENTS,
    linger_ms: 0,
    concurrency: LOOKUPS_AT_ONCE,
    bound: LOOKUPS_HELD,
    flush: (recipients) => findRecipients(db, recipients),
  });
  return { db, recipient: (recipient) => lookups.add(recipient) };
}
