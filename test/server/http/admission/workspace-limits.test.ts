import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { startEdge } from '../../../../server/edge.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { clearOwnLimit, setOwnLimit } from '../../../../storage/workspaces/limits.js';
import { createOperator } from '../../../../storage/workspaces/operators.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { serviceFixture, startService } from '../../../fixture/service.js';
import { longTest } from '../../../fixture/size.js';
import { insertKey, startTestEdge, subscriptionRules } from '../../edge-fixture.js';

const person = () => ({ provider: 'simulated', external_actor: { kind: 'person', id: randomUUID() } });

t.test('a limited request says so in its headers, and what is refused is 429', async (t) => {
  const edge = await startTestEdge(t, { limits: { requests_per_second: 30, submissions_per_second: 3 } });
  const { call, db, workspaceId } = edge;
  const first = await call('GET', '/v1/connections');
  t.match(first, {
    status: 200,
    headers: { 'ratelimit-policy': '"requests";q=30;w=1', ratelimit: /^"requests";r=\d+;t=1$/ },
  });
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const submit = () =>
    call('POST', `/v1/connections/${id}/operations`, {
      body: { capability: 'social.health.check', input: {} },
      headers: { 'idempotency-key': randomUUID() },
    });
  const submitted = await Promise.all(Array.from({ length: 10 }, submit));
  t.match(
    submitted.find(({ status }) => status === 202),
    {
      headers: { 'ratelimit-policy': '"requests";q=30;w=1, "submissions";q=3;w=1' },
    },
  );
  const refused = submitted.filter(({ status }) => status === 429);
  t.ok(refused.length >= 4, `${refused.length} submissions are refused`);
  t.match(refused[0], {
    json: { code: 'rate_limited', message: 'too many submissions of the workspace' },
    headers: { 'retry-after': '1', ratelimit: /"submissions";r=0;t=1$/ },
  });
  const answers = await Promise.all(Array.from({ length: 200 }, () => call('GET', '/v1/connections')));
  t.match(
    answers.find(({ status }) => status === 429),
    { json: { message: 'too many requests of the workspace' } },
  );
  const { key } = await createOperator(db, 'Grace', null);
  const looks = Array.from({ length: 60 }, () =>
    call('GET', '/v1/limits', { key, headers: { 'console-workspace': workspaceId } }),
  );
  for (const { status, headers, json } of await Promise.all(looks)) {
    t.strictSame([status, headers.ratelimit], [200, undefined], 'an operator is not counted');
    t.match(json, { requests_per_second: { limit: 30 }, submissions_per_second: { limit: 3 }, connections: null });
  }
  const other = await insertKey(db, await insertWorkspace(db));
  t.equal((await call('GET', '/v1/connections', { key: other })).status, 200, 'nor is another workspace');
});

t.test('connections are bounded over two nodes, exactly, and a limit of its own takes effect', async (t) => {
  const edge = await startTestEdge(t, { limits: { connections: 12 } });
  const { db, system, workspaceId, call } = edge;
  const other = await startEdge({
    ...{ host: '127.0.0.1', port: 0, db, system, log: system.log, subscriptions: subscriptionRules() },
    limits: { connections: 12 },
    ring: keyRing([{ id: 'k1', key: randomBytes(32) }]),
    callbackPolicy: { allowedNetworks: ['127.0.0.0/8'] },
  });
  t.teardown(() => other.close());
  const elsewhere = async () => {
    const answer = await fetch(`http://127.0.0.1:${other.port}/v1/connections`, {
      method: 'POST',
      headers: { authorization: `Bearer ${edge.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(person()),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const create = () => call('POST', '/v1/connections', { body: person() });
  const made = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? create() : elsewhere())));
  t.equal(made.filter(({ status }) => status === 201).length, 12);
  for (const { status, text } of made)
    if (status !== 201) t.strictSame([status, text], [409, '{"code":"too_many_connections"}']);
  t.match((await call('GET', '/v1/limits')).json, { connections: { limit: 12, used: 12 }, requests_per_second: null });

  await setOwnLimit(db, { workspace_id: workspaceId, name: 'connections', value: 14 });
  const limit = async () => ((await call('GET', '/v1/limits')).json.connections as unknown as { limit: number }).limit;
  await eventually('the limit of its own is known', limit, (known) => known === 14);
  const more = await Promise.all(Array.from({ length: 10 }, create));
  t.equal(more.filter(({ status }) => status === 201).length, 2);
  await setOwnLimit(db, { workspace_id: workspaceId, name: 'subscriptions', value: 1 });
  await clearOwnLimit(db, { workspace_id: workspaceId, name: 'connections' });
  await eventually('the usual one counts again', limit, (known) => known === 12);
  const [{ id } = { id: '' }] = (await call('GET', '/v1/connections')).json.connections;
  const subscribe = () =>
    call('POST', `/v1/connections/${id}/subscriptions`, {
      body: { event_types: ['message_sent'], callback_url: 'https://127.0.0.1/hook' },
    });
  t.strictSame([(await subscribe()).status, (await subscribe()).status], [201, 409], 'of subscriptions too');
});

/** Asks again and again, and tells how many were answered. */
function asking(t: Test, url: string, key: string) {
  let answered = 0;
  let asks = true;
  const one = async () => {
    while (asks) {
      const status = await fetch(`${url}/v1/connections`, { headers: { authorization: `Bearer ${key}` } }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        },
        () => 0,
      );
      if (status === 200) answered++;
      await new Promise((resolve) => setTimeout(resolve, status === 200 ? 5 : 20));
    }
  };
  const work = Promise.all(Array.from({ length: 8 }, one));
  const stop = async () => {
    asks = false;
    await work;
  };
  t.teardown(stop);
  return { stop, answered: () => answered };
}

longTest(t, 'two services share a rate; when one is killed the other has all of it', async (t) => {
  const fixture = await serviceFixture(t, { WORKSPACE_REQUESTS_PER_SECOND: '40', BROWSER_PATH: '/bin/false' });
  const [one, other] = await Promise.all([startService(t, fixture), startService(t, fixture)]);
  const loads = [asking(t, one.url, fixture.key), asking(t, other.url, fixture.key)];
  const shares = async () =>
    (
      await fixture.db.query<{ share: number; noted_at: Date }>(
        'testShares',
        'select share, noted_at from workspace_rate order by noted_at',
      )
    ).map(({ share }) => share);
  await eventually(
    'both have a part',
    shares,
    (all) => all.length === 2 && all.every((share) => share > 0.2 && share < 0.8),
  );
  let dealt = 0;
  const before = loads.reduce((sum, { answered }) => sum + answered(), 0);
  await eventually(
    'a hundred more are answered',
    async () => {
      dealt = Math.max(
        dealt,
        (await shares()).reduce((sum, share) => sum + share, 0),
      );
      return loads.reduce((sum, { answered }) => sum + answered(), 0) - before;
    },
    (more) => more >= 100,
  );
  t.ok(dealt < 1.001, `their shares came to ${dealt} of the rate`);
  await one.kill();
  await eventually('the other has all', shares, (all) => (all.at(-1) ?? 0) > 0.95);
  await Promise.all(loads.map(({ stop }) => stop()));
});
