import type { MessageSendResult, SendAttachment, SendMessage } from '../../browser-pool/contract/sending.js';
import type { NewEvent } from '../../storage/model/records.js';
import { attachmentUrl } from './files.js';
import { conversationWith, ownHashIdOf, participantOf } from './names.js';
import { nameOf, personBySlug } from './people.js';
import type { Self } from './relationship.js';
import type { SimulatedAnswer, SimulatedOutcome, SimulatedRequest } from './request.js';

/**
 * Messages and attachments. Each is recorded as `message_sent` on the sender's connection, which is how its conversation
 * remembers it; when the recipient is another simulated connection of the workspace, as `message_received` on that
 * one too (EVT-11). Event ids come from the operation, so a repeat records nothing twice.
 */

interface Draft {
  conversation_id?: string;
  recipient_actor_id?: string;
  body: string;
  content: Record<string, unknown>[];
}

export const sendMessage: SimulatedAnswer<SendMessage> = (request) => {
  const { body = '', render_content_unions: content = [], ...destination } = request.input;
  return send(request, { ...destination, body, content });
};

export const sendAttachment: SimulatedAnswer<SendAttachment> = (request) => {
  const { filename, content_type, data_base64, body = '', ...destination } = request.input;
  const file = {
    type: 'file',
    filename,
    content_type,
    size: Buffer.byteLength(data_base64, 'base64'),
    url: attachmentUrl(request.operationId, filename),
  };
  return send(request, { ...destination, body, content: [file] });
};

async function send(
  request: SimulatedRequest<object>,
  draft: Draft,
): Promise<SimulatedOutcome<Omit<MessageSendResult, 'state_revision'>>> {
  const { operationId, self, connection, store } = request;
  const named = draft.recipient_actor_id ?? participantOf(draft.conversation_id ?? '');
  if (named === self.hashId || named === self.actorId) return { skipped: 'self_target' };
  const { id: connectionId, workspace_id: workspaceId } = connection;
  const { peer_id: peerId } = await store.recipient({ workspaceId, connectionId, actorId: named });
  const recipient = peerId === null ? named : ownHashIdOf(named);
  await request.boundary();
  const delivered_at = request.now();
  const conversation_id = draft.conversation_id ?? conversationWith(recipient);
  const message_urn = `urn:social:message:${operationId}`;
  const message = { ...messageOf(self, draft, recipient), message_urn, delivered_at };
  const event = (side: 'sent' | 'received', of: string, conversation: string): NewEvent => ({
    connectionId: of,
    providerEventId: `sim-${operationId}-${side}`,
    type: `message_${side}`,
    data: { ...message, conversation_id: conversation },
  });
  const events = [event('sent', connectionId, conversation_id)];
  if (peerId !== null) events.push(event('received', peerId, conversationWith(self.hashId)));
  const { recipient_actor_id } = draft;
  return {
    result: {
      provider_acknowledged: true,
      destination: recipient_actor_id === undefined ? { conversation_id } : { recipient_actor_id },
      message_id: message_urn,
      conversation_id,
      delivered_at,
    },
    effects: { events },
  };
}

/** What the events on both sides have in common. */
function messageOf(self: Self, { body, content }: Draft, recipient: string): Record<string, unknown> {
  return {
    message_body: body,
    sender_hash_id: self.hashId,
    sender_name: nameOf(personBySlug(self.slug)),
    recipient_hash_ids: [recipient],
    ...(content.length > 0 && { render_content: content }),
  };
}
