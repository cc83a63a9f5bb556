import type { Message } from '../../browser-pool/contract/conversations.js';
import { LIMITS } from '../../browser-pool/contract/limits.js';
import type { Place, PlacedInvitation, PlacedMessage } from '../../browser-pool/contract/look.js';
import { sentInvitations } from './invitations.js';
import { messagesOf } from './messages.js';
import { conversationWith } from './names.js';
import type { SimulatedReading } from './request.js';

/** What the simulated network shows an account of what it has sent: what its operations left. */
export function placeOf(reading: SimulatedReading): Place {
  return {
    self: reading.self.hashId,
    conversationWith: async (recipientActorId) => conversationWith(recipientActorId),
    messages: async (conversationId, from_ms) => {
      const before_ms = from_ms === undefined ? null : from_ms + 1;
      return (await messagesOf(reading, conversationId, before_ms, LIMITS.look_page_messages)).map(placedMessage);
    },
    invitations: async (start) => {
      const { entries, next_start_index } = await sentInvitations(reading, { start_index: start });
      return { entries: entries.map(placedInvitation), next: next_start_index };
    },
  };
}

function placedMessage({
  message_urn,
  message_body,
  sender_hash_id,
  delivered_at,
  render_content,
}: Message): PlacedMessage {
  const content = render_content ?? [];
  return {
    urn: message_urn,
    body: message_body,
    sender_hash_id: sender_hash_id ?? '',
    delivered_ms: Number(delivered_at),
    files: content.filter(isFile).map(({ filename, size }) => ({ filename: String(filename), size: Number(size) })),
    content: content.filter((part) => !isFile(part)),
  };
}

const isFile = ({ type }: Record<string, unknown>) => type === 'file';

const placedInvitation = ({
  invitation_id,
  recipient_actor_id,
  sent_at,
}: Awaited<ReturnType<typeof sentInvitations>>['entries'][number]): PlacedInvitation => ({
  invitation_id,
  recipient_actor_id: recipient_actor_id ?? '',
  sent_ms: Date.parse(sent_at ?? ''),
});
