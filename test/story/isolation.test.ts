import t from 'tap';
import { OPERATOR, SCOPES } from '../../storage/model/records.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createWorkspace } from '../../storage/workspaces/workspaces.js';
import { ROUTES } from '../conformance/route-table.js';
import { allTold } from '../fixture/announcements.js';
import { Client } from '../fixture/client.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { insertDeliveries } from '../server/rows.js';

/**
 * Workspaces (contract: "Authentication" 4): what is in one is as absent from another as what never was, on every route, by
 * every id, in every error, and nothing that the other does changes it.
 */

const BODIES: Record<string, unknown> = {
  'PATCH /v1/connections/{ada}': { password: 'other' },
  'POST /v1/connections/{ada}/operations': { capability: 'social.identity.get', input: {} },
  'POST /v1/operations/{operation}/challenge': { challenge_id: '{challenge}', code: '000000' },
  'POST /v1/accounts/{ada}/linkedin/invite': { hash_id: 'someone' },
  'POST /v1/connections/{ada}/subscriptions': { event_types: ['message_sent'], callback_url: 'https://127.0.0.1/' },
  'PATCH /v1/subscriptions/{subscription}': { active: true },
  'POST /v1/connections/{ada}/simulated-events': { type: 'message_sent', data: {} },
  'POST /v1/subscriptions/{subscription}/replay-failed': { since: '2020-01-01T00:00:00Z' },
};
const NOBODY = '01900000-0000-7000-8000-000000000000';

t.test('nothing of one workspace shows in another, whatever it asks for', async (t) => {
  const fixture = await serviceFixture(t, { ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false' });
  const { client: owner, url } = await startService(t, fixture);
  const strangers = await createWorkspace(fixture.db, 'strangers');
  const created = await createKey(fixture.db, {
    workspaceId: strangers.id,
    name: 'x',
    scopes: SCOPES,
    expiresAt: null,
  });
  const stranger = new Client(url, created?.key ?? '');

  const actor = 'ada-of-the-owner sim-challenge-email';
  const ada = await owner.connect({ provider: 'simulated', external_actor: { kind: 'person', id: actor } });
  const sue = { provider: 'social', username: 'sue-of-the-owner', password: 'sandbox', region: 'US' };
  await owner.connect(sue);
  const waiting = await owner.settled((await owner.submit(ada, 'social.login', {}, 'owners-key')).body.id);
  const [row] = await fixture.db.query<{ id: string }>(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), workspace_id, id, partition, '{message_sent}', 'https://198.51.100.1/', false, '\\x00'
     from connection where id = $1 returning id`,
    [ada],
  );
  const stored = await insertDeliveries(fixture.db, row?.id ?? '', ['failed']);
  const names: Record<string, string> = {
    ada,
    operation: waiting.id,
    challenge: waiting.challenge?.id ?? '',
    subscription: row?.id ?? '',
    event: stored.events[0] ?? '',
    failed: stored.deliveries[0] ?? '',
  };
  const secrets = [...Object.values(names), 'of-the-owner', 'owners-key', '198.51.100.1'];
  const fill = (text: string, from = names) => text.replace(/\{(\w+)\}/g, (_, name: string) => from[name] ?? NOBODY);
  const snapshot = () =>
    fixture.db.query<{ digest: string }>(
      'testSnapshot',
      `select md5(string_agg(t::text, '' order by t::text)) as digest from (
         select c::text from connection c where workspace_id = $1 union all select o::text from operation o where workspace_id = $1
         union all select s::text from subscription s where workspace_id = $1 union all select e::text from event e where workspace_id = $1
         union all select d::text from delivery d where workspace_id = $1) t`,
      [fixture.workspaceId],
    );
  await allTold(fixture.db);
  const before = await snapshot();

  for (const [send, scopes] of ROUTES) {
    const [method, path] = send.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
    if (!path.includes('{') || scopes.includes(OPERATOR)) continue;
    const body = BODIES[send];
    const ask = (from: Record<string, string>) =>
      stranger.send(method, fill(path, from), body && JSON.parse(fill(JSON.stringify(body), from)), {
        'Idempotency-Key': 'strangers-key',
      });
    const theirs = await ask(names);
    const nobodys = await ask({});
    t.strictSame([theirs.status, theirs.body], [404, nobodys.body], `${send} is as absent as what never was`);
  }
  for (const path of [
    '/v1/connections',
    '/v1/operations',
    `/v1/operations?connection_id=${ada}`,
    '/v1/operations?status=waiting_user',
  ]) {
    const { status, body } = await stranger.send('GET', path);
    t.equal(status, 200, path);
    for (const secret of secrets) t.notMatch(JSON.stringify(body), secret, `${path} lists nothing of it`);
  }
  const listed = await owner.send('GET', '/v1/operations?limit=1');
  t.match(listed.body, { operations: [{ id: waiting.id }] }, 'while its owner sees it');
  const cursor = Buffer.from(NOBODY.replaceAll('-', '').replace(/^0/, 'f'), 'hex').toString('base64url');
  const paged = await stranger.send('GET', `/v1/operations?cursor=${cursor}`);
  t.strictSame(paged.body, { operations: [], next_cursor: null }, 'a cursor leads nowhere else');
  const byName = await stranger.send('POST', '/v1/accounts/sue-of-the-owner/linkedin/invite', { hash_id: 'a' });
  t.match(byName, { status: 404, body: { error: { code: 'not_found' } } }, 'nor does a username');
  t.strictSame(await snapshot(), before, 'and nothing of it was changed');

  // The names of one workspace are free in the other.
  const twin = await stranger.connect({ provider: 'simulated', external_actor: { kind: 'person', id: actor } });
  t.equal((await stranger.send('POST', '/v1/connections', sue)).status, 201, 'no conflict over a username');
  const sameKey = await stranger.submit(twin, 'social.identity.get', {}, 'owners-key');
  t.equal(sameKey.status, 202, 'a key of another workspace is a new key');
  const message = { recipient_actor_id: 'peer-of-the-owner', body: 'Hello' };
  const peer = await owner.connect({
    provider: 'simulated',
    external_actor: { kind: 'person', id: 'peer-of-the-owner' },
  });
  t.match(await stranger.run(twin, 'social.message.send', message), { status: 'succeeded' });
  const { body } = await owner.send('GET', `/v1/connections/${peer}/events`);
  t.strictSame(body.events, [], 'a simulated message does not cross into another workspace');
});
