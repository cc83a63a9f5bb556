import typia from 'typia';
import { readConversationUrn } from '../../browser-pool/contract/conversation-urn.js';
import type * as contract from '../../browser-pool/contract/conversations.js';
import type { FieldError } from '../../storage/model/errors.js';
import { conversationWithRecipient, listConversations, searchConversations } from '../simulated/inbox.js';
import { listMessages } from '../simulated/messages.js';
import { ownHashIdOf } from '../simulated/names.js';
import { defineCapability, type InputContext } from './capability.js';
import { CONVERSATION, CONVERSATION_ID, FILE_CONTENT, HASH_ID } from './example-values.js';
import { atMostOne, moments, notBlank, refuse } from './rules.js';

function refineMessages(input: contract.MessagesListInput, { ownActor }: InputContext): FieldError[] {
  const errors = [...atMostOne(input, ['cursor', 'delivered_at']), ...moments(input, ['delivered_at'])];
  const { conversation_id, conversation_urn } = input;
  if (conversation_urn === undefined) {
    if (conversation_id === undefined) errors.push(...refuse('$input', 'conversation_id or conversation_urn'));
    return errors;
  }
  const { actor, conversationId } = readConversationUrn(conversation_urn);
  if (conversation_id !== undefined && conversation_id !== conversationId) {
    errors.push(...refuse('$input.conversation_urn', 'the urn of conversation_id'));
  }
  // An actor id that no urn can name has another hash id, which only the provider knows: left to the execution.
  if (ownActor && ownHashIdOf(ownActor) === ownActor && ownActor !== actor) {
    errors.push(...refuse('$input.conversation_urn', "the connection's own actor"));
  }
  return errors;
}

const conversationsList = defineCapability<contract.ListConversations>({
  name: 'social.conversations.list',
  summary: 'Conversations of an inbox category, newest first; one cursor form at a time.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.ConversationsListInput>(),
  refine: (input) => [...atMostOne(input, ['cursor', 'last_activity_at']), ...moments(input, ['last_activity_at'])],
  schemas: typia.json.schemas<[contract.ConversationsListInput, contract.ConversationsResult]>(),
  example: {
    input: { category: 'PRIMARY_INBOX', count: 20 },
    result: { conversations: [CONVERSATION], next_cursor: null, state_revision: 1 },
  },
  simulated: listConversations,
});

const conversationsSearch = defineCapability<contract.SearchConversations>({
  name: 'social.conversations.search',
  summary: 'Conversations that hold the keywords.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.ConversationsSearchInput>(),
  refine: (input) => notBlank(input, ['keywords']),
  schemas: typia.json.schemas<[contract.ConversationsSearchInput, contract.ConversationsResult]>(),
  example: {
    input: { keywords: 'compiler', categories: ['INBOX'] },
    result: { conversations: [CONVERSATION], next_cursor: null, state_revision: 1 },
  },
  simulated: searchConversations,
});

const conversationFind = defineCapability<contract.ConversationWithRecipient>({
  name: 'social.conversation.with_recipient',
  summary: 'The thread with a person, if there is one.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.ConversationWithRecipientInput>(),
  schemas: typia.json.schemas<[contract.ConversationWithRecipientInput, contract.ConversationWithRecipientResult]>(),
  example: {
    input: { recipient_actor_id: HASH_ID },
    result: { conversation: CONVERSATION, state_revision: 1 },
  },
  simulated: conversationWithRecipient,
});

const messagesList = defineCapability<contract.ListMessages>({
  name: 'social.messages.list',
  summary:
    'Messages of a conversation, named by id or urn. `delivered_at` of the oldest asks for earlier ones; dedupe by `message_urn`; one cursor form at a time.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.MessagesListInput>(),
  refine: refineMessages,
  schemas: typia.json.schemas<[contract.MessagesListInput, contract.MessagesListResult]>(),
  example: {
    input: { conversation_id: CONVERSATION_ID, count: 20 },
    result: {
      messages: [
        {
          message_urn: 'urn:social:message:1',
          message_body: 'Hello',
          sender_hash_id: HASH_ID,
          delivered_at: 1_790_000_000_000,
          render_content: [FILE_CONTENT],
        },
      ],
      state_revision: 1,
    },
  },
  simulated: listMessages,
});

/** Contract: "Conversations and messages". */
export const conversations = [conversationsList, conversationsSearch, conversationFind, messagesList] as const;
