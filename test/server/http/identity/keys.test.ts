import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { KeyLookups } from '../../../../server/http/identity/key-lookups.js';
import { keyFinder } from '../../../../server/http/identity/keys.js';
import { LIMITS } from '../../../../server/http/limits.js';
import { parsePrefer } from '../../../../server/http/prefer.js';
import { rateLimit } from '../../../../server/http/rate-limit.js';
import { openDatabase } from '../../../../storage/postgres/database.js';
import { newKeyText } from '../../../../storage/workspaces/key-format.js';
import type { UsableKey } from '../../../../storage/workspaces/keys.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertKey, startTestEdge } from '../../edge-fixture.js';

t.test('a revoked key stops working, though keys are cached', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  const key = await insertKey(db, workspaceId);
  t.equal((await call('GET', '/v1/connections', { key })).status, 200);
  await db.query('revoke', 'update api_key set revoked_at = now() where key_hash = sha256($1)', [Buffer.from(key)]);
  const answers = async () => (await call('GET', '/v1/connections', { key })).status;
  await eventually('it is refused', answers, (status) => status === 401);
  t.ok(LIMITS.key_cache_ms < 2_000, 'after less time than the contract gives it');
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

const usable: UsableKey = {
  kind: 'key',
  id: 'k',
  name: null,
  workspace_id: 'w',
  scopes: [],
  networks: null,
  expires_at: null,
  limits: null,
};

/** A loader that knows one key, and counts what it is asked for. */
function oneKey(hash: string) {
  const key = usable;
  const asked: string[] = [];
  return {
    key,
    asked,
    load: async (one: string) => {
      asked.push(one);
      return one === hash ? key : undefined;
    },
  };
}

t.test(
  'a flood of wrong keys is looked up so often a second, and a right one is found when it comes again',
  async (t) => {
    let now = 0;
    const { load, asked, key } = oneKey('right');
    const { find } = keyFinder(load, new KeyLookups(() => now));
    const from = (address: string) => () => address;
    for (let n = 0; n < 12_000; n++) {
      now += 1 / 12;
      await find(`wrong ${n}`, from('10.0.0.1')).catch(() => {});
    }
    t.ok(asked.length <= LIMITS.failed_keys_address_per_s * 2 + 1, `${asked.length} look-ups`);
    await t.rejects(find('right', from('10.0.0.1')), { code: 'rate_limited', headers: { 'Retry-After': /^\d+$/ } });
    t.equal(await find('right', from('10.0.0.1')), key);
    for (let n = 0; n < 1_000; n++) t.equal(await find('right', from('10.0.0.1')), key, 'known ones are never refused');
    t.equal(await find('wrong', from('10.0.0.2')), undefined, 'another address is not concerned');
  },
);

t.test('a flood from many addresses is bounded over all, and lets an address through that did not fail', async (t) => {
  const { load, asked, key } = oneKey('right');
  const { find } = keyFinder(load, new KeyLookups(() => 0));
  for (let n = 0; n < 20_000; n++) await find(`wrong ${n}`, () => `10.0.0.${n % 100}`).catch(() => {});
  t.ok(asked.length <= LIMITS.failed_keys_per_s + 100, `${asked.length} look-ups`);
  t.equal(await find('right', () => '10.1.0.1'), key);
  const count = asked.length;
  for (let n = 0; n < 10_000; n++) {
    const group = n.toString(16).padStart(4, '0');
    await find(`six ${n}`, () => `2001:0db8:0000:0001:0000:0000:0000:${group}`).catch(() => {});
  }
  t.ok(asked.length - count <= LIMITS.repeated_keys_per_s, 'a network of IPv6 is one address');
});

t.test('a right key is looked up again whatever floods its address, until it is wrong', async (t) => {
  const { load, asked, key } = oneKey('right');
  const revoked = new Set<string>();
  const { find } = keyFinder(async (hash) => (revoked.has(hash) ? undefined : load(hash)), new KeyLookups(() => 0));
  const here = () => '10.0.0.1';
  t.equal(await find('right', here), key);
  for (let n = 0; n < 5_000; n++) await find(`wrong ${n}`, here).catch(() => {});
  await eventually(
    'it is looked up again',
    async () => {
      t.equal(await find('right', here), key);
      return asked.filter((hash) => hash === 'right').length;
    },
    (count) => count >= 3,
  );
  revoked.add('right');
  await eventually(
    'it is known to be wrong',
    () => find('right', here).catch((error: { code: string }) => error.code),
    (found) => found === undefined || found === 'rate_limited',
  );
});

t.test('many right keys from one address are all found', async (t) => {
  const key = usable;
  const { find } = keyFinder(async () => key, new KeyLookups(() => 0));
  for (let n = 0; n < 5_000; n++) t.equal(await find(`right ${n}`, () => '10.0.0.1'), key);
});

t.test('during a flood of wrong keys from its own address a new key is accepted at the second try', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  let flooding = true;
  let refused = 0;
  const flood = Array.from({ length: 16 }, async () => {
    while (flooding) {
      const { status } = await call('GET', '/v1/connections', { key: newKeyText('key') });
      if (status === 429) refused++;
    }
  });
  await eventually(
    'the flood is refused',
    () => refused,
    (count) => count > 100,
  );
  const key = await insertKey(db, workspaceId);
  let tries = 1;
  let answer = await call('GET', '/v1/connections', { key });
  for (; answer.status === 429; answer = await call('GET', '/v1/connections', { key })) {
    await delay(Number(answer.headers['retry-after']) * 1000);
    tries++;
  }
  flooding = false;
  await Promise.all(flood);
  t.equal(answer.status, 200);
  t.ok(tries <= 2, `${tries} tries`);
});
