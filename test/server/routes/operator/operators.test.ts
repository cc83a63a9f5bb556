import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { addProxy } from '../../../../storage/connections/proxies.js';
import { OPERATOR, PARTITIONS } from '../../../../storage/model/records.js';
import { claimPartitions, renewLeases } from '../../../../storage/partitions/partitions.js';
import { LIST_START } from '../../../../storage/postgres/list-place.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { createKey, listKeys } from '../../../../storage/workspaces/keys.js';
import { createOperator } from '../../../../storage/workspaces/operators.js';
import { createWorkspace, listWorkspaces } from '../../../../storage/workspaces/workspaces.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { startTestEdge } from '../../edge-fixture.js';
import { insertConnections } from '../../rows.js';

type Test = Parameters<typeof startTestEdge>[0];

/** The edge, and somebody who runs the installation. */
async function operated(t: Test) {
  const edge = await startTestEdge(t);
  const { key } = await createOperator(edge.db, 'Grace', null);
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    edge.call(method, path, { key, headers, ...(body !== undefined && { body }) });
  return { ...edge, operator: key, ask };
}

t.test('an operator pages through all workspaces; a key of one does not see the others', async (t) => {
  const { ask, call, db, workspaceId } = await operated(t);
  const made = [workspaceId];
  for (const name of ['a', 'b', 'c', 'd']) made.push((await createWorkspace(db, name)).id);
  const whole = await ask('GET', '/v1/operator/workspaces');
  const ids = (json: Record<string, unknown>) => (json.workspaces as { id: string }[]).map(({ id }) => id);
  t.strictSame(ids(whole.json), made, 'oldest first');
  t.match(whole.json.workspaces, [{ name: 'test', created_at: /Z$/ }, { name: 'a' }]);
  const pages: string[][] = [];
  for (let cursor = ''; ; ) {
    const { json } = await ask('GET', `/v1/operator/workspaces?limit=2${cursor}`);
    pages.push(ids(json));
    if (json.next_cursor === null) break;
    cursor = `&cursor=${json.next_cursor}`;
  }
  t.strictSame(pages, [made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
  const full = await ask('GET', `/v1/operator/workspaces?limit=${made.length}`);
  t.equal(full.json.next_cursor, null, 'a full page that is the last');
  const refused = await call('GET', '/v1/operator/workspaces');
  t.match([refused.status, refused.json.code], [403, 'forbidden'], `no key of a workspace has ${OPERATOR}`);
  for (const query of ['limit=0', 'cursor=x', 'surprise=1']) {
    t.match((await ask('GET', `/v1/operator/workspaces?${query}`)).json, { code: 'validation_error' }, query);
  }
});

t.test('a page of many workspaces reads no more rows than it has', async (t) => {
  const { db } = await operated(t);
  await db.query(
    'testMany',
    `insert into workspace (id, name) select gen_random_uuid(), 'w' || n from generate_series(1, 5000) n`,
    [],
  );
  await db.query('testAnalyze', 'analyze workspace', []);
  const first = await listWorkspaces(db, LIST_START, 2_000);
  const read = await db.transaction((tx) => rowsRead(tx, 'workspace', () => listWorkspaces(tx, first.at(-1), 10)));
  t.match(read, { scanned: 0, found: 10 });
});

t.test('a key is made, listed without its text, rotated and revoked by an operator alone', async (t) => {
  const { ask, call, db, workspaceId } = await operated(t);
  const other = await createWorkspace(db, 'other');
  const wanted = { workspace_id: other.id, name: 'backend', scopes: ['connections:read', 'connections:write'] };
  t.equal((await call('POST', '/v1/operator/keys', { body: wanted })).status, 403);
  const made = await ask('POST', '/v1/operator/keys', wanted);
  t.match(made, { status: 201, json: { ...wanted, key: /^cs_live_\w{49}$/, expires_at: null } });
  const key = String(made.json.key);
  const own = await call('GET', '/v1/keys', { key });
  t.match(own.json, { keys: [{ id: made.json.id, current: true, revoked_at: null }] });
  const headers = { 'console-workspace': other.id };
  const listed = await ask('GET', '/v1/keys', undefined, headers);
  t.match(listed.json, { keys: [{ id: made.json.id, name: 'backend', current: false }] });
  t.notMatch(listed.text, key, 'its text is nowhere');
  const elsewhere = await ask('GET', '/v1/keys', undefined, { 'console-workspace': workspaceId });
  t.notMatch(elsewhere.text, made.json.id, 'nor is it in another workspace');

  const soon = await ask('POST', '/v1/operator/keys', {
    ...wanted,
    expires_at: new Date(Date.now() + 7 * 86_400_000).toISOString(),
  });
  const successor = await ask('POST', `/v1/operator/keys/${soon.json.id}/rotate`, {});
  t.match(successor.json, { expires_at: soon.json.expires_at }, 'a successor ends when the old key would have');
  const twice = await ask('POST', `/v1/operator/keys/${soon.json.id}/rotate`, {});
  t.strictSame([twice.status, twice.json], [409, { code: 'key_ending' }], 'one that was rotated has no other');
  t.match(await ask('POST', `/v1/operator/keys/${successor.json.id}/rotate`, {}), {
    status: 201,
    json: { expires_at: soon.json.expires_at },
  });

  const rotated = await ask('POST', `/v1/operator/keys/${made.json.id}/rotate`, { overlap_s: 0 });
  t.match(rotated, { status: 201, json: { previous_key_id: made.json.id, name: 'backend', expires_at: null } });
  t.equal((await call('GET', '/v1/keys', { key: String(rotated.json.key) })).status, 200);
  const ended = await ask('POST', `/v1/operator/keys/${made.json.id}/rotate`, {});
  t.equal(ended.status, 404, 'one that has ended has no successor');
  const [revoked, again] = [
    await ask('POST', `/v1/operator/keys/${rotated.json.id}/revoke`),
    await ask('POST', `/v1/operator/keys/${rotated.json.id}/revoke`),
  ];
  t.match(revoked, { status: 200, json: { id: rotated.json.id, revoked_at: /Z$/ } });
  t.strictSame(again.json, revoked.json);
});

t.test('a key that cannot be made is refused with what is wrong', async (t) => {
  const { ask, db, workspaceId } = await operated(t);
  const good = { workspace_id: workspaceId, scopes: ['events:read'] };
  const wrong: [body: object, path: string][] = [
    [{ ...good, workspace_id: '01900000-0000-7000-8000-000000000000' }, 'body.workspace_id'],
    [{ ...good, scopes: [] }, 'body.scopes'],
    [{ ...good, scopes: ['events:read', 'events:read'] }, 'body.scopes'],
    [{ ...good, scopes: [OPERATOR] }, 'body.scopes[0]'],
    [{ ...good, name: ' ' }, 'body.name'],
    [{ ...good, expires_at: '2020-01-01T00:00:00.000Z' }, 'body.expires_at'],
    [{ ...good, expires_at: 'soon' }, 'body.expires_at'],
  ];
  const before = await listKeys(db, workspaceId);
  for (const [body, path] of wrong) {
    const { status, json } = await ask('POST', '/v1/operator/keys', body);
    t.match([status, json.errors], [400, [{ path }]], JSON.stringify(body));
  }
  const { status, json } = await ask('POST', `/v1/operator/keys/${before[0]?.id}/rotate`, { overlap_s: -1 });
  t.match([status, json.errors], [400, [{ path: 'body.overlap_s' }]]);
  t.strictSame(await listKeys(db, workspaceId), before, 'nothing was changed');
});

t.test('a page of the keys of a workspace reads no more rows than it has', async (t) => {
  const { db, workspaceId } = await operated(t);
  await createKey(db, { workspaceId, name: null, scopes: ['events:read'], expiresAt: null });
  await db.query(
    'testMany',
    `insert into api_key (id, workspace_id, key_hash, prefix, scopes)
     select gen_random_uuid(), $1, decode(md5(n::text), 'hex'), 'cs_live_' || n, '{events:read}' from generate_series(1, 5000) n`,
    [workspaceId],
  );
  await db.query('testAnalyze', 'analyze api_key', []);
  const first = await listKeys(db, workspaceId, LIST_START, 2_000);
  const read = await db.transaction((tx) => rowsRead(tx, 'api_key', () => listKeys(tx, workspaceId, first.at(-1), 10)));
  t.match(read, { scanned: 0, found: 10 });
});

t.test('nodes are listed with what they own, and what nobody owns', async (t) => {
  const { ask, call, db } = await operated(t);
  const everything = Array.from({ length: PARTITIONS }, (_, id) => id);
  t.strictSame((await ask('GET', '/v1/operator/nodes')).json, { nodes: [], unowned_partitions: everything });
  const [node, late] = [randomUUID(), randomUUID()];
  await renewLeases(db, node, 60_000);
  await renewLeases(db, late, 60_000);
  const claimed = await db.transaction((tx) => claimPartitions(tx, node, 2, 60_000));
  await db.query('testLate', `update node set heartbeat_at = now() - interval '6 seconds' where id = $1`, [late]);
  const { status, json } = await ask('GET', '/v1/operator/nodes');
  t.equal(status, 200);
  const own = claimed.map(({ id, epoch }) => ({ id, epoch })).sort((a, b) => a.id - b.id);
  t.match(json.nodes, [
    { id: node, state: 'alive', partitions: own },
    { id: late, state: 'late', partitions: [] },
  ]);
  const held = new Set(own.map(({ id }) => id));
  t.strictSame(
    json.unowned_partitions,
    everything.filter((id) => !held.has(id)),
  );
  t.equal((await call('GET', '/v1/operator/nodes')).status, 403);
});

t.test('proxies are listed without their credentials', async (t) => {
  const { ask, call, db, workspaceId } = await operated(t);
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  await addProxy(db, ring, { region: 'us', url: 'http://proxy.test:8080' });
  const { id } = await addProxy(db, ring, {
    ...{ region: 'de', url: 'http://proxy.test:8081', username: 'grace', password: 'hopper' },
  });
  await insertConnections(db, workspaceId, 7);
  await db.query('testMoveProxy', 'update connection set proxy_id = $1', [id]);
  const { text, json } = await ask('GET', '/v1/operator/proxies');
  t.match(json.proxies, [
    {
      region: 'DE',
      url: 'http://proxy.test:8081',
      has_credentials: true,
      active: true,
      connections: 7,
      created_at: /Z$/,
    },
    { region: 'US', has_credentials: false, connections: 0 },
  ]);
  t.notMatch(text, /grace|hopper|sealed/);
  t.equal((await call('GET', '/v1/operator/proxies')).status, 403);
});
