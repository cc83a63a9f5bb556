import t from 'tap';
import { LargeBodies } from '../../../../server/http/admission/large-bodies.js';
import { AdmittedRequest } from '../../../../server/http/admission/request.js';
import type { WorkspaceShare } from '../../../../server/http/admission/workspace-requests.js';
import { parseJson } from '../../../../server/http/body.js';
import { LIMITS } from '../../../../server/http/limits.js';
import { RequestContext } from '../../../../server/http/request-context.js';
import type { Services } from '../../../../server/http/route.js';
import type { HttpExchange } from '../../../../server/http/wire/exchange.js';

const parked = <T>(wait: Promise<T>) => wait;

t.test('the event loop turns between the work on one large body and the next', async (t) => {
  const bodies = new LargeBodies();
  let turns = 0;
  const count = () => {
    turns++;
    if (begun.length < 8) setImmediate(count);
  };
  const begun: number[] = [];
  setImmediate(count);
  const inTurn = async (bytes: number) => {
    const release = await bodies.turn('workspace', bytes, parked);
    begun.push(turns);
    release?.();
  };
  await Promise.all(Array.from({ length: 8 }, () => inTurn(LIMITS.body_bytes + 1)));
  t.equal(begun.length, 8);
  t.ok(new Set(begun).size >= 8 / LIMITS.large_bodies, `begun at the turns ${begun}`);
  await inTurn(10);
  t.equal(begun.length, 9, 'a small one waits for nothing');
});

t.test('a large body gives its turn back when it was handled, before its answer is sent', async (t) => {
  const exchange = { path: '/', method: 'POST', headers: {} } as unknown as HttpExchange;
  const parts = { services: {} as Services, address: () => '' };
  const request = new AdmittedRequest(exchange, undefined, new RequestContext('id'), parts);
  const given: string[] = [];
  request.releaseTurn = () => void given.push('turn');
  request.share = { end: () => given.push('share') } as unknown as WorkspaceShare;
  request.handled();
  t.strictSame(given, ['turn']);
  request.end();
  t.strictSame(given, ['turn', 'share'], 'each once');
});

t.test('a large body of very many values is refused before it is parsed, a long text of commas is not', async (t) => {
  const crowded = Buffer.from(JSON.stringify({ input: Array.from({ length: 50_000 }, (_, n) => n) }));
  t.throws(() => parseJson(crowded), {
    code: 'validation_error',
    errors: [{ path: 'body', expected: /20000 values/ }],
  });
  const small = JSON.stringify({ data: Array.from({ length: 30_000 }, () => 1) });
  t.ok(small.length < LIMITS.body_bytes);
  t.ok(parseJson(Buffer.from(small)));
  t.ok(parseJson(Buffer.from(JSON.stringify({ text: 'a'.repeat(1_500_000), note: ','.repeat(16_000) }))));
});

t.test('a body is as deep as it may be, and no deeper, whatever stands in its texts', (t) => {
  const nested = (depth: number, inner: string) =>
    Buffer.from(`{"a":${'['.repeat(depth - 1)}${inner}${']'.repeat(depth - 1)}}`);
  const brackets = JSON.stringify('[{\\"'.repeat(500));
  for (const inner of ['1', brackets, '"\\\\"', '"\\u005b"']) t.ok(parseJson(nested(LIMITS.body_depth, inner)), inner);
  t.ok(
    parseJson(Buffer.from(JSON.stringify({ list: Array.from({ length: 1_000 }, () => [{}]) }))),
    'many, one in another',
  );
  for (const inner of ['1', brackets, '"\\\\"'])
    t.throws(() => parseJson(nested(LIMITS.body_depth + 1, inner)), {
      code: 'validation_error',
      errors: [{ path: 'body', expected: 'values nested at most 64 deep' }],
    });
  const deepest = nested(1_000_000, '"\\u0000"');
  t.throws(() => parseJson(deepest), { code: 'validation_error', errors: [{ path: 'body' }] });
  const long = 'k'.repeat(60_000);
  const path = `body.${long}`.slice(0, 300);
  t.throws(() => parseJson(Buffer.from(JSON.stringify({ [long]: '\u0000' }))), { errors: [{ path: `${path}…` }] });
  t.end();
});
