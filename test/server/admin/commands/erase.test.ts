import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { adminProgram } from '../../../../server/admin/program.js';
import { listAudit } from '../../../../storage/audit/entries.js';
import { awaitRemoval, hideConnection } from '../../../../storage/erasure/connection.js';
import { openReceipt } from '../../../../storage/erasure/receipts.js';
import { createLogger } from '../../../../storage/log/log.js';
import { Removals } from '../../../../storage/maintenance/removals.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { rewriting } from '../../../fixture/rewrites.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { longTest } from '../../../fixture/size.js';
import { insertSubscription } from '../../../storage/maintenance/retention/fixture.js';
import { insertDeliveries, insertOperations, insertQueue, putOperation } from '../../rows.js';

t.setTimeout(120_000);

const log = createLogger({ level: 'warn', format: 'json' }, {});

/** The command line without a process of its own, on a database of its own; what it answers is as it is printed. A node beside it waits for no submission. */
async function operator(t: Test) {
  const { url, db } = await freshDatabase(t);
  const removals = new Removals({ db, log, settle_ms: 10 });
  removals.start();
  t.teardown(() => removals.stop());
  const answer = async (...args: string[]) => JSON.parse((await adminProgram({ DATABASE_URL: url }, args)).text);
  const workspaceId = await insertWorkspace(db);
  const connection = async (name: string) => (await insertSimulated(db, workspaceId, name)).id;
  const rows = async (table: string) =>
    (await db.query<{ count: number }>(`test ${table}`, `select count(*)::int as count from ${table}`))[0]?.count;
  return { db, answer, workspaceId, connection, rows };
}

const entriesOf = async (db: Database, workspaceId: string) =>
  (
    await listAudit(
      db,
      { workspaceId, actorId: null, action: null, targetId: null, since: null, until: null },
      null,
      10,
    )
  ).entries;

t.test('a connection is erased with a receipt, another stays, and its keys are never new ones', async (t) => {
  const { db, answer, workspaceId, connection, rows } = await operator(t);
  const [gone, kept] = [await connection('ada'), await connection('grace')];
  for (const id of [gone, kept]) {
    await insertOperations(db, id, 20);
    await insertDeliveries(db, await insertSubscription(db, id), ['delivered', 'failed']);
  }
  const { receipt } = await answer('erase', '--connection', gone);
  t.match(receipt, {
    kind: 'connection',
    connection_id: gone,
    completed_at: String,
    erased: { connections: 1 },
    remaining: { connections: 0 },
    rewritten: false,
  });
  t.equal(await rows('connection'), 1);
  t.equal(await rows('operation'), 20);
  t.equal(await rows('delivery'), 2);
  t.equal(await rows('idempotency_tombstone'), 20);
  await t.rejects(answer('erase', '--connection', gone), /there is no connection/);
  t.match(
    await entriesOf(db, workspaceId),
    [{ action: 'erase.connection', target_ids: [gone] }],
    'its workspace sees it',
  );
});

t.test('a connection with an operation under way is refused, and nothing is changed', async (t) => {
  const { db, answer, connection, rows } = await operator(t);
  const id = await connection('ada');
  await insertQueue(db, id, 1);
  const [operation] = await db.query<{ id: string }>('testOperation', 'select id from operation');
  await putOperation(db, operation!.id, 'running');
  await t.rejects(answer('erase', '--connection', id), /an operation of the connection is under way/);
  t.equal(await rows('erasure_receipt'), 0);
  t.equal(await rows('connection where deleted_at is null'), 1);
});

