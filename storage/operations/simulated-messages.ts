import { LIMITS } from '../limits.js';
import { firstIdAt } from '../model/id-time.js';
import { conversationHash, conversationIn } from '../model/message-keys.js';
import type { Vault } from '../model/vault.js';
import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { eventDataContext } from '../secrets/sealing.js';

/**
 * The conversations of the simulated network, read from the events that its messages left. Every statement is backed by the
 * indexes event_conversation (sealed messages) and event_message (plain ones), or by the order of event ids, and reads a bounded
 * number of rows.
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

interface MessageRow extends Pick<StoredMessage, 'id' | 'sent' | 'delivered_at'> {
  data: Record<string, unknown> | null;
  data_sealed: Buffer | null;
}

const RECEIVED_MS = 'floor(extract(epoch from e.received_at) * 1000)';
const SAID_MS = `coalesce(e.delivered_ms,
  case when jsonb_typeof(e.data -> 'delivered_at') = 'number' then floor((e.data ->> 'delivered_at')::numeric) end)`;
const DELIVERED_MS = `case when ${SAID_MS} is null then ${RECEIVED_MS}
  else least(greatest(${SAID_MS}, ${RECEIVED_MS} - ${LIMITS.message_lag_ms}), ${RECEIVED_MS}) end`;
const MESSAGE = `e.id, e.type = 'message_sent' as sent, e.data, e.data_sealed, (${DELIVERED_MS})::float8 as delivered_at`;
const IS_MESSAGE = `e.type in ('message_sent', 'message_received')`;
const PLAIN_ID = `left(e.data ->> 'conversation_id', 255)`;
const IS_CONVERSATION = `(e.conversation_hash is not null or ${PLAIN_ID} ~ '^[A-Za-z0-9_+=-]+$')`;

/** Throws KeyUnknown when the node lacks the key of a message. */
function opened(vault: Vault, { id, sent, delivered_at, ...row }: MessageRow): StoredMessage {
  const data = vault.openValue({ plain: row.data, sealed: row.data_sealed }, eventDataContext(id)) ?? {};
  return { id, sent, delivered_at, data, conversation_id: conversationIn(data) ?? '' };
}

/** The newest messages of a conversation, only those delivered before `before_ms` when it is given. */
export async function readMessages(
  db: Sql,
  connectionId: string,
  conversationId: string,
  before_ms: number | null,
  count: number,
): Promise<StoredMessage[]> {
  const newest = (found: string) => `(
    select e.* from event e where e.connection_id = $1 and ${found} and ${IS_MESSAGE}
      and ($3::float8 is null or (e.id < $4::uuid and ${DELIVERED_MS} < $3::float8))
    order by e.id desc limit $5)`;
  const rows = await db.query<MessageRow>(
    'readSimulatedMessages',
    `select ${MESSAGE} from (
       ${newest('e.conversation_hash = $6')} union all ${newest(`${PLAIN_ID} = $2`)}
     ) e order by e.id desc limit $5`,
    [
      connectionId,
      conversationId,
      before_ms,
      // The bound on ids only saves reading newer messages: an id's time is at most the lag behind its message.
      firstIdAt((before_ms ?? 0) + 2 * LIMITS.message_lag_ms),
      count,
      conversationHash(db.vault, connectionId, conversationId),
    ],
  );
  return rows.map((row) => opened(db.vault, row));
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
  const rows = await db.query<MessageRow & { scanned: number; oldest: string | null }>(
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
           where n.connection_id = $1 and n.id > e.id and n.conversation_hash = e.conversation_hash)
         and not exists (select 1 from event n
           where n.connection_id = $1 and n.type in ('message_sent', 'message_received') and n.id > e.id
             and left(n.data ->> 'conversation_id', 255) = ${PLAIN_ID})
       order by e.id desc limit $4
     ) m on true
     order by m.id desc`,
    [connectionId, before, before_ms, count + 1],
  );
  const newest = rows.filter((row) => row.id !== null).map((row) => opened(db.vault, row));
  const last = newest[count - 1];
  if (newest.length > count && last) return { newest: newest.slice(0, count), next: last.id };
  return { newest, next: rows[0]?.scanned === LIMITS.inbox_window_messages ? rows[0].oldest : null };
}

/**
 * Conversations with the text, in lower case, in one of the connection's newest messages, by the newest message that has it. The
 * messages are looked through here: the database cannot read what is sealed.
 */
export async function searchInbox(
  db: Sql,
  connectionId: string,
  text: string,
  before: string | null,
  count: number,
): Promise<StoredMessage[]> {
  const recent = await db.query<MessageRow>(
    'searchSimulatedInbox',
    `select ${MESSAGE} from event e where e.connection_id = $1 and ${IS_MESSAGE}
     order by e.id desc limit ${LIMITS.inbox_window_messages}`,
    [connectionId],
  );
  const found = new Map<string, StoredMessage>();
  for (const row of recent) {
    const message = opened(db.vault, row);
    const { conversation_id, data } = message;
    if (conversation_id === '' || found.has(conversation_id) || typeof data.message_body !== 'string') continue;
    if (data.message_body.toLowerCase().includes(text)) found.set(conversation_id, message);
  }
  return [...found.values()].filter(({ id }) => before === null || id < before).slice(0, count);
}

/** Of these conversations, those that have recorded messages. */
export async function readActive(db: Sql, connectionId: string, conversationIds: string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    'readSimulatedActive',
    `select i.id from unnest($2::text[], $3::bytea[]) i(id, hash)
     where ${findsRow('from event e where e.connection_id = $1 and e.conversation_hash = i.hash')}
       or ${findsRow(`from event e where e.connection_id = $1 and ${PLAIN_ID} = i.id and ${IS_MESSAGE}`)}`,
    [connectionId, conversationIds, conversationIds.map((id) => conversationHash(db.vault, connectionId, id))],
  );
  return new Set(rows.map((row) => row.id));
}
