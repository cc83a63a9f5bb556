import type { Destination, MessageSendResult, SendMessage } from '../../contract/sending.js';
import type { ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints, ProviderRefusal } from '../access/endpoints.js';
import { isSent, personId, timeOf } from '../site/answers.js';
import type { RequestOf } from '../site/endpoints.js';
import { defineProgram } from './define.js';

/** Contract: social.message.send. A message to oneself is skipped (OPS-7). */
const sendMessage = defineProgram<SendMessage>('social.message.send', async (run, site) => {
  const { input } = run;
  if (input.recipient_actor_id !== undefined && input.recipient_actor_id === run.actorId) {
    return { skipped: 'self_target' };
  }
  const endpoints = await Endpoints.open(run, site);
  return deliver(endpoints, input, {
    body: input.body ?? '',
    ...(input.render_content_unions && { renderContent: input.render_content_unions }),
  });
});

/** Sending a message. Each send has one write, made once. */
export const sendingPrograms = [sendMessage] as const;

/** Sends one message; what both sends give. */
export async function deliver(
  endpoints: Endpoints<ProgramRun>,
  { conversation_id, recipient_actor_id }: Destination,
  content: Pick<RequestOf<'messages'>, 'body' | 'renderContent' | 'attachments'>,
): Promise<ProgramOutcome<Omit<MessageSendResult, 'state_revision'>>> {
  const to =
    conversation_id === undefined ? { recipientHashId: recipient_actor_id } : { conversationId: conversation_id };
  try {
    const { answer } = await endpoints.write('messages', { ...to, ...content }, isSent);
    const { data } = answer;
    return {
      result: {
        provider_acknowledged: true,
        destination: {
          ...(conversation_id !== undefined && { conversation_id }),
          ...(recipient_actor_id !== undefined && { recipient_actor_id }),
        },
        message_id: data.urn,
        conversation_id: personId(data.conversationId),
        delivered_at: timeOf(data.deliveredAt),
      },
    };
  } catch (error) {
    if (error instanceof ProviderRefusal && error.kind === 'selfTarget') return { skipped: 'self_target' };
    throw error;
  }
}
