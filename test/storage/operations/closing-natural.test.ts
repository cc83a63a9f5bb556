import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { partitionOf } from '../../../storage/model/records.js';
import { closeMailboxes, openMailboxes, readQueued } from '../../../storage/operations/mailboxes.js';
import { type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../fixture/database.js';
import { jobState } from '../../fixture/jobs.js';
import { insertWorkspace } from '../../fixture/rows.js';

/** No artificial slowness: one statement closes 500 mailboxes, as `LIMITS.closing_mailboxes` allows, each with 60 operations that ended since it was opened. */
const CONNECTIONS = 500;
const ENDED = 20;
const ROUNDS = 30;

t.test('operations that are stored and opened while a statement closes', async (t) => {
  const { db, url } = await freshDatabase(t);
  const thread = openDatabase({
    url,
    maxConnections: 4,
    limits: { ...TIME_LIMITS.thread, lock_ms: 60_000, statement_ms: 60_000 }, // what a slow machine refuses is tried again by who asks
    indexedPlans: true,
    applicationName: 'thread',
  });
  t.teardown(() => thread.close());
  const workspaceId = await insertWorkspace(db);
  const node = randomUUID();
  await renewLeases(db, node, 600_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 600_000));
  const connections = Array.from({ length: CONNECTIONS }, () => {
    const id = uuidv7();
    return { id, partition: partitionOf(id) };
  });
  const ids = connections.map(({ id }) => id);
  const partitions = connections.map(({ partition }) => partition);
  await db.query(
    'testConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select id, $1, p, 'simulated', 'person:' || id, 'person', id::text, 'ready' from unnest($2::uuid[], $3::smallint[]) c(id, p)`,
    [workspaceId, ids, partitions],
  );
  const from = uuidv7();
  const operationIds = connections.flatMap(() => Array.from({ length: ENDED }, () => uuidv7()));
  await db.query(
    'testOperations',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
     select i.id, $1, c.id, c.p, 'social.profile.get', 'canceled', i.id::text, '', '{}'
     from unnest($2::uuid[]) with ordinality i(id, n)
     join unnest($3::uuid[], $4::smallint[]) with ordinality c(id, p, n) on c.n = (i.n - 1) / $5 + 1`,
    [workspaceId, operationIds, ids, partitions, ENDED],
  );
  await db.query('testAnalyze', 'analyze operation');
  const openAll = async () => {
    const rows = await db.query<{ id: string; version: string }>(
      'testOpenAll',
      `insert into pgboss.job_common (id, name, state, started_on, data)
       select id, 'mailbox-' || p, 'active', now(), jsonb_build_object('from', $3::uuid) from unnest($1::uuid[], $2::smallint[]) c(id, p)
       on conflict (name, id) do update set state = 'active', started_on = now(), data = excluded.data
       returning id, xmin::text as version`,
      [ids, partitions, from],
    );
    const versions = new Map(rows.map(({ id, version }) => [id, version]));
    return mailboxes.map((one) => ({ ...one, version: versions.get(one.connectionId) as string }));
  };
  const epochs = new Map(owned.map((one) => [one.id, one.epoch]));
  const mailboxes = connections.map(({ id, partition }) => ({
    connectionId: id,
    partition,
    epoch: epochs.get(partition) as number,
    from: null,
  }));
  const operation = (of: { id: string; partition: number }): NewOperation => {
    const id = uuidv7();
    const hash = createHash('sha256').update(id).digest();
    const given = { capability: 'social.profile.get', fingerprint: hash, input: '{}', inputSealed: null };
    const key = { idempotencyKey: id, keyHash: hash, acceptedAt: new Date() };
    return { id, workspaceId, connectionId: of.id, partition: of.partition, ...given, ...key };
  };
  const orphans: string[] = [];
  const results: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round++) {
    const all = await openAll();
    const of = connections[(round * 37) % CONNECTIONS] as { id: string; partition: number };
    const mine = { id: of.partition, epoch: epochs.get(of.partition) as number };
    const closing = closeMailboxes(thread, all);
    await delay(round % 12); // the store comes at another moment of the closing each time
    const one = operation(of);
    await submitOperations(thread, [one], [mine]); // what its owner stores while it closes counts as not open (`actors/operations/partition/storing-batch.ts`)
    const [opened] = await openMailboxes(thread, [mine], 10);
    const due = opened?.due.find(({ connection_id }) => connection_id === of.id);
    const read = due
      ? (await readQueued(thread, [{ partition: of.partition, connectionId: of.id, first: due.new ?? due.from }], 10))
          .queued
      : [];
    const closed = await closing;
    const index = connections.indexOf(of);
    const state = await jobState(db, of.id);
    const outcome = `${closed[index]?.kind}, ${due ? 'opened' : 'not opened'}, job ${state ?? 'gone'}`;
    results[outcome] = (results[outcome] ?? 0) + 1;
    if (state === undefined) orphans.push(one.id);
    t.ok(due === undefined || read.some(({ id }) => id === one.id), 'its owner has it');
    await db.query('testEnd', `update operation set status = 'canceled' where id = $1`, [one.id]);
  }
  t.comment(JSON.stringify(results));
  t.equal(orphans.length, 0, `an operation that is queued has a mailbox (I1): ${orphans.length} of ${ROUNDS} had none`);
});