t.test('a person is erased, what has not ended is told, and nobody is named by what tells of it', async (t) => {
  const { db, answer, workspaceId, connection, rows } = await operator(t);
  const id = await connection('grace');
  const person = `person-${randomUUID()}`;
  await insertOperations(db, id, 5);
  const other = await insertWorkspace(db);
  await insertOperations(db, (await insertSimulated(db, other, 'alan')).id, 2);
  await db.query(
    'testNamed',
    `update operation set capability = 'social.profile.get', input = jsonb_build_object('profile_id', $1::text)`,
    [person],
  );
  const [one] = await db.query<{ id: string }>('testOne', 'select id from operation where connection_id = $1 limit 1', [
    id,
  ]);
  await db.query('testQueued', `update operation set status = 'queued', result = null where id = $1`, [one?.id]);
  const inWorkspace = (...more: string[]) => answer('erase', '--person', person, '--workspace', workspaceId, ...more);
  const none = { connections: 0, events: 0, invitations: 0 };
  t.match(await inWorkspace(), {
    would_erase: { operations: 4, connections: 0 },
    would_remain: { operations: 1 },
    workspaces: [{ workspace_id: workspaceId, operations: 5, ...none }],
    confirm: 5,
  });
  await t.rejects(inWorkspace('--confirm', '4'), /5 name the person, more than were confirmed.* nothing was erased/);
  t.equal(await rows('operation where input is null'), 0, 'neither erases anything');
  t.equal(await rows('erasure_receipt'), 0);
  await t.rejects(
    inWorkspace('--confirm', '5'),
    /what has not ended, or is in use, stays: 1 operations; run it again later \(receipt /,
  );
  t.match(await entriesOf(db, workspaceId), [{ action: 'erase.person' }, { action: 'command.read' }]);
  t.strictSame(await entriesOf(db, other), [], 'another workspace keeps what is its own');
  t.equal(await rows('operation where input is null'), 4);
  await db.query('testEnded', `update operation set status = 'canceled' where id = $1`, [one?.id]);
  t.match(await answer('erase', '--person', person, '--all-workspaces'), { confirm: 3 });
  const { receipt } = await answer('erase', `--person=${person}`, '--all-workspaces', '--confirm=3');
  t.match(receipt, { kind: 'person', connection_id: null, erased: { operations: 3 }, rewritten: false });
  t.equal(await rows('operation where input is not null or result is not null'), 0);
  for (const [workspace, entries] of [
    [workspaceId, 2],
    [other, 1],
  ] as const) {
    const erasures = (await entriesOf(db, workspace)).filter(({ action }) => action === 'erase.person');
    t.equal(erasures.length, entries, 'each has its entry');
    t.match(erasures[0], { details: { receipt: receipt.id } });
  }

  const { receipts } = await answer('receipt', 'list');
  t.strictSame(receipts.map(({ id }: { id: string }) => id).slice(0, 1), [receipt.id], 'the newest first');
  t.match(receipts[1], { erased: { operations: 4 }, remaining: { operations: 1 } });
  const page = (...args: string[]) => answer('receipt', 'list', ...args);
  t.equal((await page('--limit', `${receipts.length}`)).next_cursor, null, 'a full page that is the last');
  const first = await page('--limit', '1');
  t.strictSame(first.receipts, receipts.slice(0, 1));
  t.strictSame((await page('--cursor', first.next_cursor)).receipts, receipts.slice(1));
  t.match(await answer('receipt', 'show', '--receipt', receipt.id), { matches: null });
  t.match(await answer('receipt', 'show', '--receipt', receipt.id, '--person', person), { matches: true });
  t.match(await answer('receipt', 'show', '--receipt', receipt.id, '--person', 'somebody'), { matches: false });
  await t.rejects(answer('receipt', 'show', '--receipt', randomUUID()), /there is no receipt/);
  const told = await db.query(
    'testTold',
    'select row_to_json(r)::text as told from erasure_receipt r union all select row_to_json(e)::text from audit.entry e',
  );
  t.ok(told.length > 4);
  t.notOk(JSON.stringify(told).includes(person), 'neither a receipt nor the audit log');
});

longTest(
  t,
  'the account of a person is erased as a connection, and one that is in use does not keep others',
  async (t) => {
    const { db, answer, workspaceId, connection, rows } = await operator(t);
    const account = await connection('ada-l');
    await connection('grace');
    const held = await insertSimulated(db, await insertWorkspace(db), 'ada-l');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = db.transaction(async (tx) => {
      await tx.query('testHold', 'select from connection where id = $1 for update', [held.id]);
      await released;
    });
    await t.rejects(
      answer('erase', '--person', 'ADA-L', '--all-workspaces', '--confirm', '2'),
      /stays: 1 connections; run it again later/,
    );
    release();
    await holding;
    const { receipts } = await answer('receipt', 'list');
    t.match(receipts, [{ erased: { connections: 1 }, remaining: { connections: 1 } }]);
    t.match(
      await entriesOf(db, workspaceId),
      [{ action: 'erase.person', target_ids: [account] }],
      'its workspace sees it',
    );
    t.match(await answer('erase', '--person', 'ADA-L', '--all-workspaces', '--confirm', '2'), {
      receipt: { erased: { connections: 1 } },
    });
    t.equal(await rows('connection'), 1);
  },
);

t.test('a connection is removed by the command where no node does', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  await insertOperations(db, id, 20);
  await db.transaction((tx) => hideConnection(tx, id));
  await awaitRemoval({ db, log, settle_ms: 10 }, [id], () => {});
  t.strictSame(await db.query('testLeft', 'select id from connection union all select id from operation'), []);
});

