import { randomUUID } from 'node:crypto';
import t from 'tap';
import { noteStored, storedBytes } from '../../../storage/maintenance/stored.js';
import { dropFileParts, readFilePart, storeFilePart } from '../../../storage/operations/operation-files.js';
import type { HeldOperation } from '../../../storage/operations/starts.js';
import { setOwnLimit } from '../../../storage/workspaces/limits.js';
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

  const store = (held: HeldOperation, part: number, text: string, bound: number | null = null) =>
    storeFilePart(db, held, { part, bytes: Buffer.from(text), bound });
  const stored = async () => (await storedBytes(db, [workspace])).get(workspace);
  t.equal(await store(first, 0, 'abc'), 'stored');
  t.equal(await stored(), undefined, 'of a workspace without a limit it is noted nowhere');
  await noteStored(db, new Map([[workspace, 10]]));
  t.equal(await store(first, 1, 'lost', 100), 'stored');
  t.equal(await stored(), 14, 'of another before the next measurement');
  t.equal(await store(first, 1, 'def', 100), 'stored', 'a part that is stored again takes its own place');
  t.equal(await text(first, 0), 'abc');
  t.equal(await text(first, 1), 'def');
  t.equal(await readFilePart(db, fileOf(first), 2), undefined);

  t.equal(await store({ ...first, epoch: 6 }, 2, 'x', 100), 'not_held', 'a former owner stores nothing');
  const second = { ...first, attemptId: randomUUID() };
  t.equal(await store(second, 0, 'x', 100), 'not_held', 'nor does an attempt that is not the last');
  t.equal(await text(first, 0), 'abc', 'and neither takes anything away');
  t.equal(await stored(), 17, 'nor is it noted');

  const attempts = JSON.stringify([{ id: first.attemptId }, { id: second.attemptId }]);
  await db.query('testNextAttempt', 'update operation set attempts = $2 where id = $1', [first.id, attempts]);
  t.equal(await store(second, 0, 'ghi'), 'stored');
  t.equal(await readFilePart(db, fileOf(first), 0), undefined, 'the next attempt takes away what the one before left');
  t.equal(await text(second, 0), 'ghi');
  await dropFileParts(db, first);
  t.equal(await text(second, 0), 'ghi', 'an attempt that is over takes nothing away');
  t.equal(await store(second, 1, 'jkl', 19), 'full', 'what a workspace may not store is refused');
  t.equal(await readFilePart(db, { ...fileOf(second), size: 6 }, 1), undefined);
  t.equal(await stored(), 17, 'and is not noted');
  t.equal(await store(second, 1, 'jkl', 20), 'stored', 'what fits is not');
  await setOwnLimit(db, { workspace_id: workspace, name: 'stored_mib', value: 1 });
  t.equal(await store(second, 2, 'mno', 20), 'stored', 'a limit of its own takes the place of the usual one');
  await noteStored(db, new Map([[workspace, 2 ** 20]]));
  t.equal(await store(second, 3, 'pqr'), 'full', 'and holds where there is no usual one');
  await dropFileParts(db, second);
  t.equal(await readFilePart(db, fileOf(second), 0), undefined);
});
