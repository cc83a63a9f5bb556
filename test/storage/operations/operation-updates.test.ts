import { createHash, randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { finishOperations } from '../../../storage/operations/execution.js';
import { type FirstAttempt, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions } from '../../../storage/partitions/partitions.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

t.test('no index of operation names what changes with its status, so that a change touches none of them', async (t) => {
  const { db } = await freshDatabase(t);
  const indexes = await db.query<{ name: string; definition: string }>(
    'testIndexes',
    `select indexname as name, indexdef as definition from pg_indexes where tablename = 'operation'`,
  );
  t.ok(indexes.length >= 4);
  const changing =
    /\b(?:status|result|error_code|error_details|challenge|cancel_requested|epoch|attempts|timeline|updated_at)\b/;
  for (const { name, definition } of indexes) t.notMatch(definition, changing, name);
});

/** The page of each operation, by its id. */
async function pagesOf(db: Sql, ids: string[]): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; page: number }>(
    'testPages',
    'select id, (ctid::text::point)[0]::int as page from operation where id = any($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, page }) => [id, page]));
}

const BATCH = 32;

const firstAttempt = (): FirstAttempt => ({ id: uuidv7(), phase: 'reading', started_at: new Date().toISOString() });

t.test('an operation that started with its acceptance and ends stays on the page on which it was stored', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connections = [];
  for (let one = 0; one < BATCH; one++) connections.push(await insertSimulated(db, workspace, `person ${one}`));
  const owned = await db.transaction((tx) => claimPartitions(tx, randomUUID(), 64, 60_000));
  const epochs = new Map(owned.map(({ id, epoch }) => [id, epoch]));
  const input = '{"profile_id":"ada-lovelace"}';
  const accept = ({ id: connectionId, partition }: { id: string; partition: number }) => {
    const id = uuidv7();
    return {
      ...{ id, workspaceId: workspace, connectionId, partition },
      ...{ capability: 'social.profile.get', idempotencyKey: id, input, inputSealed: null, acceptedAt: new Date() },
      origin: { requestId: id, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
      ...{ keyHash: createHash('sha256').update(id).digest(), fingerprint: Buffer.alloc(32, 1) },
    };
  };
  const ended = {
    from: 'running',
    to: 'succeeded',
    reason: 'succeeded',
    attemptStatus: 'succeeded',
    phase: 'done',
    errorCode: null,
    errorDetails: null,
    evidence: null,
    running_ms: 3,
    result: { profile: { about: 'x'.repeat(1_000) } },
  } as const;
  const moved: string[] = [];
  const open = connections.map(({ id }) => id);
  for (let batch = 0; batch < 8; batch++) {
    const operations = connections.map(accept);
    const attempts = new Map(operations.map(({ id }) => [id, firstAttempt()]));
    const stored = await submitOperations(db, operations, owned, open, attempts);
    t.ok(stored.every((one) => one.kind === 'created' && one.running));
    const ids = operations.map(({ id }) => id);
    const before = await pagesOf(db, ids);
    const held = operations.map(({ id, partition }) => ({
      ...{ id, partition, epoch: epochs.get(partition) ?? 0, attemptId: attempts.get(id)?.id ?? '' },
    }));
    // Neighbours end at different times: they are of different connections.
    for (let turn = 0; turn < 4; turn++) {
      const due = held.filter((_, place) => place % 4 === turn);
      const finished = due.map((one) => ({ ...one, ...ended }));
      t.equal((await finishOperations(db, finished)).size, due.length);
    }
    const now = await pagesOf(db, ids);
    moved.push(...ids.filter((id) => now.get(id) !== before.get(id)));
  }
  t.ok(moved.length < 0.05 * 8 * BATCH, `${moved.length} of ${8 * BATCH} are on another one`);
});
