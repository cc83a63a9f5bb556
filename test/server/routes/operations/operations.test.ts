import { randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { jobIds } from '../../../fixture/jobs.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { type CallOptions, type EdgeUnderTest, insertKey, startTestEdge } from '../../edge-fixture.js';
import { putOperation, takeCode } from '../../rows.js';

const READ = { capability: 'social.profile.get', input: { profile_id: 'bob' } };
/** Of an attempt that ended past its write boundary. */
const DISPATCHED = {
  phase: 'dispatching',
  started_at: '2026-01-01T00:00:00.000Z',
  completed_at: '2026-01-01T00:00:01.000Z',
};

const submitter =
  (edge: EdgeUnderTest, connectionId: string) =>
  (key: string, body: object = READ, options: CallOptions = {}) =>
    edge.call('POST', `/v1/connections/${connectionId}/operations`, {
      body,
      ...options,
      headers: { 'idempotency-key': key, ...options.headers },
    });

async function startWithConnection(t: Parameters<typeof startTestEdge>[0]) {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  return { ...edge, connectionId: id, submit: submitter(edge, id) };
}

t.test('a submission is answered 202 once it is stored, and can be read and polled', async (t) => {
  const { call, submit, connectionId, db } = await startWithConnection(t);
  const reply = await submit('one');
  t.equal(reply.status, 202);
  t.equal(reply.headers.location, `/v1/operations/${reply.json.id}`);
  t.equal(reply.headers['retry-after'], '1');
  t.match(reply.json, {
    connection_id: connectionId,
    capability: 'social.profile.get',
    status: 'queued',
    result: null,
    error_code: null,
    error_details: null,
    challenge: null,
    cancel_requested: false,
    attempts: [],
    timeline: [{ from: null, to: 'queued' }],
  });
  t.match(reply.json.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.strictSame(await jobIds(db), [connectionId], 'in the mailbox of its connection');
  t.strictSame((await call('GET', `/v1/operations/${reply.json.id}`)).json, reply.json);
});

t.test('who has a copy of an ended operation gets 304 until its answer changes', async (t) => {
  const { call, submit, db } = await startWithConnection(t);
  const { id } = (await submit('one')).json;
  const poll = (known?: string) =>
    call('GET', `/v1/operations/${id}`, { headers: known ? { 'if-none-match': known } : {} });
  t.notOk((await poll()).headers.etag, 'it still changes');
  await putOperation(db, id, 'succeeded', { profile: { name: 'Bob' } });
  const first = await poll();
  const { etag } = first.headers as { etag: string };
  t.match(etag, /^"[\w-]+"$/);
  t.equal((await poll('"another"')).status, 200);
  for (const known of [etag, `"another", W/${etag}`, '*']) {
    const same = await poll(known);
    t.strictSame([same.status, same.json, same.headers.etag], [304, null, etag], known);
  }
  const waited = await call('GET', `/v1/operations/${id}`, { headers: { prefer: 'wait=5', 'if-none-match': etag } });
  t.match({ ...waited.headers, status: waited.status }, { status: 304, 'preference-applied': 'wait=5' });
  await db.query('erased', `update operation set result_erased_at = now(), result = null where id = $1`, [id]);
  const erased = await poll(etag);
  t.equal(erased.status, 200);
  t.not(erased.headers.etag, etag);
});

t.test('the same key replays the same request as it is now, and conflicts with any other', async (t) => {
  const { submit, db } = await startWithConnection(t);
  const first = await submit('one');
  await putOperation(db, first.json.id, 'succeeded', { profile: {} });
  const again = await submit('one', { input: { profile_id: 'bob' }, capability: 'social.profile.get' });
  t.equal(again.status, 200);
  t.equal(again.headers['idempotency-replayed'], 'true');
  t.match(again.json, { id: first.json.id, status: 'succeeded' });
  const other = await submit('one', { ...READ, input: { profile_id: 'eve' } });
  t.equal(other.status, 409);
  t.strictSame(other.json, { code: 'idempotency_conflict' });
});

t.test('of concurrent twins one is accepted and the others are replays', async (t) => {
  const { submit } = await startWithConnection(t);
  const replies = await Promise.all(Array.from({ length: 10 }, () => submit('twin')));
  t.strictSame(replies.map((reply) => reply.status).sort(), [200, 200, 200, 200, 200, 200, 200, 200, 200, 202]);
  t.equal(new Set(replies.map((reply) => reply.json.id)).size, 1);
});

t.test('a submission that is refused does not use its key up', async (t) => {
  const { submit } = await startWithConnection(t);
  const refused: [body: object, path: string][] = [
    [{ ...READ, input: { profile_id: '' } }, 'input.profile_id'],
    [{ ...READ, input: { profile_id: 'bob', extra: 1 } }, 'input.extra'],
    [{ capability: 'social.nothing', input: {} }, 'body.capability'],
    [{ capability: 'social.profile.get' }, 'body.input'],
    [{ ...READ, input: [] }, 'body.input'],
    [{ ...READ, more: true }, 'body.more'],
  ];
  for (const [body, path] of refused) {
    const reply = await submit('one', body);
    t.equal(reply.status, 400, path);
    t.ok(
      reply.json.errors.some((error) => error.path === path),
      `${path}: ${reply.text}`,
    );
  }
  t.equal((await submit('one')).status, 202);
});

t.test('the idempotency key is required and printable', async (t) => {
  const { call, connectionId } = await startWithConnection(t);
  for (const key of ['', '   ', 'x'.repeat(129), 'ä']) {
    const reply = await call('POST', `/v1/connections/${connectionId}/operations`, {
      body: READ,
      headers: { 'idempotency-key': Buffer.from(key).toString('latin1') },
    });
    t.equal(reply.status, 400, key);
    t.equal(reply.json.errors[0]?.path, 'headers.Idempotency-Key');
  }
});

t.test('a send needs social:send', async (t) => {
  const { submit, db, workspaceId } = await startWithConnection(t);
  const key = await insertKey(db, workspaceId, ['operations:write']);
  const send = { capability: 'social.invitation.send', input: { recipient_actor_id: 'bob' } };
  const refused = await submit('one', send, { key });
  t.equal(refused.status, 403);
  t.equal((await submit('one', send)).status, 202);
  t.equal((await submit('two', READ, { key })).status, 202);
});

t.test('a dry run validates all and stores nothing', async (t) => {
  const { submit, db } = await startWithConnection(t);
  const dry = await submit('one', READ, { headers: { prefer: 'dry-run' } });
  t.equal(dry.status, 200);
  t.strictSame(dry.json, { valid: true });
  t.equal((await submit('one', { ...READ, input: {} }, { headers: { prefer: 'dry-run' } })).status, 400);
  t.strictSame(await jobIds(db), []);
});

t.test('a refusal of the actors is answered with its status', async (t) => {
  const { submit, system } = await startWithConnection(t);
  for (const [refusal, status, code] of [
    [{ kind: 'overloaded', what: 'node' }, 503, 'overloaded'],
    [{ kind: 'overloaded', what: 'connection' }, 503, 'overloaded'],
    [{ kind: 'overloaded', what: 'workspace' }, 503, 'overloaded'],
    [{ kind: 'draining' }, 503, 'unavailable'],
    [{ kind: 'encryption_key_unavailable' }, 503, 'encryption_key_unavailable'],
    [{ kind: 'not_found' }, 404, 'not_found'],
  ] as const) {
    system.refusal = refusal;
    const reply = await submit('one');
    t.equal(reply.status, status, refusal.kind);
    t.equal(reply.json.code, code, refusal.kind);
  }
  system.refusal = { kind: 'overloaded', what: 'workspace' };
  t.equal((await submit('one')).headers['retry-after'], '1');
});

t.test('a poller that prefers to wait is answered when the operation ends', async (t) => {
  const { call, submit, db, system } = await startWithConnection(t);
  const { id } = (await submit('one')).json;
  const { query } = db;
  let reads = 0;
  db.query = (name, text, values) => {
    if (name === 'findOperations') reads++;
    return query(name, text, values);
  };
  t.teardown(() => {
    db.query = query;
  });
  const waiting = call('GET', `/v1/operations/${id}`, { headers: { prefer: 'wait=20' } });
  await system.asked();
  await putOperation(db, id, 'succeeded', { profile: {} });
  system.settle(id);
  const reply = await waiting;
  t.equal(reply.json.status, 'succeeded');
  t.equal(reads, 2, 'as it was, and as it ended');
  t.equal(reply.headers['preference-applied'], 'wait=20');
  const short = await call('GET', `/v1/operations/${(await submit('two')).json.id}`, { headers: { prefer: 'wait=0' } });
  t.equal(short.json.status, 'queued');
});

t.test('a poller that waits is answered 404 when the connection is deleted meanwhile', async (t) => {
  const { call, submit, system, connectionId } = await startWithConnection(t);
  const { id } = (await submit('one')).json;
  const waiting = call('GET', `/v1/operations/${id}`, { headers: { prefer: 'wait=20' } });
  await system.asked();
  t.equal((await call('DELETE', `/v1/connections/${connectionId}`)).status, 204);
  system.settle(id);
  const reply = await waiting;
  t.strictSame([reply.status, reply.json.code], [404, 'not_found']);
});

t.test(
  'a queued operation is cancelled at once; a running one is asked to; a finished one stays as it is',
  async (t) => {
    const { call, submit, db, system, connectionId } = await startWithConnection(t);
    const queued = (await submit('queued')).json.id;
    const canceled = await call('POST', `/v1/operations/${queued}/cancel`);
    t.match(canceled.json, { status: 'canceled', timeline: [{ to: 'queued' }, { from: 'queued', to: 'canceled' }] });
    t.strictSame(system.hints, []);
    t.strictSame((await call('POST', `/v1/operations/${queued}/cancel`)).json, canceled.json);

    const running = (await submit('running')).json.id;
    await putOperation(db, running, 'running');
    const asked = await call('POST', `/v1/operations/${running}/cancel`);
    t.match(asked.json, { status: 'running', cancel_requested: true });
    t.strictSame(system.hints, [{ type: 'cancel', connectionId, operationId: running }]);

    const quick = (await submit('quick')).json.id;
    await putOperation(db, quick, 'running');
    const { query } = db;
    system.owner = () => {
      // Its owner ends it before anything else is read of it.
      db.query = async (name, text, values) => {
        db.query = query;
        await putOperation(db, quick, 'canceled');
        return query(name, text, values);
      };
    };
    const left = await call('POST', `/v1/operations/${quick}/cancel`);
    t.match(left.json, { status: 'running', cancel_requested: true }, 'as the request left it');
  },
);

t.test('a challenge takes one code, while it is current', async (t) => {
  const { call, submit, db, system, connectionId } = await startWithConnection(t);
  const { id } = (await submit('one', { capability: 'social.login', input: {} })).json;
  const answer = (challenge_id: string, code = '000000') =>
    call('POST', `/v1/operations/${id}/challenge`, { body: { challenge_id, code } });
  const refused = [409, { code: 'challenge_not_accepting_code' }];

  const early = await answer('challenge-1');
  t.strictSame([early.status, early.json], refused, 'not waiting');
  await putOperation(db, id, 'waiting_user', { expires_at: '2001-01-01T00:00:00.000Z' });
  t.equal((await answer('challenge-1')).status, 409, 'expired');
  await putOperation(db, id, 'waiting_user', { kind: 'captcha', accepts_code: false });
  t.equal((await answer('challenge-1')).status, 409, 'takes no code');
  await putOperation(db, id, 'waiting_user');
  t.strictSame((await call('GET', `/v1/operations/${id}`)).json.challenge, {
    id: 'challenge-1',
    kind: 'email',
    expires_at: '2999-01-01T00:00:00.000Z',
    accepts_code: true,
  });
  t.equal((await answer('challenge-2')).status, 409, 'another challenge');
  for (const code of ['', ' ', 'x'.repeat(33), 'ä']) {
    const reply = await answer('challenge-1', code);
    t.equal(reply.status, 400, `code ${code}`);
    t.notOk(reply.json.errors[0]?.value);
  }
  system.owner = () => void takeCode(db, id);
  const both = await Promise.all([answer('challenge-1', '123456'), answer('challenge-1', '123456')]);
  t.strictSame(both.map((reply) => reply.status).sort(), [202, 409]);
  t.strictSame(both.find((reply) => reply.status === 202)?.json, { status: 'accepted' });
  const code = { type: 'code', connectionId, operationId: id, challengeId: 'challenge-1', code: '123456' };
  t.match(system.hints[0], { ...code, mark: /^\d{4}-/ });
});

t.test('only an unknown outcome is reconciled, and not while another operation holds the connection', async (t) => {
  const { call, submit, db, system, connectionId } = await startWithConnection(t);
  const { id } = (await submit('one')).json;
  const early = await call('POST', `/v1/operations/${id}/reconcile`);
  t.strictSame([early.status, early.json], [409, { code: 'not_outcome_unknown' }]);
  await putOperation(db, id, 'outcome_unknown');
  const attempt = { ...{ id: randomUUID(), state_revision: 0, number: 1, status: 'outcome_unknown' }, ...DISPATCHED };
  await db.query('testAttempt', 'update operation set attempts = $2 where id = $1', [id, JSON.stringify([attempt])]);
  const other = (await submit('two')).json.id;
  await putOperation(db, other, 'running');
  t.strictSame((await call('POST', `/v1/operations/${id}/reconcile`)).json, { code: 'connection_busy' });
  await putOperation(db, other, 'canceled');
  const reply = await call('POST', `/v1/operations/${id}/reconcile`);
  t.equal(reply.status, 200);
  t.equal(reply.json.status, 'outcome_unknown');
  t.match(reply.json.evidence, { fault: null, look: null }, 'nobody has looked in the time that it waits');
  t.strictSame(system.hints.at(-1), { type: 'look', connectionId });
});

t.test('operations are listed newest first, by connection and status, page by page', async (t) => {
  const { call, submit, db, workspaceId, connectionId } = await startWithConnection(t);
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push((await submit(`k${n}`)).json.id);
  await putOperation(db, ids[1]!, 'canceled');
  ids.reverse();
  const all = await call('GET', '/v1/operations');
  t.strictSame(
    all.json.operations.map((o) => o.id),
    ids,
  );
  t.equal(all.json.next_cursor, null);

  const pages = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await call('GET', `/v1/operations?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(page.json.operations.map((o) => o.id));
    cursor = page.json.next_cursor;
  }
  t.strictSame(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  const full = await call('GET', '/v1/operations?limit=5');
  t.strictSame([full.json.operations.length, full.json.next_cursor], [5, null], 'a full page that is the last');

  const canceled = await call('GET', `/v1/operations?status=canceled&connection_id=${connectionId}`);
  t.strictSame(
    canceled.json.operations.map((o) => o.id),
    [ids[3]],
  );
  t.strictSame((await call('GET', `/v1/operations?connection_id=${uuidv7()}`)).json.operations, []);
  const [{ capability } = { capability: '' }] = canceled.json.operations;
  const alike = await call('GET', `/v1/operations?status=canceled&capability=${capability}`);
  t.strictSame(
    alike.json.operations.map((o) => o.id),
    [ids[3]],
  );
  t.strictSame((await call('GET', '/v1/operations?capability=social.login')).json.operations, []);
  const key = await insertKey(db, workspaceId, ['operations:write']);
  t.equal((await call('GET', '/v1/operations', { key })).status, 403);
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=1e1',
    'limit=1&limit=2',
    'status=done',
    'capability=social.fly',
    'cursor=x',
    'connection_id=x',
    'page=1',
  ]) {
    t.equal((await call('GET', `/v1/operations?${query}`)).status, 400, query);
  }
});

t.test('reads of one turn are one query', async (t) => {
  const { call, submit, db } = await startWithConnection(t);
  const ids = await Promise.all(Array.from({ length: 20 }, async (_, n) => (await submit(`k${n}`)).json.id));
  let queries = 0;
  const { query } = db;
  t.teardown(() => {
    db.query = query;
  });
  db.query = (name, text, values) => {
    if (name === 'findOperations') queries++;
    return query(name, text, values);
  };
  const replies = await Promise.all(ids.map((id) => call('GET', `/v1/operations/${id}`)));
  t.strictSame(
    replies.map((reply) => reply.json.id),
    ids,
  );
  t.ok(queries < 20, `${queries} queries for 20 reads`);
});
