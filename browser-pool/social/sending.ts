import type { Program, ProgramOutcome, ProgramRun } from '../program.js';
import { isSent } from './answers.js';
import { Endpoints, ProviderRefusal } from './endpoints.js';
import type { Site } from './site.js';

/** Programs of the family "sending". Each has one write, behind the boundary, made once. */
export function sendingPrograms(site: Site): [string, Program][] {
  return [['social.message.send', (run) => sendMessage(run, site)]];
}

/** Spec: social.message.send. A message to oneself is skipped (decision O7). */
async function sendMessage(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as {
    conversation_id?: string;
    recipient_actor_id?: string;
    body?: string;
    render_content_unions?: Record<string, unknown>[];
  };
  const { conversation_id, recipient_actor_id } = input;
  if (recipient_actor_id !== undefined && recipient_actor_id === run.actorId) return { skipped: 'self_target' };
  const endpoints = await Endpoints.open(run, site);
  const message = {
    ...(conversation_id === undefined ? { recipientHashId: recipient_actor_id } : { conversationId: conversation_id }),
    body: input.body ?? '',
    ...(input.render_content_unions && { renderContent: input.render_content_unions }),
  };
  await run.boundary();
  try {
    const { data } = await endpoints.post(site.paths.messages, message, isSent);
    return {
      result: {
        provider_acknowledged: true,
        destination: conversation_id === undefined ? { recipient_actor_id } : { conversation_id },
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
