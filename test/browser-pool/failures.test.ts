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

t.test('only an answer that the site names as a refusal proves that nothing was done', async (t) => {
  for (const status of [400, 401, 403, 404, 429]) t.equal(refusal(status)?.definite, true, String(status));
  for (const status of [408, 425, 500, 502, 503, 504])
    t.match(refusal(status), { code: 'upstream_error', definite: false }, String(status));
  t.equal(refusal(500, { refusals: [500] })?.definite, true, 'as it says of itself');
  t.equal(refusal(409, { refusals: [400] })?.definite, false);
  t.equal(refusal(200), null);
});
