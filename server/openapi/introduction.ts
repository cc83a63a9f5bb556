import {
  HTTP_ERRORS,
  type HttpErrorCode,
  OPERATION_ERRORS,
  type OperationErrorCode,
} from '../../storage/model/error-codes.js';
import { markdownTable } from '../docs/table.js';

/** What a reader of the document sees first, with every code there is. */
export function introduction(): string {
  return [
    'Manages connections to professional-network accounts, runs durable asynchronous operations against them and pushes signed events.',
    'Submit an operation, read it until it has ended (`Prefer: wait=30` saves asking again), and look at `status`: a `succeeded` one has the result of its capability, a `failed` one an error code, one in `waiting_user` a challenge, one in `outcome_unknown` the evidence of a write that may have happened. Every submission carries an `Idempotency-Key`: sent again after a lost answer it gives the first operation, never a second one.',
    '## Refusals',
    'A refused request carries `{code, message, errors?}`, a 409 `{code}` alone. Whether the same request can succeed later without a change:',
    markdownTable(['status', 'code', 'meaning', 'later'], refusals()),
    '## Failures',
    'A `failed` operation has one of these as its `error_code`. Whether submitting it again, under a new key, can help:',
    markdownTable(['error_code', 'meaning', 'again'], failures()),
  ].join('\n\n');
}

function refusals(): string[][] {
  return (Object.keys(HTTP_ERRORS) as HttpErrorCode[]).map((code) => {
    const { status, retryable } = HTTP_ERRORS[code];
    return [String(status), `\`${code}\``, HTTP_ERRORS[code].meaning, yesOrNo(retryable)];
  });
}

function failures(): string[][] {
  return (Object.keys(OPERATION_ERRORS) as OperationErrorCode[]).map((code) => [
    `\`${code}\``,
    OPERATION_ERRORS[code].meaning,
    yesOrNo(OPERATION_ERRORS[code].retryable),
  ]);
}

function yesOrNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no';
}
