import type { OperationErrorCode } from '../../../../../storage/model/error-codes.js';
import type {
  AttemptPhase,
  AttemptStatus,
  ChallengeKind,
  OperationStatus,
} from '../../../../../storage/model/records.js';
import type { EvidenceJson } from '../../../../routes/operations/evidence-json.js';
import type { SkippedResultJson } from '../../../../routes/operations/operation-parts.js';
import type { Tone } from '../kit/parts.js';

export const STATUSES: Readonly<Record<OperationStatus, readonly [tone: Tone, words: string]>> = {
  queued: ['quiet', 'Queued'],
  running: ['busy', 'Running'],
  waiting_user: ['wait', 'Needs action'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
  canceled: ['quiet', 'Canceled'],
  skipped: ['quiet', 'Skipped'],
  outcome_unknown: ['wait', 'Unknown outcome'],
};

export const isOver = (status: OperationStatus): boolean =>
  status !== 'queued' && status !== 'running' && status !== 'waiting_user';

export const ATTEMPTS: Readonly<Record<AttemptStatus, readonly [tone: Tone, words: string]>> = {
  running: ['busy', 'Running'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
  abandoned: ['quiet', 'Given up'],
  outcome_unknown: ['wait', 'Unknown outcome'],
};

export const PHASES: Readonly<Record<AttemptPhase, string>> = {
  preparing: 'preparing, nothing sent',
  reading: 'reading',
  dispatching: 'sent, without an answer',
  confirming: 'answered without success',
  done: 'done',
};

/** What the codes mean, and what to do. */
const FAILURES: Readonly<Record<OperationErrorCode, readonly [what: string, todo: string]>> = {
  validation_error: ['The input turned out not to be valid.', 'Correct the places below, and submit it again.'],
  connection_not_ready: ['The connection was not ready when its turn came.', 'Log in, then submit it again.'],
  recruiter_not_ready: [
    'No recruiter contract is verified in this session.',
    'Submit social.recruiter.switch, then this again.',
  ],
  authentication_failed: [
    'The provider refused the credentials, or ended the session.',
    'Have the owner of the account sign in again, by a reconnect link.',
  ],
  identity_mismatch: ['The session belongs to another account.', 'Check the username and password of the connection.'],
  challenge_expired: ['It was not answered in time.', 'Log in again, and answer it while it waits.'],
  challenge_failed: ['Every code that was given was wrong.', 'Log in again, with a new code.'],
  challenge_unsupported: [
    'The provider asks for something that cannot be passed on.',
    'Sign in at the provider first, then log in again.',
  ],
  regional_proxy_unavailable: ['The region of the connection has no proxy.', 'An operator adds a proxy of the region.'],
  proxy_error: ['The regional proxy could not be used.', 'Try again; if it stays so, an operator looks at the proxy.'],
  browser_unavailable: ['No browser could take it, or the browser was lost.', 'Submit it again.'],
  upstream_error: ['The provider failed or could not be reached.', 'Submit it again in a while.'],
  parsing_error: [
    'The provider answered in a form that is not known.',
    'Report it: the description of the site may be out of date.',
  ],
  provider_not_found: ['The provider does not know what the input names.', 'Check the ids in the input.'],
  provider_rate_limited: ['The provider limits the rate of this account.', 'Wait, then submit it again.'],
  provider_restricted: [
    'The provider does not allow this account to do it.',
    'The owner signs in at the provider, and follows what it asks.',
  ],
  storage_full: [
    'The workspace stores as much as it may.',
    'Erase operations that are done with, or have an operator raise the limit; then submit it again.',
  ],
  upstream_timeout: ['The provider did not answer in time.', 'Submit it again.'],
  session_fenced: ['The session was replaced or given up meanwhile.', 'Submit it again.'],
  worker_lost: [
    'The node that ran it was lost while it waited for its user, or five times while it ran.',
    'Submit it again.',
  ],
  deadline_exceeded: ['It ran for longer than five minutes.', 'Submit it again.'],
  internal_error: ['The service failed.', 'Submit it again; if it stays so, tell the operator.'],
};

/** A code that nothing more is known of. */
export const spoken = (code: string): string => code.replaceAll('_', ' ');

export function failureWords(code: string): { what: string; todo: string } {
  const [what, todo] = (FAILURES as Readonly<Record<string, readonly [string, string]>>)[code] ?? [spoken(code), ''];
  return { what, todo };
}

export const SENT: Readonly<Record<EvidenceJson['request']['sent'], string>> = {
  yes: 'All of it was given to the network. That does not prove that it arrived.',
  partly: 'It began to leave.',
  unknown: 'Nobody is left who could tell.',
};

/** What ended the attempt of an unknown outcome. */
export const FAULTS: Readonly<Record<NonNullable<EvidenceJson['fault']>, string>> = {
  connection_lost: 'The connection broke before the answer was there.',
  upstream_timeout: 'No answer came in time.',
  upstream_error: 'The answer proves nothing.',
  parsing_error: 'The answer is unfamiliar.',
  browser_unavailable: 'The browser was lost or stopped.',
  session_fenced: 'The session was replaced or given up meanwhile.',
  deadline_exceeded: 'The running time was over.',
  worker_lost: 'The thread or node that ran it was lost, and another settled it.',
  internal_error: 'The service failed.',
};

export const SKIPS: Readonly<Record<SkippedResultJson['reason'], string>> = {
  already_connected: 'The two are connected already.',
  invitation_pending: 'An invitation is under way already.',
  self_target: 'It would have been sent to the account itself.',
};

/** What is asked for, and where it comes from. */
export const CHALLENGES: Readonly<Record<ChallengeKind, string>> = {
  email: 'The provider has sent a code to the e-mail address of the account.',
  sms: 'The provider has sent a code to the phone of the account.',
  authenticator: 'The authenticator app of the account shows a code.',
  approval: 'The provider has asked the owner to approve the sign-in in its app. This goes on once they did.',
  captcha: 'The provider shows a captcha, which nobody can answer here. The owner signs in there, then log in again.',
};
