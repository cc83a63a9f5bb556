import t, { type Test } from 'tap';
import { request } from 'undici';
import { v7 as uuidv7 } from 'uuid';
import { storeFilePart } from '../../../../storage/operations/operation-files.js';
import type { Sql } from '../../../../storage/postgres/database.js';
import { lockAwaited } from '../../../fixture/locks.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { startTestEdge } from '../../edge-fixture.js';
import { putOperation } from '../../rows.js';

/*
 * A connection is deleted while a request about one of its operations is under way: the request found the operation, and then waits
 * for a lock that the test holds, for its client, or for the operation's end. Its rows are still there.
 */

const WORK = { capability: 'social.file.download', input: { url: 'https://files.social.test/samples/1.bin' } };

async function startWithOperation(t: Test) {
  const edge = await startTestEdge(t);
  const { db, call } = edge;
  const { id: connectionId, partition } = await insertSimulated(db, edge.workspaceId, 'ann');
  const { json } = await call('POST', `/v1/connections/${connectionId}/operations`, {
    body: WORK,
    headers: { 'idempotency-key': 'one' },
  });
  const hide = (sql: Sql) =>
    sql.query('testHide', 'update connection set deleted_at = now() where id = $1', [connectionId]);
  /** What `send` is answered, when the connection is deleted while it waits for what `lock` locks. */
  const meanwhile = async (lock: string, send: () => ReturnType<typeof call>) => {
    let answer: ReturnType<typeof call> | undefined;
    await db.transaction(async (tx) => {
      await tx.query(`test ${lock}`, lock);
      answer = send();
      await lockAwaited(db);
      await hide(tx);
    });
    return (await answer)!;
  };
  /** Ends the operation with a file of so many parts. */
  const storeFile = async (parts: number, part_bytes: number) => {
    const held = { id: json.id, partition, epoch: 1, attemptId: uuidv7() };
    await putOperation(db, json.id, 'running');
    await db.query('testAttempt', 'update operation set attempts = $2 where id = $1', [
      json.id,
      JSON.stringify([{ id: held.attemptId, number: 1, started_at: new Date(), completed_at: new Date() }]),
    ]);
    for (let part = 0; part < parts; part++) {
      const bytes = Buffer.alloc(part_bytes, part);
      await storeFilePart(db, held, { part, bytes, bound: null });
    }
    await putOperation(db, json.id, 'succeeded', { content_type: 'text/plain', size: parts * part_bytes });
  };
  return { ...edge, id: json.id, path: `/v1/operations/${json.id}`, connectionId, hide, meanwhile, storeFile };
}

t.test('a cancel is answered 404', async (t) => {
  const { call, path, meanwhile } = await startWithOperation(t);
  t.match(await meanwhile('select from operation for update', () => call('POST', `${path}/cancel`)), {
    status: 404,
    json: { code: 'not_found' },
  });
});

t.test('a code and a look for evidence are answered 404', async (t) => {
  const { db, call, id, path, meanwhile, connectionId } = await startWithOperation(t);
  await putOperation(db, id, 'outcome_unknown');
  const lock = 'lock table pgboss.job_common in access exclusive mode';
  t.equal((await meanwhile(lock, () => call('POST', `${path}/reconcile`))).status, 404);
  await db.query('testShow', 'update connection set deleted_at = null where id = $1', [connectionId]);
  const body = { challenge_id: 'challenge-1', code: '1' };
  const answered = await meanwhile('lock table operation in exclusive mode', () =>
    call('POST', `${path}/challenge`, { body }),
  );
  t.equal(answered.status, 404);
});

t.test('a wait is answered 404', async (t) => {
  const { db, call, id, path, hide, system } = await startWithOperation(t);
  await putOperation(db, id, 'running');
  const asked = system.asked();
  const waiting = call('GET', path, { headers: { prefer: 'wait=20' } });
  await asked;
  await putOperation(db, id, 'succeeded', {});
  await hide(db);
  system.settle(id);
  t.equal((await waiting).status, 404);
});

t.test('a download that has not begun is answered 404, in whatever answer the file stands', async (t) => {
  const { db, call, path, meanwhile, storeFile, connectionId } = await startWithOperation(t);
  await storeFile(2, 999);
  t.equal((await call('GET', path)).status, 200);
  const lock = 'lock table operation_file in access exclusive mode';
  for (const send of [
    () => call('GET', path),
    () => call('HEAD', path),
    () => call('GET', path, { headers: { prefer: 'wait=1' } }),
    () => call('POST', `${path}/cancel`),
    () =>
      call('POST', `/v1/connections/${connectionId}/operations`, { body: WORK, headers: { 'idempotency-key': 'one' } }),
  ]) {
    t.equal((await meanwhile(lock, send)).status, 404);
    await db.query('testShow', 'update connection set deleted_at = null where id = $1', [connectionId]);
  }
});

t.test('a download in the middle is cut: it is never short without a sign', async (t) => {
  const { url, key, path, hide, db, storeFile } = await startWithOperation(t);
  await storeFile(24, 999_999);
  const { statusCode, headers, body } = await request(url + path, { headers: { authorization: `Bearer ${key}` } });
  t.equal(statusCode, 200);
  let taken = 0;
  const rest = (async () => {
    for await (const piece of body) {
      if (taken === 0) await hide(db);
      taken += (piece as Buffer).length;
    }
  })();
  await t.rejects(rest, 'the connection is cut');
  t.ok(taken < Number(headers['content-length']), `${taken} of ${headers['content-length']} bytes`);
  const rows = await db.query<{ parts: number }>('testParts', 'select count(*) as parts from operation_file');
  t.strictSame(rows, [{ parts: 24 }], 'though its rows are still there');
});