longTest(t, 'an erasure that was killed is gone on with, though a node has removed the rows', async (t) => {
  const { db, answer, connection, rows } = await operator(t);
  const connectionId = await connection('ada');
  const killed = await db.transaction(async (tx) => {
    await hideConnection(tx, connectionId);
    return openReceipt(tx, { kind: 'connection', connectionId });
  });
  await eventually(
    'the rows are gone',
    () => rows('connection'),
    (count) => count === 0,
  );
  t.match(await answer('erase', '--connection', connectionId), {
    receipt: { id: killed, completed_at: String, erased: { connections: 1 } },
  });
  await t.rejects(answer('erase', '--connection', connectionId), /there is no connection/);
});

longTest(t, 'a receipt is completed only when the files are as it tells', async (t) => {
  const { db, answer, connection } = await operator(t);
  const connectionId = await connection('ada');
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reading = db.transaction(async (tx) => {
    await tx.query('testSnapshot', 'set transaction isolation level repeatable read');
    await tx.query('testRead', 'select from workspace');
    await released;
  });
  await t.rejects(
    answer('erase', '--connection', connectionId, '--rewrite'),
    /may still read what was erased: run it again later/,
  );
  t.match((await answer('receipt', 'list')).receipts, [
    { completed_at: null, erased: { connections: 1 }, rewritten: false },
  ]);
  release();
  await reading;
  t.match(await rewriting(() => answer('erase', '--connection', connectionId, '--rewrite')), {
    receipt: { completed_at: String, rewritten: true },
  });
});

t.test('a request that is none is refused before the database is opened', async (t) => {
  const { answer } = await operator(t);
  for (const args of [
    ['erase'],
    ['erase', '--connection', randomUUID(), '--person', 'ada'],
    ['erase', '--connection', randomUUID(), '--workspace', randomUUID()],
    ['erase', '--connection', 'x'],
    ['erase', '--connection', randomUUID(), '--all-workspaces'],
    ['erase', '--connection', randomUUID(), '--confirm', '1'],
    ['erase', '--person', 'ada'],
    ['erase', '--person', ' ', '--all-workspaces'],
    ['erase', '--person', 'ada', '--all-workspaces', '--workspace', randomUUID()],
    ['erase', '--person', 'ada', '--all-workspaces', '--confirm', '-1'],
    ['erase', '--person', 'ada', '--all-workspaces', '--rewrite'],
  ])
    await t.rejects(answer(...args), /wants either --|goe?s? with|It wants/, args.join(' '));
});
