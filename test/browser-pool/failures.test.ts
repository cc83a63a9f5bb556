import t from 'tap';
import { failureOf, refusal } from '../../browser-pool/failures.js';

t.test(
  'only what cannot have reached the provider, or what it refused itself, proves that nothing was done',
  async (t) => {
    for (const [text, code, definite] of [
      ['apiRequestContext.fetch: connect ECONNREFUSED 127.0.0.1:9', 'proxy_error', true],
      ['apiRequestContext.fetch: getaddrinfo ENOTFOUND proxy.example', 'proxy_error', true],
      ['apiRequestContext.fetch: connect EHOSTUNREACH 192.0.2.1:80', 'proxy_error', true],
      ['apiRequestContext.fetch: read EHOSTUNREACH', 'upstream_error', false],
      ['apiRequestContext.fetch: read ECONNRESET', 'upstream_error', false],
      ['apiRequestContext.fetch: self-signed certificate', 'upstream_error', true],
      ['apiRequestContext.fetch: 0A000119:SSL routines:bad record mac', 'upstream_error', false],
      ['page.goto: net::ERR_SSL_BAD_RECORD_MAC_ALERT', 'upstream_error', false],
      ['an unknown error', 'internal_error', false],
    ] as const) {
      const failure = failureOf(new Error(`${text}\nCall log: a certificate of ERR_CERT`));
      t.strictSame([failure.code, failure.definite], [code, definite], text);
    }
  },
);

t.test('a name of which no address can be reached is told by the first of them', async (t) => {
  const each = ['connect ECONNREFUSED ::1:9', 'connect ETIMEDOUT 127.0.0.1:9'].map((text) => new Error(text));
  t.match(failureOf(new AggregateError(each)), { code: 'proxy_error', transient: true, definite: true });
  t.equal(failureOf(new AggregateError([])).code, 'internal_error');
});

t.test('only an answer that the site names as a refusal proves that nothing was done', async (t) => {
  for (const status of [400, 401, 403, 404, 429]) t.equal(refusal(status)?.definite, true, String(status));
  for (const status of [408, 425, 500, 502, 503, 504])
    t.match(refusal(status), { code: 'upstream_error', definite: false }, String(status));
  t.equal(refusal(500, { refusals: [500] })?.definite, true, 'as it says of itself');
  t.equal(refusal(409, { refusals: [400] })?.definite, false);
  t.equal(refusal(200), null);
});

t.test('what the provider says of its refusal is kept, where it is a word or a time', async (t) => {
  const details = (status: number, retryAfter?: string, code?: string) =>
    refusal(status, { retryAfter, code })?.details;
  t.strictSame(details(429, '30', 'WEEKLY_INVITATIONS'), {
    upstream_status: 429,
    upstream_code: 'WEEKLY_INVITATIONS',
    retry_after_seconds: 30,
  });
  t.strictSame(details(503, '120'), { upstream_status: 503, retry_after_seconds: 120 });
  t.match(details(503, new Date(Date.now() + 3_600_000).toUTCString()), { retry_after_seconds: 3600 });
  t.match(details(429, 'Sunday, 06-Nov-94 08:49:37 GMT'), { retry_after_seconds: 0 }, 'one that has passed is at once');
  for (const strange of ['-1', '1.5', 'soon', '', '9'.repeat(30)])
    t.strictSame(details(429, strange), { upstream_status: 429 }, strange);
  t.strictSame(details(422, undefined, 'You may not <do> this'), { upstream_status: 422 }, 'a text is no code');
});
