import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { listAudit } from '../../../storage/audit/entries.js';
import { auditParts, auditUpkeep, dropAuditPart, entriesOfPart, makeAuditParts } from '../../../storage/audit/parts.js';
import { recordReveal } from '../../../storage/audit/reveals.js';
import { createLogger } from '../../../storage/log/log.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertWorkspace } from '../../fixture/rows.js';

/** As a part is called. */
const month = (time: Date) => time.toISOString().slice(0, 7);
const log = createLogger({ level: 'silent', format: 'json' }, {});

/** An entry of a former time, which `audit.entry` puts into its part. */
async function add(db: Database, at: Date): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testEntry',
    `insert into audit.entry (id, at, actor_kind, action) values ($1, $2, 'command_line', 'key.create')`,
    [id, at],
  );
  return id;
}

const names = async (db: Database) => (await auditParts(db)).map(({ name }) => name);

async function idsOf(db: Database, name: string): Promise<string[]> {
  const [part] = await auditParts(db, name);
  const ids: string[] = [];
  for await (const page of entriesOfPart(db, part!)) ids.push(...page.map(({ id }) => id));
  return ids;
}

t.test('a new log has parts for this month and the next two, made once', async (t) => {
  const { db } = await freshDatabase(t);
  const now = new Date();
  const months = [0, 1, 2].map((n) => month(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n))));
  t.strictSame(await names(db), [...months, 'rest']);
  t.strictSame(await makeAuditParts(db), []);
  await db.query('testDrop', `drop table audit.entry_${months[2]!.replace('-', '_')}`);
  t.strictSame(await makeAuditParts(db), [months[2]]);
  const id = await add(db, now);
  t.strictSame(await idsOf(db, months[0]!), [id]);
  for (const [i, { since, until, open }] of (await auditParts(db)).slice(0, 3).entries()) {
    t.equal(month(since!), months[i]);
    t.equal(until!.getTime(), Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + i + 1));
    t.ok(open);
  }
});

t.test('a month whose part is missing is in the rest, and its part is not made any more', async (t) => {
  const { db } = await freshDatabase(t);
  const last = (await names(db)).at(-2)!;
  await db.query('testDrop', `drop table audit.entry_${last.replace('-', '_')}`);
  const id = await add(db, new Date(`${last}-15T00:00:00Z`));
  t.strictSame(await makeAuditParts(db), []);
  t.strictSame(await idsOf(db, 'rest'), [id]);
  t.ok((await auditParts(db, 'rest'))[0]?.open);
});

t.test('nobody changes what is in a part, also not by the name of its table', async (t) => {
  const { db } = await freshDatabase(t);
  await add(db, new Date());
  await add(db, new Date(0));
  for (const { relation } of await auditParts(db)) {
    for (const change of [`update ${relation} set action = 'x'`, `delete from ${relation}`, `truncate ${relation}`]) {
      await t.rejects(db.query(`test ${change}`, change), { code: '42501', message: /append-only/ }, change);
    }
  }
});

t.test('a part is dropped when it is over and has as many entries as was said', async (t) => {
  const { db } = await freshDatabase(t);
  await db.query(
    'testPart',
    `create table audit.entry_2024_02 partition of audit.entry for values from ('2024-02-01Z') to ('2024-03-01Z')`,
  );
  const ids = [await add(db, new Date('2024-02-01T00:00:00Z')), await add(db, new Date('2024-02-29T23:59:59.999Z'))];
  const other = await add(db, new Date('2024-03-01T00:00:00Z'));
  const drop = (name: string, entries: number) => db.transaction((tx) => dropAuditPart(tx, name, entries));
  const [now] = await names(db).then((all) => all.filter((name) => name > '2025' && name !== 'rest'));
  await t.rejects(drop(now!, 0), { code: '55006', message: /may still get entries/ });
  await t.rejects(drop('2024-02', 1), { code: '55000', message: /has 2 entries, not 1/ });
  const unsaid = `select audit.drop_part('2024-02', null)`;
  await t.rejects(db.query('testUnsaid', unsaid), { code: '55000' }, 'no count is none');
  await t.rejects(drop('2024-01', 0), { code: '42P01', message: /no part 2024-01/ });
  t.strictSame(await idsOf(db, '2024-02'), ids);
  await drop('2024-02', 2);
  t.notOk((await names(db)).includes('2024-02'));
  const anything = { workspaceId: null, actorId: null, action: null, targetId: null, since: null, until: null };
  const { entries } = await listAudit(db, anything, null, 10);
  t.strictSame(
    entries.map(({ id }) => id),
    [other],
  );

  await drop('rest', 1);
  t.ok((await names(db)).includes('rest'), 'it is there again, empty');
  await add(db, new Date('2024-03-01T00:00:00Z'));
});

t.test('what was counted of entries that are gone is forgotten', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await db.transaction((tx) =>
    recordReveal(tx, {
      ...{ actor: { kind: 'key', id: null, name: null, address: null }, action: 'operation.reveal_input' },
      ...{ workspaceId, targets: [['operation', uuidv7()]], requestId: null },
    }),
  );
  await db.query(
    'testFormer',
    `insert into audit_reveal select reader, action, gen_random_uuid(), hour - interval '1 month', gen_random_uuid(), 1 from audit_reveal`,
  );
  const hours = () => db.query<{ hour: Date }>('testHours', 'select hour from audit_reveal order by hour');
  const [, newest] = (await hours()).map(({ hour }) => hour);
  const upkeep = auditUpkeep({ db, log });
  upkeep.start();
  t.teardown(() => upkeep.stop());
  await eventually('the former one is forgotten', hours, (rows) => rows.length === 1);
  t.same(await hours(), [{ hour: newest }]);
});
