import { LIMITS } from '../../contract/limits.js';
import {
  LOOK_PROGRAM,
  type Look,
  type LookForWrite,
  lookFor,
  type Place,
  type PlacedMessage,
} from '../../contract/look.js';
import { unexpectedAnswer } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import { isConversationWith, isMe, isMessages, type MessagesAnswer } from '../site/answers.js';
import { isSentInvitations } from '../site/directory-answers.js';
import { fileIn } from '../site/file-content.js';
import type { Site } from '../site/site.js';
import { defineProgram } from './define.js';

/** What a look needs of its run: with this it cannot write. */
type ReadingRun = Pick<
  ProgramRun<LookForWrite['input']>,
  'input' | 'actorId' | 'context' | 'proxy' | 'signal' | 'userAgent' | 'request_ms' | 'sawCookies'
>;

/** Looks at the place where a write would show (OPS-22), through the endpoints that the capabilities read. */
export const lookProgram = defineProgram<LookForWrite>(LOOK_PROGRAM, look);

async function look(run: ReadingRun, site: Site): Promise<{ result: Look }> {
  const { sought, since_ms } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const self = run.actorId ?? (await endpoints.get('me', {}, isMe)).data.hashId;
  return { result: await lookFor(sought, since_ms, placeOf(site, endpoints, self, since_ms)) };
}

function placeOf(site: Site, endpoints: Endpoints<ReadingRun>, self: string, since_ms: number): Place {
  return {
    self,
    conversationWith: async (id) => {
      const { data } = await endpoints.get('conversationWith', { id }, isConversationWith);
      return data?.id ?? null;
    },
    messages: async (id, from_ms) => {
      const request = { id, count: LIMITS.look_page_messages, deliveredBefore: from_ms };
      const { data } = await endpoints.get('conversationMessages', request, isMessages);
      return data.map((message) => placedMessage(site, message));
    },
    invitations: async (start) => {
      const { data, paging } = await endpoints.get('sentInvitations', { start }, isSentInvitations);
      const entries = data.map(({ invitationId, recipient, sentAt }) => {
        const id = recipient?.hashId ?? null;
        // It may be the one that is sought: a look that cannot tell says so.
        if (sentAt === null || (id === null && sentAt >= since_ms)) throw unexpectedAnswer('answer');
        return { invitation_id: invitationId, recipient_actor_id: id ?? '', sent_ms: sentAt };
      });
      return { entries, next: paging.nextStart };
    },
  };
}

function placedMessage(
  { messageFile }: Site,
  { urn, body, senderHashId, deliveredAt, renderContent }: MessagesAnswer['data'][number],
): PlacedMessage {
  if (senderHashId === null) throw unexpectedAnswer('answer'); // it may be the account itself
  const content = renderContent ?? [];
  return {
    urn,
    body,
    sender_hash_id: senderHashId,
    delivered_ms: deliveredAt,
    files: content.flatMap((part) => fileIn(part, messageFile) ?? []),
    content: content.filter((part) => !fileIn(part, messageFile)),
  };
}
