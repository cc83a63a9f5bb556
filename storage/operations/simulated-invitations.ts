import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { inputContext } from '../secrets/sealing.js';

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

// One key, told as a range that is asked for in its order: by another index than connection_identity all connections of the workspace may be read.
const OF_KIND = (kind: 'person' | 'installation'): string => `
  select c.id from connection c
  where c.workspace_id = i.workspace_id and c.provider = 'simulated'
    and c.identity_key between '${kind}:' || i.actor_id and '${kind}:' || i.actor_id and c.id <> i.connection_id
  order by c.identity_key limit 1`;

/**
 * Finds a batch of recipients, by `external_actor.id` or by the hash id that is made from it where that cannot be one (index:
 * connection_actor_hash; else connection_identity); the answer is in the same order.
 */
export async function findRecipients(db: Sql, recipients: Recipient[]): Promise<KnownRecipient[]> {
  return db.query<KnownRecipient>(
    'findSimulatedRecipients',
    `select p.id as peer_id, ${findsRow(
      'from simulated_invitation v where v.connection_id = i.connection_id and v.recipient = i.actor_id',
    )} as invited
     from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality i(workspace_id, connection_id, actor_id, ord)
     left join lateral (${OF_KIND('person')}) person on true
     left join lateral (${OF_KIND('installation')}) installation on true
     cross join lateral (select coalesce(person.id, installation.id) as id) own
     left join lateral (
       select c.id from connection c
       where own.id is null and i.actor_id like 'SIMX\\_%' and c.workspace_id = i.workspace_id and c.provider = 'simulated'
         and md5(c.actor_id) = substr(i.actor_id, 6) and c.id <> i.connection_id and c.deleted_at is null
       order by c.actor_kind desc limit 1
     ) other on true
     cross join lateral (select coalesce(own.id, other.id) as id) p
     order by i.ord`,
    [recipients.map((r) => r.workspaceId), recipients.map((r) => r.connectionId), recipients.map((r) => r.actorId)],
  );
}

export interface PendingInvitation {
  id: string;
  recipient: string;
  sent_at: Date;
  /** The note that went with it; null when there was none, or it is erased with the input of its operation. */
  message: string | null;
}

// Before it was noted with the invitation, the event that its send recorded told that it was accepted.
const TOLD = findsRow(
  `from event e where e.connection_id = v.connection_id and e.provider_event_id = 'sim-' || v.operation_id || '-accepted'`,
);
const ACCEPTED = `(v.accepted or ${TOLD})`;
const PENDING = `from simulated_invitation v where v.connection_id = $1 and not ${ACCEPTED}`;

/** The people who accepted an invitation of the connection, the last one first, and how many there are. */
export async function readAccepted(
  db: Sql,
  connectionId: string,
  start: number,
  count: number,
): Promise<{ people: Pick<PendingInvitation, 'recipient' | 'sent_at'>[]; all: number }> {
  const rows = await db.query<{ recipient: string | null; sent_at: Date; all: number }>(
    'readSimulatedAccepted',
    `with accepted as materialized (
       select v.operation_id, v.recipient, v.sent_at from simulated_invitation v where v.connection_id = $1 and ${ACCEPTED})
     select p.recipient, p.sent_at, n.count::int as all from (select count(*) from accepted) n left join lateral (
       select * from accepted order by operation_id desc offset $2 limit $3) p on true
     order by p.operation_id desc`,
    [connectionId, start, count],
  );
  const people = rows.flatMap(({ recipient, sent_at }) => (recipient === null ? [] : { recipient, sent_at }));
  return { people, all: rows[0]?.all ?? 0 };
}

/** What became of the connection's last invitation of a person. */
export interface KnownInvitation {
  accepted: boolean;
  sent_at: Date;
}

/** Finds a batch of invitations, null where none was sent; the answer is in the same order. Index: simulated_invitation_by_recipient. */
export async function findInvitations(
  db: Sql,
  asked: Pick<Recipient, 'connectionId' | 'actorId'>[],
): Promise<(KnownInvitation | null)[]> {
  const rows = await db.query<{ accepted: boolean; sent_at: Date | null }>(
    'findSimulatedInvitations',
    `select ${ACCEPTED} as accepted, v.sent_at
     from unnest($1::uuid[], $2::text[]) with ordinality i(connection_id, recipient, ord) left join lateral (
       select * from simulated_invitation where connection_id = i.connection_id and recipient = i.recipient
       order by operation_id desc limit 1) v on true
     order by i.ord`,
    [asked.map(({ connectionId }) => connectionId), asked.map(({ actorId }) => actorId)],
  );
  return rows.map(({ accepted, sent_at }) => sent_at && { accepted, sent_at });
}

/** Invitations the connection has sent that were not accepted, newest first. Throws KeyUnknown when the node lacks the key of a note. */
export async function readPendingInvitations(
  db: Sql,
  connectionId: string,
  start: number,
  count: number,
): Promise<PendingInvitation[]> {
  const rows = await db.query<
    Omit<PendingInvitation, 'message'> & { input: { message?: string } | null; input_sealed: Buffer | null }
  >(
    'readSimulatedInvitations',
    `select p.*, o.input, o.input_sealed from (
       select v.operation_id as id, v.recipient, v.sent_at ${PENDING} order by v.operation_id desc offset $2 limit $3) p
     left join operation o on o.id = p.id order by p.id desc`,
    [connectionId, start, count],
  );
  return rows.map(({ input, input_sealed, ...row }) => {
    const sent = db.vault.openValue({ plain: input, sealed: input_sealed }, inputContext(row.id));
    return { ...row, message: sent?.message ?? null };
  });
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
