import type { NewEvent } from '../../storage/model/records.js';
import type { AnswerOf } from '../capabilities/signatures.js';
import type { Outcome } from '../operations/execution.js';
import { conversationWith, participantOf } from './names.js';
import { nameOf, personBySlug } from './people.js';
import { type Answering, type Ask, answer } from './request.js';

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

export const sendMessage: Answering<'social.message.send'> = (ask) => {
  const { body = '', render_content_unions: content = [], ...destination } = ask.input;
  return send(ask, { ...destination, body, content });
};

export const sendAttachment: Answering<'social.attachment.send'> = (ask) => {
  const { filename, content_type, data_base64, body = '', ...destination } = ask.input;
  const file = {
    type: 'file',
    filename,
    content_type,
    size: Buffer.byteLength(data_base64, 'base64'),
    url: `https://files.social.test/attachments/${ask.execution.operationId}/${encodeURIComponent(filename)}`,
  };
  return send(ask, { ...destination, body, content: [file] });
};

async function send(ask: Ask<'social.message.send' | 'social.attachment.send'>, draft: Draft): Promise<Outcome> {
  const { self, execution, store, now } = ask;
  const recipient = draft.recipient_actor_id ?? participantOf(draft.conversation_id ?? '');
  if (recipient === self.hashId) return { status: 'skipped', reason: 'self_target' };
  const { id: connectionId, workspace_id: workspaceId } = execution.connection;
  const { peer_id: peerId } = await store.recipient({ workspaceId, connectionId, actorId: recipient });
  await execution.boundary();
  const delivered_at = now();
  const conversation_id = draft.conversation_id ?? conversationWith(recipient);
  const message_urn = `urn:social:message:${execution.operationId}`;
  const data = {
    conversation_id,
    message_urn,
    message_body: draft.body,
    sender_hash_id: self.hashId,
    sender_name: nameOf(personBySlug(self.slug)),
    recipient_hash_ids: [recipient],
    delivered_at,
    ...(draft.content.length > 0 ? { render_content: draft.content } : {}),
  };
  const event = (side: 'sent' | 'received', of: string, conversation: string): NewEvent => ({
    connectionId: of,
    providerEventId: `sim-${execution.operationId}-${side}`,
    type: `message_${side}`,
    data: { ...data, conversation_id: conversation },
  });
  const events = [event('sent', connectionId, conversation_id)];
  if (peerId !== null) events.push(event('received', peerId, conversationWith(self.hashId)));
  const { recipient_actor_id } = draft;
  const result: AnswerOf<'social.message.send'> = {
    provider_acknowledged: true,
    destination: recipient_actor_id === undefined ? { conversation_id } : { recipient_actor_id },
    message_id: message_urn,
    conversation_id,
    delivered_at,
  };
  return { ...answer<'social.message.send'>(result), effects: { events } };
}
