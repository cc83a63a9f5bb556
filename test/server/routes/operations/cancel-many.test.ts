import { mock } from 'node:test';
import t from 'tap';
import { LIMITS as HTTP_LIMITS } from '../../../../server/http/limits.js';
import { sliceCursor } from '../../../../server/routes/paging.js';
import { LIMITS } from '../../../../storage/limits.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { type EdgeUnderTest, type Fields, insertKey, startTestEdge } from '../../edge-fixture.js';
import { insertOperations, putOperation } from '../../rows.js';

const submitter = (edge: EdgeUnderTest) => async (connectionId: string, key: string, capability?: string) => {
  const body = capability
    ? { capability, input: { recipient_actor_id: 'bob', body: 'Hello' } }
    : { capability: 'social.profile.get', input: { profile_id: 'bob' } };
  const headers = { 'idempotency-key': key };
  const { json } = await edge.call('POST', `/v1/connections/${connectionId}/operations`, { body, headers });
  return String(json.id);
};

const statuses = async ({ db }: EdgeUnderTest, ids: string[]) => {
  const rows = await db.query<{ id: string; status: string }>(
    'testStatuses',
    'select id, status from operation where id = any($1::uuid[])',
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.status);
};

t.test('what has not begun and fits is canceled, and nothing else', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  const submit = submitter(edge);
  const [{ id: ada }, { id: bob }] = [
    await insertSimulated(db, workspaceId, 'ada'),
    await insertSimulated(db, workspaceId, 'bob'),
  ];
  await call('PUT', `/v1/connections/${bob}/reference`, { body: { reference: 'customer-4711' } });
  const ids = [
    await submit(ada, 'running'),
    await submit(ada, 'read'),
    await submit(ada, 'write', 'social.message.send'),
    await submit(bob, 'of-bob'),
  ];
  await putOperation(db, ids[0]!, 'running');
  const cancel = async (body: object) => (await call('POST', '/v1/operations/cancel', { body })).json;
  t.strictSame(await cancel({ connection_id: ada, created_before: '2020-01-01T00:00:00Z' }), {
    canceled: 0,
    next_cursor: null,
  });
  t.strictSame(await cancel({ connection_id: ada, capability: 'social.message.send' }), {
    canceled: 1,
    next_cursor: null,
  });
  t.strictSame(await statuses(edge, ids), ['running', 'queued', 'canceled', 'queued']);
  t.strictSame(await cancel({ reference: 'customer-4711' }), { canceled: 1, next_cursor: null });
  t.strictSame(await statuses(edge, ids), ['running', 'queued', 'canceled', 'canceled']);
  t.strictSame(await cancel({ created_after: '2020-01-01T00:00:00Z' }), { canceled: 1, next_cursor: null });
  t.strictSame(await statuses(edge, ids), ['running', 'canceled', 'canceled', 'canceled']);
  const { json } = await call('GET', `/v1/operations/${ids[1]}`);
  t.match(json, { cancel_requested: true, timeline: [{}, { to: 'canceled', reason: 'cancel_requested' }] });
});

t.test('another workspace’s operations are not seen, and a filter is asked for', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const own = await submitter(edge)(id, 'own');
  const key = await insertKey(db, await insertWorkspace(db));
  for (const body of [{ connection_id: id }, { created_after: '2020-01-01T00:00:00Z' }]) {
    const { json } = await call('POST', '/v1/operations/cancel', { body, key });
    t.strictSame(json, { canceled: 0, next_cursor: null });
  }
  t.strictSame(await statuses(edge, [own]), ['queued']);
  for (const [body, path] of [
    [{}, 'body'],
    [{ status: 'queued' }, 'body.status'],
    [{ connection_id: 'ada' }, 'body.connection_id'],
    [{ created_after: 'yesterday' }, 'body.created_after'],
    [{ connection_id: id, cursor: 'on' }, 'body.cursor'],
    [{ cursor: sliceCursor({ behind: { created_us: 0, id }, mailbox: id, operation: own }) }, 'body'],
  ] as const) {
    const { status, json } = await call('POST', '/v1/operations/cancel', { body });
    t.match([status, json], [400, { errors: [{ path }] }], path);
  }
});

