import type { RecordedEventType } from './records.js';
import type { Vault } from './vault.js';

/** By what a sealed message is found in the conversations of a simulated connection. */
export interface MessageKeys {
  conversation_hash: Buffer | null;
  /** Milliseconds since 1970, as the message says; null when it says none. */
  delivered_ms: number | null;
}

const CONVERSATION = /^[A-Za-z0-9_+=-]+$/;

/** The conversation that a message's data names; null for none that could be one. */
export function conversationIn(data: Record<string, unknown>): string | null {
  const id = typeof data.conversation_id === 'string' ? data.conversation_id.slice(0, 255) : '';
  return CONVERSATION.test(id) ? id : null;
}

/** The keys of an event with this data; undefined for one that is no message. */
export function messageKeys(
  vault: Vault,
  { type, connectionId, data }: { type: RecordedEventType; connectionId: string; data: Record<string, unknown> },
): MessageKeys | undefined {
  if (type !== 'message_sent' && type !== 'message_received') return undefined;
  const id = conversationIn(data);
  return {
    conversation_hash: id === null ? null : conversationHash(vault, connectionId, id),
    delivered_ms: deliveredIn(data),
  };
}

/** What a conversation's messages are found by, in their connection. */
export const conversationHash = (vault: Vault, connectionId: string, conversationId: string): Buffer | null =>
  vault.hash(`conversation/${connectionId}/${conversationId}`);

function deliveredIn({ delivered_at }: Record<string, unknown>): number | null {
  // A bigint column takes it; what is out of bounds is brought within them when it is read.
  if (typeof delivered_at !== 'number') return null;
  return Math.floor(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(delivered_at, Number.MAX_SAFE_INTEGER)));
}
