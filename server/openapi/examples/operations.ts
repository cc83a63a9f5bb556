import type { Capability } from '../../../actors/capabilities/capability.js';
import { type CapabilityName, capabilities } from '../../../actors/capabilities/catalogue.js';
import { CONVERSATION_ID, HASH_ID } from '../../../actors/capabilities/example-values.js';
import { invitationSend, messageSend } from '../../../actors/capabilities/sending.js';
import { login } from '../../../actors/capabilities/session.js';
import { detailsOf, OPERATION_ERRORS, type OperationErrorCode } from '../../../storage/model/error-codes.js';
import type { AttemptPhase, AttemptStatus, OperationStatus } from '../../../storage/model/records.js';
import type * as shape from '../../routes/operations/operation-json.js';
import type { AttemptJson, FailureDetailsJson, TransitionJson } from '../../routes/operations/operation-parts.js';
import { AT, ATTEMPT, BEGUN, CHALLENGE, CONNECTION, EXPIRY, LATER, LATEST, NODE, OPERATION, SENT } from './values.js';

/** An operation in each of its statuses. Timelines follow the table of steps, and what each status has follows from its type. */

type Known = Capability<CapabilityName>;

const OPENED = { result: null, error_code: null, error_details: null, evidence: null, challenge: null } as const;

const SUBMITTED: TransitionJson = { from: null, to: 'queued', reason: 'submitted', at: AT };
const STARTED: TransitionJson = { from: 'queued', to: 'running', reason: 'started', at: BEGUN };

function named({ name }: Known) {
  return { id: OPERATION, connection_id: CONNECTION, capability: name, cancel_requested: false, created_at: AT };
}

/** The generation that an attempt begins with. What may ask the user makes the next one, which its result tells. */
function revisionOf({ example, challenges }: Known): number {
  const { state_revision } = example.result as { state_revision: number };
  return challenges ? state_revision - 1 : state_revision;
}

function attempt(
  capability: Known,
  status: AttemptStatus,
  phase: AttemptPhase,
  completed_at: string | null,
): AttemptJson {
  const state_revision = revisionOf(capability);
  const boundary_at = capability.kind === 'write' && phase !== 'preparing' ? SENT : null;
  return { id: ATTEMPT, state_revision, number: 1, status, phase, started_at: BEGUN, completed_at, boundary_at };
}

/** An operation that ran once and ended. */
function ended<Status extends OperationStatus>(
  capability: Known,
  status: Status,
  reason: string,
  ...[attemptStatus, phase]: [AttemptStatus, AttemptPhase]
) {
  return {
    ...named(capability),
    status,
    ...OPENED,
    updated_at: LATER,
    attempts: [attempt(capability, attemptStatus, phase, LATER)],
    timeline: [SUBMITTED, STARTED, { from: 'running', to: status, reason, at: LATER } as const],
  };
}

const begun = ({ kind }: Known): AttemptPhase => (kind === 'read' ? 'reading' : 'preparing');

export function queued(capability: Known): shape.QueuedOperationJson {
  return { ...named(capability), status: 'queued', ...OPENED, updated_at: AT, attempts: [], timeline: [SUBMITTED] };
}

export const running: shape.RunningOperationJson = {
  ...named(messageSend),
  status: 'running',
  ...OPENED,
  updated_at: BEGUN,
  attempts: [attempt(messageSend, 'running', 'preparing', null)],
  timeline: [SUBMITTED, STARTED],
};

export const waiting: shape.WaitingOperationJson = {
  ...named(login),
  status: 'waiting_user',
  ...OPENED,
  challenge: { id: CHALLENGE, kind: 'sms', expires_at: EXPIRY, accepts_code: true },
  updated_at: LATER,
  attempts: [attempt(login, 'running', 'reading', null)],
  timeline: [SUBMITTED, STARTED, { from: 'running', to: 'waiting_user', reason: 'challenge_sms', at: LATER }],
};