t.test('a backlog of several slices is canceled to its end', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const first = await submitter(edge)(id, 'first');
  const rows = LIMITS.removal_rows + 200;
  await insertOperations(db, id, rows, 'queued');
  await db.query(
    'testMark',
    `update pgboss.job set data = '{"from": "00000000-0000-0000-0000-000000000000"}' where id = $1`,
    [id],
  );
  const { json } = await call('POST', '/v1/operations/cancel', { body: { connection_id: id } });
  t.strictSame(json, { canceled: rows + 1, next_cursor: null });
  t.strictSame(await statuses(edge, [first]), ['canceled']);
});

t.test('a request that is out of time goes on where it stopped, and comes to the end', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  const ids: string[] = [];
  for (const name of ['ada', 'bob', 'eve']) ids.push((await insertSimulated(db, workspaceId, name)).id);
  const writes = [];
  for (const id of ids) writes.push(await submitter(edge)(id, `write-${id}`, 'social.message.send'));
  // Reads that do not fit stand in the way: more of them than a slice.
  for (const id of ids) await insertOperations(db, id, LIMITS.removal_rows, 'queued');
  await db.query(
    'testMark',
    `update pgboss.job set data = '{"from": "00000000-0000-0000-0000-000000000000"}' where id = any($1::uuid[])`,
    [ids],
  );
  const now = performance.now.bind(performance);
  let later_ms = 0;
  const clock = mock.method(performance, 'now', () => {
    later_ms += HTTP_LIMITS.cancel_many_ms; // over at each look
    return now() + later_ms;
  });
  t.teardown(() => clock.mock.restore());
  const answers: Fields[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const body = { capability: 'social.message.send', ...(cursor && { cursor }) };
    answers.push((await call('POST', '/v1/operations/cancel', { body })).json);
    cursor = answers.at(-1)?.next_cursor as string | null;
  }
  t.ok(answers.length > ids.length, 'it stopped within each');
  t.equal(new Set(answers.map(({ next_cursor }) => next_cursor)).size, answers.length, 'each time further on');
  t.equal(
    answers.reduce((sum, { canceled }) => sum + Number(canceled), 0),
    ids.length,
  );
  t.strictSame(await statuses(edge, writes), ['canceled', 'canceled', 'canceled']);
});

t.test('operations are listed by error, reference, key and time', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db, workspaceId } = edge;
  const submit = submitter(edge);
  const { id: ada } = await insertSimulated(db, workspaceId, 'ada');
  const { id: bob } = await insertSimulated(db, workspaceId, 'bob');
  await call('PUT', `/v1/connections/${bob}/reference`, { body: { reference: 'customer-4711' } });
  const [failed, other, ofBob] = [await submit(ada, 'one'), await submit(ada, 'two'), await submit(bob, 'three')];
  await putOperation(db, failed, 'failed');
  const listed = async (query: string) =>
    (await call('GET', `/v1/operations?${query}`)).json.operations.map(({ id }: { id: string }) => id);
  t.strictSame(await listed('error_code=upstream_error'), [failed]);
  t.strictSame(await listed('error_code=parsing_error'), []);
  t.strictSame(await listed('reference=customer-4711'), [ofBob]);
  t.strictSame(await listed('reference=customer'), []);
  t.strictSame(await listed('idempotency_key=two'), [other]);
  t.strictSame(await listed('idempotency_key=two&status=failed'), []);
  t.strictSame(await listed(`idempotency_key=two&connection_id=${bob}`), []);
  t.strictSame(await listed('idempotency_key=four'), []);
  const days = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString();
  t.strictSame(await listed(`created_after=${days(-1)}&created_before=${days(1)}`), [ofBob, other, failed]);
  t.strictSame(await listed(`created_after=${days(1)}`), []);
  t.strictSame(await listed(`created_before=${days(-1)}`), []);
  const { json } = await call('GET', `/v1/operations/${other}`);
  t.strictSame(await listed(`created_before=${json.created_at}`), [failed], 'before, not at it');
  t.strictSame(await listed(`created_after=${json.created_at}`), [ofBob, other], 'from then on');
  t.equal((await call('GET', '/v1/operations?created_after=soon')).status, 400);
});
