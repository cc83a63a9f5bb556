import {
  findInvitations,
  findRecipients,
  type KnownInvitation,
  type KnownRecipient,
  type Recipient,
} from '../../storage/operations/simulated-invitations.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Sql } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

/** What the simulated network reads of the database: recipients and invitations in batches, the rest by the statement. */
export interface SimulatedStore {
  db: Sql;
  recipient(recipient: Recipient): Promise<KnownRecipient>;
  invitation(recipient: Pick<Recipient, 'connectionId' | 'actorId'>): Promise<KnownInvitation | null>;
}

export function simulatedStore(db: Sql): SimulatedStore {
  const batches = {
    maxItems: LIMITS.lookup_recipients,
    linger_ms: 0,
    concurrency: LIMITS.lookup_statements,
    bound: LIMITS.waiting_lookups,
  };
  const recipients = new Batcher<Recipient, KnownRecipient>({
    ...batches,
    flush: (asked) => findRecipients(db, asked),
  });
  const invitations = new Batcher<Pick<Recipient, 'connectionId' | 'actorId'>, KnownInvitation | null>({
    ...batches,
    flush: (asked) => findInvitations(db, asked),
  });
  return {
    db,
    recipient: (recipient) => recipients.add(recipient),
    invitation: (recipient) => invitations.add(recipient),
  };
}