export function succeeded(capability: Known): shape.SucceededOperationJson {
  return {
    ...ended(capability, 'succeeded', 'succeeded', 'succeeded', 'done'),
    result: { ...capability.example.result },
  };
}

/** A capability that can fail with the code. */
function failing(code: OperationErrorCode): Known {
  const wanted: Partial<Record<OperationErrorCode, CapabilityName>> = {
    validation_error: 'social.recruiter.people.search',
    recruiter_not_ready: 'social.recruiter.people.search',
    authentication_failed: 'social.login',
    challenge_expired: 'social.login',
    challenge_failed: 'social.login',
    challenge_unsupported: 'social.login',
    storage_full: 'social.file.download',
    worker_lost: 'social.login',
  };
  const name = wanted[code] ?? 'social.profile.get';
  return capabilities.find((capability) => capability.name === name) as Known;
}

export function failed(code: OperationErrorCode): shape.FailedOperationJson {
  const capability = failing(code);
  const { retryable } = OPERATION_ERRORS[code];
  return {
    ...ended(capability, 'failed', code, 'failed', begun(capability)),
    error_code: code,
    error_details: { retryable, ...detailsOf(code) } satisfies FailureDetailsJson,
  };
}

export const canceled: shape.CanceledOperationJson = {
  ...named(messageSend),
  status: 'canceled',
  ...OPENED,
  cancel_requested: true,
  updated_at: LATER,
  attempts: [],
  timeline: [SUBMITTED, { from: 'queued', to: 'canceled', reason: 'cancel_requested', at: LATER }],
};

export const skipped: shape.SkippedOperationJson = {
  ...ended(invitationSend, 'skipped', 'already_connected', 'succeeded', 'done'),
  attempts: [{ ...attempt(invitationSend, 'succeeded', 'done', LATER), boundary_at: null }],
  result: { reason: 'already_connected', state_revision: 1 },
};

/** A write whose answer was lost, before anybody looked. */
const unlooked: shape.UnknownOperationJson = {
  ...ended(messageSend, 'outcome_unknown', 'no_proof', 'outcome_unknown', 'dispatching'),
  evidence: {
    boundary_at: SENT,
    request: { sent: 'yes', at: SENT },
    answer: null,
    fault: 'upstream_timeout',
    worker: { node_id: NODE, thread: 'actors-0', attempt_id: ATTEMPT },
    look: null,
  },
};

/** The same after a look that found the message. */
const looked: shape.UnknownOperationJson = {
  ...unlooked,
  updated_at: LATEST,
  evidence: {
    ...unlooked.evidence,
    look: {
      at: LATEST,
      found: 'one',
      reason: null,
      matches: [
        {
          kind: 'message',
          message_urn: 'urn:social:message:2',
          conversation_id: CONVERSATION_ID,
          delivered_at: Date.parse(SENT),
        },
      ],
    },
  },
};

/** An attachment and an invitation whose answers proved nothing. */
const attachment: shape.UnknownOperationJson = {
  ...unlooked,
  capability: 'social.attachment.send',
  updated_at: LATEST,
  evidence: {
    ...unlooked.evidence,
    answer: { status: 502 },
    fault: 'upstream_error',
    look: {
      at: LATEST,
      found: 'one',
      reason: null,
      matches: [
        {
          kind: 'attachment',
          message_urn: 'urn:social:message:3',
          conversation_id: CONVERSATION_ID,
          delivered_at: Date.parse(SENT),
          filename: 'notes.txt',
          size: 5,
        },
      ],
    },
  },
};
const invitation: shape.UnknownOperationJson = {
  ...unlooked,
  capability: 'social.invitation.send',
  updated_at: LATEST,
  evidence: {
    ...unlooked.evidence,
    look: {
      at: LATEST,
      found: 'one',
      reason: null,
      matches: [{ kind: 'invitation', invitation_id: '7001', recipient_actor_id: HASH_ID, sent_at: SENT }],
    },
  },
};

export const unknown = [looked, unlooked, attachment, invitation];
