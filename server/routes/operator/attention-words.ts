/** Causes of what needs somebody, for people. */

const CHALLENGES: Readonly<Record<string, string>> = {
  email: 'It waits for a code that was sent by e-mail.',
  sms: 'It waits for a code that was sent by SMS.',
  authenticator: 'It waits for a code of an authenticator app.',
  approval: 'It waits for its owner to approve the sign-in in the app of the network.',
  captcha: 'The network shows a captcha, which nobody can answer here.',
};

export const challengeCause = (kind: string): string => CHALLENGES[kind] ?? 'It waits for its user.';

/** By `health_reason`; those that are missing here are codes of operations. */
const REASONS: Readonly<Record<string, string>> = {
  created: 'It has never signed in.',
  credentials_changed: 'Its credentials were changed, and it has not signed in since.',
  region_changed: 'Its region was changed, and it has not signed in since.',
  disconnected: 'It was disconnected.',
  stream_refused: 'The network refused its session to the stream of events.',
  needs_login: 'It has to sign in.',
  invalid: 'It cannot be used.',
};

export const healthCause = (reason: string): string =>
  REASONS[reason] ?? `An operation found out that it cannot be used: ${reason}.`;

export const pauseCause = (reason: string): string => `Its destination does not answer: ${reason}. Deliveries wait.`;

/** By what the last run or stream through it came upon. */
export const proxyCause = (failure: string | null): string =>
  failure === 'refused'
    ? 'It refuses to pass anything on: its credentials may be wrong.'
    : 'It cannot be reached: what its connections do fails or waits.';
