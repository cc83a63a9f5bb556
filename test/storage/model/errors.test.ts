import t from 'tap';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../../storage/model/error-codes.js';
import { failureDetails, HttpError } from '../../../storage/model/errors.js';

t.test('trying again helps where something may end by itself, and nowhere else', async (t) => {
  const retryable = (records: Record<string, { retryable: boolean }>) =>
    Object.keys(records).filter((code) => records[code]?.retryable);
  t.strictSame(retryable(HTTP_ERRORS), [
    'connection_busy',
    'too_many_tests',
    'rate_limited',
    'internal_error',
    'overloaded',
    'unavailable',
  ]);
  t.strictSame(retryable(OPERATION_ERRORS), [
    'challenge_expired',
    'challenge_failed',
    'proxy_error',
    'browser_unavailable',
    'upstream_error',
    'provider_rate_limited',
    'upstream_timeout',
    'session_fenced',
    'worker_lost',
    'deadline_exceeded',
    'internal_error',
  ]);
});

t.test('an answer of the provider says whether trying again can help', async (t) => {
  const retryable = (upstream_status: number | null) =>
    failureDetails({ code: 'upstream_error', details: { upstream_status } }).retryable;
  for (const status of [null, 408, 409, 423, 425, 500, 502, 503, 504]) t.equal(retryable(status), true, String(status));
  for (const status of [400, 403, 405, 410, 413, 415, 422, 451, 501, 505])
    t.equal(retryable(status), false, String(status));
});

t.test('a refusal carries the headers of its code, unless the place that refuses gives others', async (t) => {
  t.strictSame(new HttpError('overloaded').headers, { 'Retry-After': '1' });
  t.strictSame(new HttpError('overloaded', 'busy', undefined, { 'Retry-After': '7' }).headers, { 'Retry-After': '7' });
  t.strictSame(new HttpError('not_found').headers, {});
});
