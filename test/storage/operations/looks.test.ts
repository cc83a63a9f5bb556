import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import {
  isLookRequested,
  lookOf,
  openLook,
  requestedLooks,
  requestLook,
  storeLook,
  withdrawLook,
} from '../../../storage/operations/looks.js';
import { findOperations } from '../../../storage/operations/operations.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sealPlainData } from '../../../storage/secrets/seal-plain.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** The rows of looks: each statement again, late, or under a stale epoch. */
async function ground(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const { partition } = connection;
  await db.query('testOwn', 'update partition set epoch = 3 where id = $1', [partition]);
  const unknown = async (of = connection) => {
    const id = uuidv7();
    await db.query(
      'testUnknown',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, attempts)
       values ($1::uuid, $2, $3, $4, 'social.message.send', 'outcome_unknown', $1::uuid::text, '\\x00', '{"body":"x"}',
         '[{"started_at":"2026-01-01T12:00:00.000Z"}]')`,
      [id, workspaceId, of.id, of.partition],
    );
    return id;
  };
  const requested = async (id: string) => {
    const all = await requestedLooks(db, [partition], []);
    return all.find(({ operation_id }) => operation_id === id)!;
  };
  const kept = async (id: string, sql: Sql = db) => lookOf(sql, (await findOperations(db, [id]))[0]!);
  return { db, workspaceId, connection, owner: { id: partition, epoch: 3 }, unknown, requested, kept };
}

t.test('a look is stored once, under the epoch of the owner, and answers its own request alone', async (t) => {
  const { db, owner, unknown, requested, kept } = await ground(t);
  const id = await unknown();
  t.equal(await requestLook(db, id), 'requested');
  const first = await requested(id);
  t.equal(await requestLook(db, id), 'repeated');
  t.strictSame(await requested(id), first, 'the same request');
  t.match(await openLook(db, first), {
    operation_id: id,
    input: { body: 'x' },
    started_at: '2026-01-01T12:00:00.000Z',
  });

  const setInput = (input: string | null) =>
    db.query(
      'testInput',
      'update operation set input = $2::jsonb, input_erased_at = case when $2::jsonb is null then now() end where id = $1',
      [id, input],
    );
  await setInput(null);
  t.equal(await openLook(db, first), undefined, 'nothing says any more what to look for');
  await setInput('{"body":"x"}');
  t.equal(await storeLook(db, first, { ...owner, epoch: 2 }, { found: 'none' }), false, 'a former owner');
  t.equal(await isLookRequested(db, id), true);
  t.equal(await storeLook(db, first, owner, { found: 'none' }), true);
  t.equal(await isLookRequested(db, id), false);
  t.equal(await storeLook(db, first, owner, { found: 'one' }), false, 'the second time');
  t.strictSame(await kept(id), { found: 'none' });
  t.equal(await openLook(db, first), undefined);

  await requestLook(db, id);
  const second = await requested(id);
  t.equal(await storeLook(db, first, owner, { found: 'one' }), false, 'an earlier look');
  t.equal(await withdrawLook(db, first), false);
  t.equal(await isLookRequested(db, id), true);
  t.equal(await storeLook(db, second, owner, { found: 'several' }), true);
  t.strictSame(await kept(id), { found: 'several' });
});

t.test(
  'one request of each connection is given at a time, the longest waiting, and none of those in hand',
  async (t) => {
    const { db, workspaceId, connection, unknown, requested } = await ground(t);
    const ids = [await unknown(), await unknown(), await unknown()];
    for (const id of ids) await requestLook(db, id);
    const partitions = Array.from({ length: 64 }, (_, id) => id);
    const given = await requestedLooks(db, partitions, []);
    t.match(given, [{ operation_id: ids[0], connection_id: connection.id, workspace_id: workspaceId }]);
    t.equal(given.length, 1);
    t.strictSame(await requestedLooks(db, partitions, [connection.id]), []);
    const other = await insertSimulated(db, workspaceId, 'grace');
    const late = await unknown(other);
    await requestLook(db, late);
    t.match(await requestedLooks(db, partitions, [connection.id]), [{ operation_id: late }]);
    await withdrawLook(db, await requested(ids[0]!));
    t.match(await requestedLooks(db, [connection.partition], [other.id]), [{ operation_id: ids[1] }]);
  },
);

t.test('the looks of a deleted connection are not opened', async (t) => {
  const { db, connection, unknown, requested } = await ground(t);
  const id = await unknown();
  await requestLook(db, id);
  const request = await requested(id);
  await db.query('testDelete', 'update connection set deleted_at = now() where id = $1', [connection.id]);
  t.equal(await openLook(db, request), undefined);
  t.equal(await requestLook(db, id), 'gone');
});

t.test('what was stored plain is sealed with everything else, and read as before', async (t) => {
  const { db, owner, unknown, requested, kept } = await ground(t);
  const id = await unknown();
  await requestLook(db, id);
  await storeLook(db, await requested(id), owner, { found: 'one', matches: [{ filename: 'plain.txt' }] });
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  t.match(await sealPlainData(db, ring, null), { 'operation.evidence_look_sealed': 1 });
  const [row] = await findOperations(db, [id]);
  t.equal(row?.evidence_look, null);
  t.notOk(row?.evidence_look_sealed?.includes('plain.txt'));
  const vault = new DataVault(ring);
  t.strictSame(lookOf({ vault } as unknown as Sql, row!), { found: 'one', matches: [{ filename: 'plain.txt' }] });
  await t.rejects(kept(id), 'and by nobody without the key');
});
