import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { headerValue } from './inputs.js';
import { fuzzed, RUNS, SEED } from './session.js';

/**
 * Bytes straight onto the socket: broken chunking, lengths that lie, pipelined garbage, requests cut anywhere and reset.
 * The service answers or closes, never with a 5xx, keeps no row of it, and serves the next client.
 */

/** How long a socket may stay silent before this client hangs up: what is sent may well be half a request. */
const QUIET_ms = 15;

const sizes = fc.constantFrom('0', '1', '5', 'ffffffff', 'fffffffffffffffff', '-1', 'zz', '', ' 5', '5;ext=1', '0x5');
const chunk = fc.tuple(sizes, fc.string({ maxLength: 10 })).map(([size, data]) => `${size}\r\n${data}\r\n`);

function request(key: string, path: string): fc.Arbitrary<string> {
  const line = fc.constantFrom(
    `POST ${path} HTTP/1.1`,
    `POST ${path} HTTP/1.0`,
    `POST ${path} HTTP/9.9`,
    `POST ${path}`,
    `GET ${path}?${'x'.repeat(5000)} HTTP/1.1`,
    `GET http://other.example${path} HTTP/1.1`,
    'GET * HTTP/1.1',
    'CONNECT a:1 HTTP/1.1',
    `get ${path} http/1.1`,
  );
  const header = fc.oneof(
    fc.constantFrom(
      'Host: x',
      'Host: x\r\nHost: y',
      `Authorization: Bearer ${key}`,
      'Content-Length: 5',
      'Content-Length: -5',
      'Content-Length: 99999999999999999999',
      'Content-Length: 5\r\nContent-Length: 6',
      'Content-Length: 5, 5',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: gzip, chunked',
      'Transfer-Encoding: identity',
      'Transfer-Encoding : chunked',
      ' folded: header',
      'no colon',
      ': no name',
      'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c',
      'Expect: 100-continue',
      `X-Long: ${'x'.repeat(20_000)}`,
    ),
    headerValue.map((value) => `X-Any: ${value}`),
  );
  const body = fc.oneof(
    fc.array(chunk, { maxLength: 4 }).map((chunks) => chunks.join('')),
    fc.string({ maxLength: 30 }),
    fc.constantFrom('', '{}', '0\r\n\r\n', '0\r\nTrailer: x\r\n\r\n'),
  );
  return fc
    .tuple(line, fc.array(header, { maxLength: 5 }), fc.constantFrom('\r\n', '\n', '\r'), body)
    .map(([first, headers, end, rest]) => [first, 'Host: x', ...headers, '', rest].join(end));
}

const shared = fuzzed(t);

t.test('bytes that are no request, or only half of one, do no harm', async (t) => {
  const on = await shared;
  const path = `/v1/connections/${on.ids.connection}/operations`;
  // Without the idempotency key that a submission needs: nothing here may be accepted.
  const one = request('cs_nobody', path);
  const garbage = fc.oneof(
    { weight: 5, arbitrary: one.map((text) => Buffer.from(text, 'latin1')) },
    { weight: 2, arbitrary: fc.tuple(one, one, one).map((texts) => Buffer.from(texts.join(''), 'latin1')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)) },
    // A TLS hello, an HTTP/2 preface.
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('160301020001000', '505249202a20485454502f322e300d0a0d0a534d0d0a0d0a')
        .map((hex) => Buffer.from(hex, 'hex')),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(one, fc.nat(400)).map(([text, cut]) => Buffer.from(text.slice(0, cut), 'latin1')),
    },
  );
  const before = await on.rows();
  let tried = 0;
  const property = fc.asyncProperty(garbage, fc.boolean(), async (bytes, reset) => {
    tried++;
    const said = await on.raw(bytes, QUIET_ms, reset);
    // 505 is the library's answer to another version of HTTP.
    if (/^HTTP\/1\.1 5(?!05)\d\d/m.test(said)) throw new Error(said.slice(0, 500));
    if (tried % 50 !== 0) return;
    const health = await on.send('GET', '/healthz', undefined, {});
    if (health.status !== 200) throw new Error(`healthz answers ${health.status}`);
  });
  const result = await fc.check(property, { seed: SEED, numRuns: RUNS * 2, interruptAfterTimeLimit: 60_000 });
  t.comment(`${tried} inputs, FUZZ_SEED=${SEED}, FUZZ_RUNS=${RUNS}`);
  t.notOk(result.failed, `${result.errorInstance ?? ''} ${String(result.counterexample?.[0] ?? '').slice(0, 1000)}`);
  t.strictSame(await on.rows(), before, 'no row came of it');
  await on.well(t);
});

t.test('a submission that is cut or reset anywhere is stored once or not at all', async (t) => {
  const on = await shared;
  const body = JSON.stringify({ capability: 'social.profile.get', input: { profile_id: 'ada' } });
  const keys = new Set<string>();
  let tried = 0;
  const property = fc.asyncProperty(fc.nat(1000), fc.boolean(), fc.boolean(), async (at, chunked, reset) => {
    tried++;
    const key = createHash('sha1').update(`${SEED} ${tried}`).digest('hex');
    keys.add(key);
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
    const payload = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    const head = [
      `POST /v1/connections/${on.ids.connection}/operations HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${on.service.client.key}`,
      `Idempotency-Key: ${key}`,
      framing,
    ];
    const whole = `${head.join('\r\n')}\r\n\r\n${payload}`;
    // A third are whole, and cut only in what comes back.
    await on.raw(Buffer.from(whole.slice(0, at % 3 === 0 ? whole.length : at % whole.length)), QUIET_ms, reset);
    const again = await on.send('POST', `/v1/connections/${on.ids.connection}/operations`, Buffer.from(body), {
      'idempotency-key': key,
      'content-type': 'application/json',
    });
    if (again.status !== 202 && again.status !== 200) throw new Error(`${again.status} ${again.text}`);
  });
  const result = await fc.check(property, { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: 60_000 });
  t.comment(`${tried} inputs, FUZZ_SEED=${SEED}, FUZZ_RUNS=${RUNS}`);
  t.notOk(result.failed, String(result.errorInstance ?? ''));
  const [stored] = await on.db.query<{ count: number; keys: number }>(
    'testStored',
    'select count(*)::int as count, count(distinct idempotency_key)::int as keys from operation where idempotency_key = any($1)',
    [[...keys]],
  );
  t.strictSame(stored, { count: keys.size, keys: keys.size }, 'one operation a key');
  await on.well(t);
});
