import type { ListSentInvitations, SentInvitation } from '../../browser-pool/contract/identity.js';
import type { SendInvitation } from '../../browser-pool/contract/sending.js';
import type { AnswerOf } from '../../browser-pool/contract/signature.js';
import { countPendingInvitations, readPendingInvitations } from '../../storage/operations/simulated-invitations.js';
import { LIMITS } from './limits.js';
import { publicIdOf } from './names.js';
import { headlineOf, nameOf, type Person, personBySlug } from './people.js';
import { membersThatAre, relationshipTo, since } from './relationship.js';
import type { SimulatedAnswer, SimulatedReading } from './request.js';

/**
 * Invitations. One to another simulated connection of the workspace is accepted at once: the inviting connection
 * records `custom_connection_request_accepted`, as the inviter's stream would report (EVT-11). Any other stays
 * pending, and is found again among the connection's own operations.
 */

export const sendInvitation: SimulatedAnswer<SendInvitation> = async (request) => {
  const { operationId, input, self, connection, store } = request;
  const recipient = input.recipient_actor_id;
  if (recipient === self.hashId || recipient === self.actorId) return { skipped: 'self_target' };
  const standing = relationshipTo(self, publicIdOf(recipient));
  if (standing === 'connected') return { skipped: 'already_connected' };
  if (standing === 'invited') return { skipped: 'invitation_pending' };
  const { id: connectionId, workspace_id: workspaceId } = connection;
  const { peer_id: peerId, invited } = await store.recipient({ workspaceId, connectionId, actorId: recipient });
  if (invited) return { skipped: peerId === null ? 'invitation_pending' : 'already_connected' };
  await request.boundary();
  const result = {
    recipient_actor_id: recipient,
    code: 'INVITATION_SENT',
    message: 'Your invitation is on its way.',
    provider_acknowledged: true,
  } as const;
  if (peerId === null) return { result, effects: { simulatedInvitation: { recipient, accepted: false } } };
  const person = personBySlug(publicIdOf(recipient));
  return {
    result,
    effects: {
      simulatedInvitation: { recipient, accepted: true },
      events: [
        {
          connectionId,
          providerEventId: `sim-${operationId}-accepted`,
          type: 'custom_connection_request_accepted',
          data: { hash_id: recipient, public_id: person.slug, name: nameOf(person), accepted_at: request.now() },
        },
      ],
    },
  };
};

export const listSentInvitations: SimulatedAnswer<ListSentInvitations> = async (request) => ({
  result: await sentInvitations(request, request.input),
});

/** A page of the pending invitations, newest first. */
export async function sentInvitations(
  { self, connection, store }: SimulatedReading,
  input: ListSentInvitations['input'],
): Promise<AnswerOf<ListSentInvitations>> {
  const start = input.start_index ?? 0;
  // One more than a page holds shows whether another follows.
  const sent = await readPendingInvitations(store.db, connection.id, start, LIMITS.invitation_entries + 1);
  const entries: SentInvitation[] = sent.map(({ id, recipient, sent_at, message }) => ({
    ...entryOf(id, recipient, personBySlug(publicIdOf(recipient)), sent_at),
    message,
  }));
  const computed = membersThatAre(self, 'invited');
  let total: number | undefined;
  if (sent.length <= LIMITS.invitation_entries || input.include_total) {
    const stored = await countPendingInvitations(store.db, connection.id);
    const from = Math.max(0, start - stored);
    const rest = computed.slice(from, from + LIMITS.invitation_entries + 1 - sent.length);
    entries.push(
      ...rest.map((person) => entryOf(person.memberId, person.hashId, person, new Date(since(self, person)))),
    );
    total = stored + computed.length;
  }
  const has_more = entries.length > LIMITS.invitation_entries;
  const page = entries.slice(0, LIMITS.invitation_entries);
  return {
    entries: page,
    count: page.length,
    start_index: start,
    has_more,
    next_start_index: has_more ? start + LIMITS.invitation_entries : null,
    ...(input.include_total ? { total: total ?? null } : {}),
  };
}

function entryOf(invitation_id: string, recipient_actor_id: string, person: Person, sent_at: Date): SentInvitation {
  return {
    invitation_id,
    recipient_actor_id,
    public_id: person.slug,
    name: nameOf(person),
    headline: headlineOf(person),
    message: null,
    sent_at: sent_at.toISOString(),
  };
}
