import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { startEdge } from '../../../../server/edge.js';
import { LIMITS } from '../../../../storage/limits.js';
import { measureStored, noteStored } from '../../../../storage/maintenance/stored.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';
import { setOwnLimit } from '../../../../storage/workspaces/limits.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { insertKey, startTestEdge, subscriptionRules } from '../../edge-fixture.js';
import { insertOperations } from '../../rows.js';

const MIB = 2 ** 20;

t.test('a workspace that stores as much as it may submits nothing more, until something is erased', async (t) => {
  const edge = await startTestEdge(t, { limits: { stored_mib: 2 } });
  const { call, db, workspaceId } = edge;
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const submit = (idempotencyKey: string, key = edge.key, connectionId = id) =>
    call('POST', `/v1/connections/${connectionId}/operations`, {
      body: { capability: 'social.health.check', input: {} },
      headers: { 'idempotency-key': idempotencyKey },
      key,
    });
  t.equal((await submit('first')).status, 202);
  await noteStored(db, new Map([[workspaceId, 3 * MIB]]));
  const used = async () => ((await call('GET', '/v1/limits')).json.stored_mib as unknown as { used: number }).used;
  await eventually('it is known', used, (mib) => mib >= 3);
  const refused = await submit('second');
  t.strictSame([refused.status, refused.text], [409, '{"code":"storage_full"}']);
  const repeated = await submit('first');
  t.strictSame([repeated.status, repeated.headers['idempotency-replayed']], [200, 'true'], 'it learns what is stored');
  t.equal((await call('GET', '/v1/operations')).json.operations.length, 1, 'nothing was stored');

  const stranger = await insertWorkspace(db);
  const other = await insertSimulated(db, stranger, 'bob');
  t.equal((await submit('first', await insertKey(db, stranger), other.id)).status, 202, 'another workspace goes on');
  await setOwnLimit(db, { workspace_id: workspaceId, name: 'stored_mib', value: 9 });
  await eventually(
    'a limit of its own counts',
    () => submit(randomUUID()),
    ({ status }) => status === 202,
  );
  await db.query('testClear', 'delete from workspace_limit', []);
  await eventually(
    'the usual one counts again',
    () => submit(randomUUID()),
    ({ status }) => status === 409,
  );
  await db.query('testDue', 'update stored_turn set due_at = now()');
  while (await measureStored(db, 2 * 2 ** 20));
  await eventually(
    'what was measured counts',
    () => submit(randomUUID()),
    ({ status }) => status === 202,
  );
});

t.test('the older route for invitations counts and is bounded as submissions are', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t, { limits: { stored_mib: 2 } });
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const invite = () =>
    call('POST', `/v1/accounts/${id}/linkedin/invite`, {
      body: `{"hash_id":"ACoAAGrace1"${' '.repeat(60_000)}}`,
      headers: { prefer: 'respond-async', 'content-type': 'application/json' },
    });
  for (let n = 0; n < 4; n++) t.equal((await invite()).status, 202);
  const used = async () => ((await call('GET', '/v1/limits')).json.stored_mib as unknown as { used: number }).used;
  await eventually('they are counted', used, (mib) => mib >= 0.2);
  await noteStored(db, new Map([[workspaceId, 3 * MIB]]));
  await eventually('it is known', used, (mib) => mib >= 3);
  const refused = await invite();
  t.match([refused.status, refused.json], [409, { error: { code: 'storage_full' } }]);
});

t.test('what a reader and changes leave in the audit log counts, though nothing is submitted', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t, { limits: { stored_mib: 2 } });
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await insertOperations(db, id, 1);
  const [operation] = await db.query<{ id: string }>('testOperation', 'select id from operation');
  const noted = () =>
    db.query<{ noted: number }>('testNoted', 'select noted from workspace_stored where workspace_id = $1', [
      workspaceId,
    ]);
  const counted = (entries: number) =>
    eventually('so many are noted', noted, ([row]) => row?.noted === entries * LIMITS.audit_entry_bytes);
  for (let n = 0; n < 3; n++) t.equal((await call('GET', `/v1/operations/${operation!.id}/input`)).status, 200);
  await counted(1);
  t.equal((await call('POST', `/v1/connections/${id}/disconnect`)).status, 200);
  await counted(2);
  await db.query('testDue', 'update stored_turn set due_at = now()');
  while (await measureStored(db, 2 * MIB));
  const [row] = await db.query<{ noted: number; bytes: number; entries: number }>(
    'testMeasured',
    `select noted, bytes, (select count(*)::int from audit.entry) as entries from workspace_stored where workspace_id = $1`,
    [workspaceId],
  );
  t.match(row, { noted: 0, entries: 2 });
  t.ok(row!.bytes > 2 * 80, 'measured with the rest');
});

t.test('what every node accepts counts at all of them', async (t) => {
  const limits = { stored_mib: 100 };
  const edge = await startTestEdge(t, { limits });
  const { call, db, system, workspaceId } = edge;
  const other = await startEdge({
    ...{ host: '127.0.0.1', port: 0, db, system, log: system.log, subscriptions: subscriptionRules(), limits },
    ring: keyRing([{ id: 'k1', key: randomBytes(32) }]),
    callbackPolicy: { allowedNetworks: ['127.0.0.0/8'] },
  });
  t.teardown(() => other.close());
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const input = { recipient_actor_id: 'bob', body: 'x'.repeat(1_900) };
  const submit = async (url: string) => {
    const answer = await fetch(`${url}/v1/connections/${id}/operations`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${edge.key}`, 'content-type': 'application/json' },
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ capability: 'social.message.send', input }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let n = 0; n < 80; n++) {
    const both = await Promise.all([submit(edge.url), submit(`http://127.0.0.1:${other.port}`)]);
    t.strictSame(both, [202, 202]);
  }
  const used = async () => ((await call('GET', '/v1/limits')).json.stored_mib as unknown as { used: number }).used;
  await eventually('both are counted', used, (mib) => mib === 0.3);
});
