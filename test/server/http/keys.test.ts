import t from 'tap';
import { parsePrefer } from '../../../server/http/prefer.js';
import { rateLimit } from '../../../server/http/rate-limit.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { insertKey, startTestEdge } from '../edge-fixture.js';

t.test('a revoked key stops working within two seconds, though keys are cached', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  const key = await insertKey(db, workspaceId);
  t.equal((await call('GET', '/v1/connections', { key })).status, 200);
  await db.query('revoke', 'update api_key set revoked_at = now() where key_hash = sha256($1)', [Buffer.from(key)]);
  const revokedAt = performance.now();
  // What counts is when the last accepted request was sent, not how long this machine took to answer.
  for (let sentAt = revokedAt; ; sentAt = performance.now()) {
    const { status } = await call('GET', '/v1/connections', { key });
    if (status === 401) break;
    if (sentAt - revokedAt > 2_000) return t.fail('the key still works');
  }
  t.pass('it is refused');
});

t.test('the use of a key is noted, at the latest when the edge closes', async (t) => {
  const { call, db, edge } = await startTestEdge(t);
  await call('GET', '/v1/connections');
  await edge.close();
  const [row] = await db.query<{ used: boolean }>(
    'used',
    `select last_used_at > now() - interval '1 minute' as used from api_key`,
  );
  t.equal(row?.used, true);
});

t.test('a database that cannot be reached is answered as unavailable, to be tried again', async (t) => {
  const nowhere = openDatabase({ url: 'postgres://x@127.0.0.1:1/x', maxConnections: 1, applicationName: 'test' });
  t.teardown(() => nowhere.close());
  const { call } = await startTestEdge(t, { db: nowhere });
  t.strictSame((await call('GET', '/healthz')).json, { status: 'unavailable' });
  const reply = await call('GET', '/v1/connections');
  t.equal(reply.status, 503);
  t.equal(reply.json.code, 'unavailable');
  t.equal(reply.headers['retry-after'], '1');
});

t.test('an unexpected failure is answered with its request id and nothing else', async (t) => {
  const { call, db } = await startTestEdge(t);
  await db.query('breakIt', 'alter table connection rename column health to wealth');
  const reply = await call('GET', '/v1/connections', { headers: { 'x-request-id': 'r-1' } });
  t.equal(reply.status, 500);
  t.strictSame(reply.json, { code: 'internal_error', message: 'unexpected failure, request r-1' });
});

t.test('a bucket holds a second of requests and fills as time goes by', async (t) => {
  let now = 0;
  const take = rateLimit(5, () => now);
  for (let n = 0; n < 5; n++) take('a');
  t.throws(() => take('a'), { code: 'rate_limited', headers: { 'Retry-After': '1' } });
  take('b');
  now += 400;
  take('a');
  take('a');
  t.throws(() => take('a'));
  now += 60_000;
  for (let n = 0; n < 5; n++) take('a');
  t.throws(() => take('a'), 'no more than a second of requests is saved up');
  const slow = rateLimit(0.1, () => now);
  slow('a');
  t.throws(() => slow('a'), { code: 'rate_limited', headers: { 'Retry-After': '10' } });
});

t.test('preferences are read as the header is written; what is not understood is left out', async (t) => {
  const none = { respondAsync: false, dryRun: false, wait_s: null };
  t.strictSame(parsePrefer(''), none);
  t.strictSame(parsePrefer('respond-async, wait=10'), { ...none, respondAsync: true, wait_s: 10 });
  t.strictSame(parsePrefer(' Dry-Run ; x=1'), { ...none, dryRun: true });
  t.strictSame(parsePrefer('wait="5"'), { ...none, wait_s: 5 });
  t.strictSame(parsePrefer('wait=100'), { ...none, wait_s: 30 });
  t.strictSame(parsePrefer('wait=-1, wait=soon, return=minimal'), none);
});
