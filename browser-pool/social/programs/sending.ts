import type { Destination, MessageSendResult, SendMessage } from '../../contract/sending.js';
import type { ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints, ProviderRefusal } from '../access/endpoints.js';
import { isSent } from '../site/answers.js';
import type { Site } from '../site/site.js';
import { defineProgram } from './define.js';

/** Contract: social.message.send. A message to oneself is skipped (OPS-7). */
const sendMessage = defineProgram<SendMessage>('social.message.send', async (run, site) => {
  const { input } = run;
  if (input.recipient_actor_id !== undefined && input.recipient_actor_id === run.actorId) {
    return { skipped: 'self_target' };
  }
  const endpoints = await Endpoints.open(run, site);
  return deliver(site, endpoints, input, {
    body: input.body ?? '',
    ...(input.render_content_unions && { renderContent: input.render_content_unions }),
  });
});

/** Sending a message. Each send has one write, made once. */
export const sendingPrograms = [sendMessage] as const;

/** Sends one message; what both sends give. */
export async function deliver(
  site: Site,
  endpoints: Endpoints<ProgramRun>,
  { conversation_id, recipient_actor_id }: Destination,
  content: Record<string, unknown>,
): Promise<ProgramOutcome<Omit<MessageSendResult, 'state_revision'>>> {
  const to =
    conversation_id === undefined ? { recipientHashId: recipient_actor_id } : { conversationId: conversation_id };
  try {
    const { data } = await endpoints.write(site.paths.messages, { ...to, ...content }, isSent);
    return {
      result: {
        provider_acknowledged: true,
        destination: {
          ...(conversation_id !== undefined && { conversation_id }),
          ...(recipient_actor_id !== undefined && { recipient_actor_id }),
        },
        message_id: data.urn,
        conversation_id: data.conversationId,
        delivered_at: data.deliveredAt,
      },
    };
  } catch (error) {
    if (error instanceof ProviderRefusal && error.reason === 'self_target') return { skipped: 'self_target' };
    throw error;
  }
}
