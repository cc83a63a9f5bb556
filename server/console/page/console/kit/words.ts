import type { HttpErrorCode } from '../../../../../storage/model/error-codes.js';

/** Why a request was refused, where the service says no more than a code, or where its reader is somebody else than a program. */
const REFUSALS: Readonly<Partial<Record<HttpErrorCode | 'unreachable' | 'unanswered', string>>> = {
  unreachable: 'The service does not answer. Check your connection, then try again.',
  unanswered: 'No answer came, and it may have been done. Look before you try it again.',
  connection_conflict: 'The account has a connection in this workspace already.',
  connection_busy: 'An operation of the connection runs or waits for its user. Try again when it has ended.',
  connection_not_ready: 'The connection is not ready. Log in first.',
  challenge_not_accepting_code: 'This code is not asked for any more.',
  not_outcome_unknown: 'The outcome of the operation is known by now.',
  delivery_not_failed: 'Only a failed delivery can be sent again.',
  subscription_inactive: 'The subscription is not active. Activate it first.',
  callback_not_verified: 'The address did not answer the challenge that proves it.',
  too_many_subscriptions: 'There are as many subscriptions as there may be.',
  too_many_secrets: 'As many earlier secrets sign as may. Wait until one has run out.',
  no_connection: 'There is no connection yet that a test event could be of.',
  too_many_tests: 'As many test events are under way as may. Wait until one has ended.',
  key_ending: 'The key ends within a day, and its successor would end with it. Make another key.',
  links_unavailable: 'The service does not know its own public address. Its operator sets PUBLIC_URL.',
  not_simulated: 'The connection is a real one, and its events come from the provider alone.',
  erased: 'It was erased by its age, as the installation is set to.',
  not_found: 'There is nothing of this id here. It may have been deleted.',
  rate_limited: 'Too many requests. Wait a moment, then try again.',
  overloaded: 'The service is busy. Try again in a moment.',
  unavailable: 'The service is not available just now. Try again in a moment.',
};

export function refusalWords(code: string, message?: string): string {
  return (REFUSALS as Readonly<Record<string, string>>)[code] ?? message ?? 'That did not work. Try again in a moment.';
}
