import { readConversationUrn } from '../../browser-pool/contract/conversation-urn.js';
import type { ListMessages, Message } from '../../browser-pool/contract/conversations.js';
import { wholeMoments } from '../../browser-pool/contract/whole-moments.js';
import { readMessages, type StoredMessage } from '../../storage/operations/simulated-messages.js';
import { historicConversation, historicMessages } from './message-history.js';
import { participantOf } from './names.js';
import type { Self } from './relationship.js';
import type { SimulatedAnswer, SimulatedReading } from './request.js';

/** Messages of a conversation, newest first: those its events recorded, then its computed history. */

const DEFAULT_COUNT = 20;
/** Read beyond the page, so that messages recorded in another order than they were sent in come out sorted. */
const OVERLAP = 20;

export const listMessages: SimulatedAnswer<ListMessages> = async (request) => {
  const { input, self } = request;
  // No page gives a cursor, so none can be right; `delivered_at` is how to go on.
  if (input.cursor !== undefined) return refused('input.cursor', 'the cursor of the preceding page');
  const named = input.conversation_urn === undefined ? undefined : readConversationUrn(input.conversation_urn);
  if (named && named.actor !== self.hashId) return refused('input.conversation_urn', "the connection's own actor");
  const id = input.conversation_id ?? named?.conversationId ?? '';
  const before_ms = input.delivered_at === undefined ? null : Number(input.delivered_at);
  return { result: { messages: await messagesOf(request, id, before_ms, input.count ?? DEFAULT_COUNT) } };
};

/** A page of the conversation: only messages delivered before `before_ms` when it is given. */
export async function messagesOf(
  { self, connection, store }: SimulatedReading,
  id: string,
  before_ms: number | null,
  count: number,
): Promise<Message[]> {
  const found = await readMessages(store.db, connection.id, id, before_ms, count + OVERLAP);
  const historic = historicConversation(self, id);
  const earlier = historic ? historicMessages(self, historic) : [];
  const messages = [
    ...found.map((message) => entryOf(self, message)),
    ...earlier.filter(({ delivered_at }) => before_ms === null || Number(delivered_at) < before_ms),
  ].sort((a, b) => Number(b.delivered_at) - Number(a.delivered_at));
  return wholeMoments(messages, count, ({ delivered_at }) => delivered_at);
}

const refused = (path: string, expected: string) => ({ invalid: [{ path, expected }] });

function entryOf(self: Self, { id, conversation_id, sent, data, delivered_at }: StoredMessage): Message {
  const sender = sent ? self.hashId : participantOf(conversation_id);
  const content = data.render_content;
  return {
    message_urn: text(data.message_urn) ?? `urn:social:message:${id}`,
    message_body: text(data.message_body),
    sender_hash_id: text(data.sender_hash_id) ?? sender,
    delivered_at,
    ...(Array.isArray(content) && content.length > 0 ? { render_content: content as Record<string, unknown>[] } : {}),
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : null);
