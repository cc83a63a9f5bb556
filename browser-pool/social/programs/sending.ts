import type { Program, ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints, ProviderRefusal } from '../access/endpoints.js';
import { isSent } from '../site/answers.js';
import type { Site } from '../site/site.js';

/** Programs of the family "sending". Each has one write, behind the boundary, made once. */
export function sendingPrograms(site: Site): [string, Program][] {
  return [['social.message.send', (run) => sendMessage(run, site)]];
}

/** Exactly one of the two. */
export interface Destination {
  conversation_id?: string;
  recipient_actor_id?: string;
}

/** Contract: social.message.send. A message to oneself is skipped (OPS-7). */
async function sendMessage(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as Destination & { body?: string; render_content_unions?: Record<string, unknown>[] };
  if (input.recipient_actor_id !== undefined && input.recipient_actor_id === run.actorId) {
    return { skipped: 'self_target' };
  }
  const endpoints = await Endpoints.open(run, site);
  return deliver(run, site, endpoints, input, {
    body: input.body ?? '',
    ...(input.render_content_unions && { renderContent: input.render_content_unions }),
  });
}

/** Passes the boundary and sends one message; what both sends answer. */
export async function deliver(
  run: ProgramRun,
  site: Site,
  endpoints: Endpoints,
  { conversation_id, recipient_actor_id }: Destination,
  content: Record<string, unknown>,
): Promise<ProgramOutcome> {
  const to =
    conversation_id === undefined ? { recipientHashId: recipient_actor_id } : { conversationId: conversation_id };
  await run.boundary();
  try {
    const { data } = await endpoints.post(site.paths.messages, { ...to, ...content }, isSent);
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
