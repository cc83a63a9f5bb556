import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Reveals } from '../../../server/http/reveals.js';
import { listAudit } from '../../../storage/audit/entries.js';
import { createLogger } from '../../../storage/log/log.js';
import type { NewAuditEntry } from '../../../storage/model/audit.js';
import type { Database } from '../../../storage/postgres/database.js';
import { createOperator } from '../../../storage/workspaces/operators.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { startTestEdge } from '../edge-fixture.js';
import { insertOperations } from '../rows.js';

/** Reads that leave an entry in the audit log (HTTP-30): one for each reader, object and hour, with how often. */

const log = createLogger({ level: 'silent', format: 'json' }, {});

async function entriesOf(db: Database, workspaceId: string) {
  const filter = { workspaceId, actorId: null, action: null, targetId: null, since: null, until: null };
  const { entries } = await listAudit(db, filter, null, 100);
  return entries.reverse().map(({ action, address, target_ids, reads }) => ({ action, address, target_ids, reads }));
}

async function revealing(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const reveals = new Reveals(db, log);
  const key = randomUUID();
  const read = (targets: string[], { on = reveals, address = '192.0.2.1' } = {}) =>
    on.note(db, {
      actor: { kind: 'key', id: key, name: 'reader', address },
      ...{ action: 'operation.reveal_input', workspaceId, requestId: null },
      targets: targets.map((id) => ['operation', id] as const),
    } satisfies NewAuditEntry);
  return { db, workspaceId, reveals, read };
}

t.test('a reader leaves one entry of an object and an hour, however often and at however many nodes', async (t) => {
  const { db, workspaceId, reveals, read } = await revealing(t);
  const other = new Reveals(db, log);
  const [one, two] = [randomUUID(), randomUUID()].sort() as [string, string];
  await Promise.all([read([one]), read([one]), read([one], { on: other })]);
  for (let i = 0; i < 10; i++) await read([one]);
  await read([one, two]);
  const entry = { action: 'operation.reveal_input', address: '192.0.2.1' };
  t.match(await entriesOf(db, workspaceId), [
    { ...entry, target_ids: [one] },
    { ...entry, target_ids: [two], reads: 1 },
  ]);
  await read([one], { address: '192.0.2.2' });
  await reveals.close();
  await other.close();
  t.strictSame(await entriesOf(db, workspaceId), [
    { ...entry, target_ids: [one], reads: 14 },
    { ...entry, target_ids: [two], reads: 1 },
    { ...entry, address: '192.0.2.2', target_ids: [one], reads: 1 },
  ]);
});

t.test('the next hour has an entry of its own, and a count that is late is that of its hour', async (t) => {
  const { db, workspaceId, reveals, read } = await revealing(t);
  const id = randomUUID();
  await read([id]);
  await read([id]);
  await db.query('testHour', `update audit_reveal set hour = hour - interval '1 hour'`);
  const next = new Reveals(db, log);
  await read([id], { on: next });
  await reveals.close();
  await next.close();
  t.match(
    (await entriesOf(db, workspaceId)).map(({ reads }) => reads).sort(),
    [1, 2],
    'what the first node had counted is of the hour that it knows',
  );
});

t.test('what is not in the log is not shown, and a count that cannot be stored is stored with the next', async (t) => {
  const { db, workspaceId, reveals, read } = await revealing(t);
  const id = randomUUID();
  const { transaction, query } = db;
  db.transaction = () => Promise.reject(new Error('away'));
  await t.rejects(read([id]), /away/);
  db.transaction = transaction;
  t.strictSame(await entriesOf(db, workspaceId), []);
  await read([id]);
  await read([id]);
  db.query = (name: string, ...rest: unknown[]) =>
    name === 'countReveals'
      ? Promise.reject(new Error('away'))
      : (query as (...all: unknown[]) => never)(name, ...rest);
  await reveals.close();
  db.query = query;
  await reveals.close();
  t.match(await entriesOf(db, workspaceId), [{ reads: 2 }]);
});

t.test('what an operator reads of a tenant is in its log, and what the tenant reads is not', async (t) => {
  const { db, workspaceId, call } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await insertOperations(db, id, 3);
  const event = await call('POST', `/v1/connections/${id}/simulated-events`, {
    body: { type: 'message_received', data: { message_body: 'hello' } },
  });
  const { key } = await createOperator(db, 'Grace', null);
  const headers = { 'console-workspace': workspaceId };
  const before = (await entriesOf(db, workspaceId)).length;
  const ids = ((await call('GET', '/v1/operations')).json.operations as { id: string }[]).map((one) => one.id);
  const paths = [
    '/v1/operations?results=false',
    '/v1/operations',
    `/v1/operations/${ids[0]}`,
    `/v1/events/${event.json.id}`,
  ];
  for (const path of paths) t.equal((await call('GET', path)).status, 200);
  t.equal((await entriesOf(db, workspaceId)).length, before, 'of what is its own');
  for (const path of paths) t.equal((await call('GET', path, { key, headers })).status, 200, path);
  const added = (await entriesOf(db, workspaceId)).slice(before);
  t.match(
    added.map(({ action, target_ids }) => [action, target_ids.length]),
    [
      ['operation.reveal', 3],
      ['event.reveal', 1],
    ],
    'without results nothing is shown, and one operation was shown before',
  );
  const listed = (await call('GET', '/v1/audit')).json.entries as { action: string; details: object }[];
  t.match(listed.find(({ action }) => action === 'event.reveal')?.details, { reads: 1 });
});
