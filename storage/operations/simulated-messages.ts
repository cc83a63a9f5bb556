import type { Sql } from '../postgres/database.js';

/**
 * What the simulated network remembers, read from what operations and events left behind. Every statement is backed by an
 * index of `0002_simulated.sql` or by the order of event ids, and touches a bounded
 * number of rows.
 */

/** Messages that one page of the inbox looks at, at most. */
const WINDOW_MESSAGES = 2_000;
/** How far the moment a message names may lie before the moment it was recorded; farther is taken as recorded then. */
const DELIVERY_LAG_MS = 10 * 60_000;

/** A recipient as the sending connection sees it. */
export interface Recipient {
  workspaceId: string;
  connectionId: string;
  actorId: string;
}
export interface KnownRecipient {
  /** The other simulated connection whose `external_actor.id` this is; a person before an installation. */
  peerId: string | null;
  /** An invitation was sent to it before. */
  invited: boolean;
}

/** Looks up a batch of recipients; answers in its order. */
export async function findRecipients(db: Sql, recipients: Recipient[]): Promise<KnownRecipient[]> {
  return db.query<KnownRecipient>(
    'findSimulatedRecipients',
    `select p.id as "peerId", exists (
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

// An accepted invitation left the event that the send recorded with it.
const PENDING = `from simulated_invitation v
  where v.connection_id = $1 and not exists (select 1 from event e
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

export async function countPendingInvitations(db: Sql, connectionId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'countSimulatedInvitations',
    `select count(*)::int as count ${PENDING}`,
    [connectionId],
  );
  return row?.count ?? 0;
}

export interface StoredMessage {
  /** Of the event. */
  id: string;
  conversation_id: string;
  sent: boolean;
  data: Record<string, unknown>;
  /** Milliseconds since 1970. */
  delivered_at: number;
}

const RECEIVED_MS = 'floor(extract(epoch from e.received_at) * 1000)';
const DELIVERED_MS = `case when jsonb_typeof(e.data -> 'delivered_at') = 'number'
  then least(greatest(floor((e.data ->> 'delivered_at')::numeric), ${RECEIVED_MS} - ${DELIVERY_LAG_MS}), ${RECEIVED_MS})
  else ${RECEIVED_MS} end`;
const MESSAGE = `e.id, left(e.data ->> 'conversation_id', 255) as conversation_id, e.type = 'message_sent' as sent, e.data,
  (${DELIVERED_MS})::float8 as delivered_at`;
const IS_MESSAGE = `e.type in ('message_sent', 'message_received')`;
const IS_CONVERSATION = `left(e.data ->> 'conversation_id', 255) ~ '^[A-Za-z0-9_+=-]+$'`;

/** The newest messages of a conversation, only those delivered before `before_ms` when it is given. */
export async function readMessages(
  db: Sql,
  connectionId: string,
  conversationId: string,
  before_ms: number | null,
  count: number,
): Promise<StoredMessage[]> {
  return db.query<StoredMessage>(
    'readSimulatedMessages',
    `select ${MESSAGE} from event e
     where e.connection_id = $1 and left(e.data ->> 'conversation_id', 255) = $2 and ${IS_MESSAGE}
       and ($3::float8 is null or (e.id < $4::uuid and ${DELIVERED_MS} < $3::float8))
     order by e.id desc limit $5`,
    // The bound on ids only spares the walk over newer messages: an id's time is at most the lag behind its message.
    [connectionId, conversationId, before_ms, firstIdAt((before_ms ?? 0) + 2 * DELIVERY_LAG_MS), count],
  );
}

export interface InboxPage {
  /** The newest message of each conversation, newest first. */
  newest: StoredMessage[];
  /** Where the next page goes on; null at the end. */
  next: string | null;
}

/**
 * Conversations by their newest message, from the event `before` on. A page looks at a bounded window of messages, so it
 * may be short, even empty, and still have a next one; following `next` meets each conversation once.
 */
export async function readInbox(
  db: Sql,
  connectionId: string,
  before: string | null,
  before_ms: number | null,
  count: number,
): Promise<InboxPage> {
  const rows = await db.query<StoredMessage & { scanned: number; oldest: string | null }>(
    'readSimulatedInbox',
    `with recent as materialized (
       select e.* from event e
       where e.connection_id = $1 and ${IS_MESSAGE} and ($2::uuid is null or e.id < $2::uuid)
       order by e.id desc limit ${WINDOW_MESSAGES}
     )
     select w.scanned, w.oldest, m.*
     from (select count(*)::int as scanned, (select id from recent order by id limit 1) as oldest from recent) w
     left join lateral (
       select ${MESSAGE} from recent e
       where ${IS_CONVERSATION} and ($3::float8 is null or ${DELIVERED_MS} < $3::float8)
         and not exists (select 1 from event n
           where n.connection_id = $1 and n.type in ('message_sent', 'message_received') and n.id > e.id
             and left(n.data ->> 'conversation_id', 255) = left(e.data ->> 'conversation_id', 255))
       order by e.id desc limit $4
     ) m on true
     order by m.id desc`,
    [connectionId, before, before_ms, count + 1],
  );
  const newest = rows.filter((row) => row.id !== null);
  const last = newest[count - 1];
  if (newest.length > count && last) return { newest: newest.slice(0, count), next: last.id };
  return { newest, next: rows[0]?.scanned === WINDOW_MESSAGES ? rows[0].oldest : null };
}

/** Conversations that hold the text among the connection's newest messages, by their newest message that does. */
export async function searchInbox(
  db: Sql,
  connectionId: string,
  text: string,
  before: string | null,
  count: number,
): Promise<StoredMessage[]> {
  return db.query<StoredMessage>(
    'searchSimulatedInbox',
    `with recent as materialized (
       select e.* from event e where e.connection_id = $1 and ${IS_MESSAGE} order by e.id desc limit ${WINDOW_MESSAGES}
     ), found as (
       select distinct on (left(e.data ->> 'conversation_id', 255)) ${MESSAGE} from recent e
       where ${IS_CONVERSATION} and position(lower($2) in lower(e.data ->> 'message_body')) > 0
       order by left(e.data ->> 'conversation_id', 255), e.id desc
     )
     select * from found where $3::uuid is null or id < $3::uuid order by id desc limit $4`,
    [connectionId, text, before, count],
  );
}

/** Which of these conversations have messages of their own. */
export async function readActive(db: Sql, connectionId: string, conversationIds: string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    'readSimulatedActive',
    `select i.id from unnest($2::text[]) i(id)
     where exists (select 1 from event e
       where e.connection_id = $1 and left(e.data ->> 'conversation_id', 255) = i.id and ${IS_MESSAGE})`,
    [connectionId, conversationIds],
  );
  return new Set(rows.map((row) => row.id));
}

/** The lowest UUIDv7 of a millisecond. */
function firstIdAt(time_ms: number): string {
  const hex = Math.min(time_ms, 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Notes an invitation that a simulated connection has just sent. */
export async function noteInvitation(
  tx: Sql,
  invitation: { operationId: string; connectionId: string; recipient: string },
): Promise<void> {
  await tx.query(
    'noteSimulatedInvitation',
    'insert into simulated_invitation (operation_id, connection_id, recipient) values ($1, $2, $3)',
    [invitation.operationId, invitation.connectionId, invitation.recipient],
  );
}
