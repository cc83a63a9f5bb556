import { randomUUID } from 'node:crypto';
import t from 'tap';
import { dropFileParts, readFilePart, storeFilePart } from '../../../storage/operations/operation-files.js';
import type { HeldOperation } from '../../../storage/operations/starts.js';
import { noteStored, storedBytes } from '../../../storage/workspaces/stored.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

t.test('parts of a file belong to the attempt that holds its operation', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  const first: HeldOperation = {
    id: randomUUID(),
    partition: connection.partition,
    epoch: 7,
    attemptId: randomUUID(),
  };
  const running = JSON.stringify([{ id: first.attemptId }]);
  await db.query(
    'testOperation',
    `insert into operation (id, workspace_id, connection_id, partition, epoch, capability, status, idempotency_key, fingerprint,
       input, attempts)
     values ($1, $2, $3, $4, $5, 'social.file.download', 'running', 'k', '\\x00', '{}', $6)`,
    [first.id, workspace, connection.id, first.partition, first.epoch, running],
  );
  const fileOf = ({ id, attemptId }: HeldOperation) => ({ operationId: id, attemptId, size: 6 });
  const text = async (held: HeldOperation, part: number) => String(await readFilePart(db, fileOf(held), part));

  const stored = async () => (await storedBytes(db, [workspace])).get(workspace);
  t.ok(await storeFilePart(db, first, 0, Buffer.from('abc')));
  t.equal(await stored(), undefined, 'of a workspace that nobody measures it is noted nowhere');
  await noteStored(db, new Map([[workspace, 10]]));
  t.ok(await storeFilePart(db, first, 1, Buffer.from('lost')));
  t.equal(await stored(), 14, 'of another before the next measurement');
  t.ok(await storeFilePart(db, first, 1, Buffer.from('def')), 'a part that is stored again takes its own place');
  t.equal(await text(first, 0), 'abc');
  t.equal(await text(first, 1), 'def');
  t.equal(await readFilePart(db, fileOf(first), 2), undefined);

  t.notOk(await storeFilePart(db, { ...first, epoch: 6 }, 2, Buffer.from('x')), 'a former owner stores nothing');
  const second = { ...first, attemptId: randomUUID() };
  t.notOk(await storeFilePart(db, second, 0, Buffer.from('x')), 'nor does an attempt that is not the last');
  t.equal(await text(first, 0), 'abc', 'and neither takes anything away');
  t.equal(await stored(), 17, 'nor is it noted');

  const attempts = JSON.stringify([{ id: first.attemptId }, { id: second.attemptId }]);
  await db.query('testNextAttempt', 'update operation set attempts = $2 where id = $1', [first.id, attempts]);
  t.ok(await storeFilePart(db, second, 0, Buffer.from('ghi')));
  t.equal(await readFilePart(db, fileOf(first), 0), undefined, 'the next attempt takes away what the one before left');
  t.equal(await text(second, 0), 'ghi');
  await dropFileParts(db, first);
  t.equal(await text(second, 0), 'ghi', 'an attempt that is over takes nothing away');
  await dropFileParts(db, second);
  t.equal(await readFilePart(db, fileOf(second), 0), undefined);
});
