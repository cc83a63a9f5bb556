import type { AttemptError } from '../../../../../actors/deliveries/callback/attempt-error.js';
import type { DeliveryAttemptOutcome, DeliveryStatus } from '../../../../../storage/model/records.js';
import type { Tone } from '../kit/parts.js';

/** Why an attempt failed, for those who run the receiver. */
const FAILURES: Readonly<Record<AttemptError, string>> = {
  dns: 'The name of the receiver leads to no public address.',
  blocked: 'The address leads where the service may not call.',
  refused: 'The receiver accepts no connection.',
  unreachable: 'There is no way to the receiver.',
  tls: 'The certificate of the receiver was not accepted.',
  timeout: 'The receiver did not answer in time.',
  status: 'The receiver answered with a failure.',
  reset: 'The receiver broke the connection off.',
  protocol: 'The receiver answered with what is no HTTP.',
  secret: 'The service cannot open the signing secret.',
  internal: 'The service itself failed.',
};

/** `error` of an attempt, `last_error` of a delivery, or `reason` of a pause; null where nothing failed. */
export function attemptWords(error: string | null, status: number | null = null): string | null {
  if (error === null) return null;
  const [, code = status] = /^status_(\d+)$/.exec(error) ?? [];
  if (code !== null) return `The receiver answered ${code}.`;
  return (FAILURES as Readonly<Record<string, string>>)[error] ?? error;
}

type Words<T extends string> = Readonly<Record<T, readonly [tone: Tone, words: string]>>;

/** In the order in which somebody looks for them. */
export const DELIVERIES: Words<DeliveryStatus> = {
  failed: ['bad', 'Failed'],
  pending: ['wait', 'Pending'],
  sending: ['busy', 'Sending'],
  delivered: ['good', 'Delivered'],
  canceled: ['quiet', 'Canceled'],
};

export const OUTCOMES: Words<DeliveryAttemptOutcome> = {
  failed: ['bad', 'Failed'],
  sending: ['busy', 'Sending'],
  delivered: ['good', 'Delivered'],
  canceled: ['quiet', 'Canceled'],
  abandoned: ['wait', 'Abandoned'],
};
