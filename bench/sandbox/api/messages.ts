import { randomUUID } from 'node:crypto';
import typia, { type tags } from 'typia';
import { badRequest, json, notFound, Refused } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { Post } from '../post.js';
import type { State } from '../state/state.js';

interface SendRequest {
  conversationId?: string & tags.MaxLength<255>;
  recipientHashId?: string & tags.MaxLength<255>;
  body: string;
  renderContent?: Record<string, unknown>[];
}

const validateSend = typia.createValidateEquals<SendRequest>();

/** Sending messages. */
export function messageRoutes(state: State, post: Post): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/messages',
      access: 'api',
      capabilities: ['social.message.send'],
      answer: (exchange) => {
        exchange.query.only();
        const request = exchange.json(validateSend);
        const renderContent = request.renderContent ?? [];
        if ([...request.body].length > LIMITS.message_characters) throw badRequest('body is too long.');
        if (renderContent.length > LIMITS.render_content_objects) throw badRequest('renderContent is too long.');
        if (request.body.trim() === '' && renderContent.length === 0) throw badRequest('The message is empty.');

        const { viewer } = exchange;
        const recipient = recipientOf(state, exchange, request);
        const message = post.send(viewer, recipient, request.body, renderContent, {
          id: randomUUID(),
          account: viewer.username,
          kind: 'message',
          target: request.conversationId ?? recipient,
          text: request.body,
        });
        const { urn, conversationId, deliveredAt } = message;
        return json({ data: { urn, conversationId, deliveredAt, recipientHashIds: [recipient] } }, 201);
      },
    },
  ];
}

/** The other side of what a send names as its destination. */
export function recipientOf(
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
