import type { ListSentInvitations, SentInvitation } from '../../contract/identity.js';
import type { SendInvitation } from '../../contract/sending.js';
import { RunFailure, unexpectedAnswer } from '../../failures.js';
import { Endpoints, ProviderRefusal } from '../access/endpoints.js';
import { isInvited } from '../site/answers.js';
import { isSentInvitations, type SentInvitationsAnswer } from '../site/directory-answers.js';
import { defineProgram } from './define.js';
import { timestamp } from './profiles.js';

/** What leaves nothing to do (OPS-7); the site has a code for each. */
const SKIPS = ['already_connected', 'invitation_pending'] as const;

/**
 * Contract: social.invitation.send. Any other code is handed on: an acknowledgement is not always a sent invitation.
 * `return_original` adds the provider's raw answer; only the compatibility route sets it.
 */
const sendInvitation = defineProgram<SendInvitation>('social.invitation.send', async (run, site) => {
  const { recipient_actor_id, message, return_original } = run.input;
  if (recipient_actor_id === run.actorId) return { skipped: 'self_target' };
  const endpoints = await Endpoints.open(run, site);
  const invitation = { recipientHashId: recipient_actor_id, ...(message !== undefined && { message }) };
  try {
    const { answer, original } = await endpoints.write('invitations', invitation, isInvited);
    const { code } = answer.data;
    const skipped = SKIPS.find((reason) => site.invitationSkips[reason] === code);
    if (skipped !== undefined) return { skipped };
    return {
      result: {
        recipient_actor_id,
        code,
        message: answer.data.message,
        provider_acknowledged: true,
        ...(return_original === true && { original }),
      },
    };
  } catch (error) {
    if (error instanceof ProviderRefusal && error.kind === 'selfTarget') return { skipped: 'self_target' };
    throw error;
  }
});

/**
 * Contract: social.invitations.sent.list. A page is a window of ten places, some of them empty, so only `nextStart` shows
 * whether another page follows.
 */
const listSentInvitations = defineProgram<ListSentInvitations>('social.invitations.sent.list', async (run, site) => {
  const { start_index = 0, include_total = false } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints
    .get('sentInvitations', { start: start_index, includeTotal: include_total || undefined }, isSentInvitations)
    .catch((error: unknown) => {
      throw asUpstream(error);
    });
  const next = paging.nextStart;
  if (paging.start !== start_index || (next !== null && (next <= start_index || next % 10 !== 0))) {
    throw unexpectedAnswer('answer');
  }
  return {
    result: {
      entries: data.map(sentEntry),
      count: data.length,
      start_index,
      has_more: next !== null,
      next_start_index: next,
      ...(include_total && { total: paging.total }),
    },
  };
});

/** Sending an invitation, and those that are pending. */
export const invitationPrograms = [sendInvitation, listSentInvitations] as const;

/** Whatever the provider answers, the list failed with it (contract: social.invitations.sent.list): it names nothing that could be missing. */
function asUpstream(error: unknown): unknown {
  const answered = ['provider_not_found', 'provider_rate_limited'];
  if (!(error instanceof RunFailure) || !answered.includes(error.code)) return error;
  return new RunFailure('upstream_error', error.details, { definite: true });
}

function sentEntry({
  invitationId,
  sentAt,
  message,
  recipient,
}: SentInvitationsAnswer['data'][number]): SentInvitation {
  return {
    invitation_id: invitationId,
    recipient_actor_id: recipient?.hashId ?? null,
    public_id: recipient?.publicId ?? null,
    name: [recipient?.firstName, recipient?.lastName].filter(Boolean).join(' ') || null,
    headline: recipient?.headline ?? null,
    message,
    sent_at: timestamp(sentAt),
  };
}
