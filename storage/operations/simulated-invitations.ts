import type { Sql } from '../postgres/database.js';

/** Recipients and invitations of the simulated network, found by the indexes of connection and simulated_invitation. */

/** A recipient as the sending connection sees it. */
export interface Recipient {
  workspaceId: string;
  connectionId: string;
  actorId: string;
}
export interface KnownRecipient {
  /** The other simulated connection whose `external_actor.id` this is; a person before an installation. */
  peer_id: string | null;
  /** An invitation was sent to it before. */
  invited: boolean;
}

/** Finds a batch of recipients; the answer is in the same order. */
export async function findRecipients(db: Sql, recipients: Recipient[]): Promise<KnownRecipient[]> {
  return db.query<KnownRecipient>(
    'findSimulatedRecipients',
    `select p.id as peer_id, exists (
       select 1 from simulated_invitation v where v.connection_id = i.connection_id and v.recipient = i.actor_id
     ) as invited
     from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality i(workspace_id, connection_id, actor_id, ord)
     left join lateral (
       select c.id from connection c
       where c.workspace_id = i.workspace_id and c.provider = 'simulated' and c.id <> i.connection_id
         and c.identity_key in ('person:' || i.actor_id, 'installation:' || i.actor_id)
       order by c.actor_kind desc limit 1
     ) p on true
     order by i.ord`,
    [recipients.map((r) => r.workspaceId), recipients.map((r) => r.connectionId), recipients.map((r) => r.actorId)],
  );
}

export interface PendingInvitation {
  id: string;
  recipient: string;
  sent_at: Date;
}

// Before it was noted with the invitation, the event that its send recorded told that it was accepted.
const PENDING = `from simulated_invitation v
  where v.connection_id = $1 and not v.accepted and not exists (select 1 from event e
    where e.connection_id = v.connection_id and e.provider_event_id = 'sim-' || v.operation_id || '-accepted')`;

/** Invitations the connection has sent that were not accepted, newest first. */
export async function readPendingInvitations(
  db: Sql,
  connectionId: string,
  start: number,
  count: number,
): Promise<PendingInvitation[]> {
  return db.query<PendingInvitation>(
    'readSimulatedInvitations',
    `select v.operation_id as id, v.recipient, v.sent_at ${PENDING}
     order by v.operation_id desc offset $2 limit $3`,
    [connectionId, start, count],
  );
}

/** How many of them there are. */
export async function countPendingInvitations(db: Sql, connectionId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'countSimulatedInvitations',
    `select count(*)::int as count ${PENDING}`,
    [connectionId],
  );
  return row?.count ?? 0;
}

/** An invitation that a simulated connection has just sent; one to another connection of the workspace is accepted at once. */
export interface SentInvitation {
  recipient: string;
  accepted: boolean;
}

export async function noteInvitation(
  tx: Sql,
  invitation: SentInvitation & { operationId: string; connectionId: string },
): Promise<void> {
  await tx.query(
    'noteSimulatedInvitation',
    'insert into simulated_invitation (operation_id, connection_id, recipient, accepted) values ($1, $2, $3, $4)',
    [invitation.operationId, invitation.connectionId, invitation.recipient, invitation.accepted],
  );
}
