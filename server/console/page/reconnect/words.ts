import type { ChallengeJson } from '../../../routes/operations/operation-parts.js';

/** Why a login did not work, for the owner of the account: they know nothing of operations and codes. */
const FAILURES: Readonly<Record<string, string>> = {
  authentication_failed: 'The password was not accepted.',
  identity_mismatch: 'This signed in to another account than the one that is asked for.',
  challenge_failed: 'The code was wrong three times.',
  challenge_expired: 'What the network asked for was not answered in time.',
  challenge_unsupported:
    'The network asks for something that cannot be answered here. Sign in there first, then try again.',
  provider_restricted: 'The network has restricted this account. Sign in there yourself, and follow what it asks.',
  provider_rate_limited: 'The network wants a pause. Try again in a few minutes.',
};
const UNREACHED = 'The network could not be reached just now. Try again in a minute.';

export const failureWords = (code: string | null): string => FAILURES[code ?? ''] ?? UNREACHED;

/** Why a request was refused. */
const REFUSALS: Readonly<Record<string, string>> = {
  unreachable: 'The service does not answer. Check your connection, then try again.',
  connection_busy: 'The account is in use just now. Try again in a minute.',
  challenge_not_accepting_code: 'This code is not asked for any more.',
  validation_error: 'What you entered cannot be used.',
  overloaded: 'The service is busy. Try again in a minute.',
  unavailable: 'The service is not available just now. Try again in a minute.',
  rate_limited: 'Too many tries. Wait a minute.',
};

export const refusalWords = (code: string): string => REFUSALS[code] ?? 'That did not work. Try again in a minute.';

/** What is asked for, and where it comes from. */
const CODES: Readonly<Record<ChallengeJson['kind'], string>> = {
  email: 'The network has sent a code to your e-mail address.',
  sms: 'The network has sent a code to your phone.',
  authenticator: 'Open your authenticator app, and enter the code that it shows.',
  approval: 'Approve the sign-in in the app of the network on your phone. This page goes on by itself.',
  captcha:
    'The network shows a picture puzzle, which cannot be answered here: this try will end without success. Sign in at the network yourself, then try again.',
};

export const challengeWords = (kind: ChallengeJson['kind']): string => CODES[kind];

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
export const clock = (iso: string): string => TIME.format(new Date(iso));
