import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/**
 * The conversations of the simulated network, read from the events that its messages left. Every statement is backed by the
 * index event_message or by the order of event ids, and reads a bounded number of rows.
 */
export interface StoredMessage {
  /** The event's id. */
  id: string;
  conversation_id: string;
  sent: boolean;
  data: Record<string, unknown>;
  /** Milliseconds since 1970. */
  delivered_at: number;
}

const RECEIVED_MS = 'floor(extract(epoch from e.received_at) * 1000)';
const DELIVERED_MS = `case when jsonb_typeof(e.data -> 'delivered_at') = 'number'
  then least(greatest(floor((e.data ->> 'delivered_at')::numeric), ${RECEIVED_MS} - ${LIMITS.message_lag_ms}), ${RECEIVED_MS})
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
    // The bound on ids only saves reading newer messages: an id's time is at most the lag behind its message.
    [connectionId, conversationId, before_ms, firstIdAt((before_ms ?? 0) + 2 * LIMITS.message_lag_ms), count],
  );
}

export interface InboxPage {
  /** The newest message of each conversation, newest first. */
  newest: StoredMessage[];
  /** Where the next page goes on; null at the end. */
  next: string | null;
}

/**
 * Conversations by their newest message, from the event `before` on. A page reads a bounded window of messages, so it
 * may be short, even empty, and still have a next one; following `next` returns each conversation once.
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
       order by e.id desc limit ${LIMITS.inbox_window_messages}
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
  return { newest, next: rows[0]?.scanned === LIMITS.inbox_window_messages ? rows[0].oldest : null };
}

/** Conversations with the text in one of the connection's newest messages, by the newest message that has it. */
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
       select e.* from event e where e.connection_id = $1 and ${IS_MESSAGE} order by e.id desc limit ${LIMITS.inbox_window_messages}
     ), found as (
       select distinct on (left(e.data ->> 'conversation_id', 255)) ${MESSAGE} from recent e
       where ${IS_CONVERSATION} and position(lower($2) in lower(e.data ->> 'message_body')) > 0
       order by left(e.data ->> 'conversation_id', 255), e.id desc
     )
     select * from found where $3::uuid is null or id < $3::uuid order by id desc limit $4`,
    [connectionId, text, before, count],
  );
}

/** Of these conversations, those that have recorded messages. */
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
