import { randomUUID } from 'node:crypto';
import typia, { type tags } from 'typia';
import { badRequest, json, notFound, Refused } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { Draft, Mailer } from '../mailer.js';
import type { State } from '../state/state.js';

interface SendRequest {
  conversationId?: string & tags.MaxLength<255>;
  recipientHashId?: string & tags.MaxLength<255>;
  body: string;
  renderContent?: Record<string, unknown>[];
  /** Urns of uploads. */
  attachments?: string[] & tags.MinItems<1>;
}

const validateSend = typia.createValidateEquals<SendRequest>();

/** Sending messages. */
export function messageRoutes(state: State, mailer: Mailer): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/messages',
      access: 'api',
      // A message that carries a file is what sends it; the upload before it is not.
      capabilities: ({ body }) => [body.includes('"attachments"') ? 'social.attachment.send' : 'social.message.send'],
      answer: (exchange) => {
        exchange.query.only();
        const request = exchange.json(validateSend);
        const draft = draftOf(state, exchange, request);
        const recipient = recipientOf(state, exchange, request);
        const { username } = exchange.viewer;
        const [file] = draft.attachments;
        const message = mailer.send(exchange.viewer, recipient, draft, {
          id: randomUUID(),
          account: username,
          kind: file === undefined ? 'message' : 'attachment',
          target: request.conversationId ?? recipient,
          text: file === undefined || draft.body !== '' ? draft.body : file.name,
        });
        const { urn, conversationId, deliveredAt } = message;
        return json({ data: { urn, conversationId, deliveredAt, recipientHashIds: [recipient] } }, 201);
      },
    },
  ];
}

function draftOf(state: State, exchange: Exchange, request: SendRequest): Draft {
  const { body, renderContent = [] } = request;
  const urns = request.attachments ?? [];
  if ([...body].length > LIMITS.message_characters) throw badRequest('body is too long.');
  if (renderContent.length > LIMITS.render_content_objects) throw badRequest('renderContent is too long.');
  if (urns.length > LIMITS.message_attachments) throw badRequest('attachments is too long.');
  if (body.trim() === '' && renderContent.length + urns.length === 0) throw badRequest('The message is empty.');
  const attachments = urns.map((urn) => {
    const attachment = state.attachments.own(urn, exchange.viewer.member.hashId);
    if (attachment === undefined) throw new Refused(422, 'unknown_attachment', 'There is no such upload.');
    return attachment;
  });
  return { body, renderContent, attachments };
}

/** The other side of what a send names as its destination. */
function recipientOf(
  state: State,
  exchange: Exchange,
  destination: { conversationId?: string; recipientHashId?: string },
): string {
  const { conversationId, recipientHashId } = destination;
  const own = exchange.viewer.member.hashId;
  if ((conversationId === undefined) === (recipientHashId === undefined)) {
    throw badRequest('Give conversationId or recipientHashId, and not both.');
  }
  if (recipientHashId === own) throw new Refused(422, 'self_target', 'You cannot write to yourself.');
  if (recipientHashId !== undefined) {
    if (state.directory.byHashId(recipientHashId) === undefined) throw notFound('member');
    return recipientHashId;
  }
  const conversation = state.mailboxes.of(own).get(conversationId ?? '');
  if (conversation === undefined) throw notFound('conversation');
  return conversation.otherHashId;
}
