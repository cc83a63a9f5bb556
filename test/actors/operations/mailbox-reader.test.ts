import { createHash, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../actors/limits.js';
import { MailboxReader } from '../../../actors/operations/mailbox-reader.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** Two partitions with a connection each, whose operations another node accepts; `statements` are those of the reader. */
async function fixture(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const node = randomUUID();
  await renewLeases(db, node, 60_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const one = await insertSimulated(db, workspaceId, 'one');
  let two = await insertSimulated(db, workspaceId, 'two');
  for (let n = 0; two.partition === one.partition; n++) two = await insertSimulated(db, workspaceId, `two ${n}`);
  const partitionOf = ({ partition }: { partition: number }) => owned.find(({ id }) => id === partition)!;
  const store = async (connection: { id: string; partition: number }, count: number) => {
    const operations = Array.from({ length: count }, () => {
      const id = uuidv7();
      const hash = createHash('sha256').update(id).digest();
      const of = { workspaceId, connectionId: connection.id, partition: connection.partition, idempotencyKey: id };
      const given = { input: '{}', inputSealed: null, acceptedAt: new Date(), capability: 'social.profile.get' };
      return { ...of, ...given, id, keyHash: hash, fingerprint: hash };
    });
    await submitOperations(db, operations, []);
    return operations.map(({ id }) => id);
  };
  const statements: string[] = [];
  const counted: Database = {
    ...db,
    query: (name, text, values) => {
      statements.push(name);
      return db.query(name, text, values);
    },
  };
  const openAndRead = async (reader: MailboxReader, connection: { id: string; partition: number }) => {
    const partition = partitionOf(connection);
    const { due, more } = await reader.open(partition);
    const opened = due.map((one) => ({ ...one, unanswered: null, inHand: [] }));
    return { more, ...(await reader.read(partition.id, opened)) };
  };
  return { db: counted, one, two, store, statements, openAndRead };
}

const idsOf = (mailboxes: { connectionId: string }[]) => mailboxes.map(({ connectionId }) => connectionId);

t.test('what several partitions ask for at once goes into one statement', async (t) => {
  const { db, one, two, store, statements, openAndRead } = await fixture(t);
  const [mine, others] = [await store(one, 2), await store(two, 3)];
  const reader = new MailboxReader(db);
  const [first, second] = await Promise.all([openAndRead(reader, one), openAndRead(reader, two)]);
  t.strictSame(statements, ['openMailboxes', 'readQueued']);
  t.strictSame([idsOf(first.mailboxes), first.queued.map(({ id }) => id), first.more], [[one.id], mine, false]);
  t.strictSame([idsOf(second.mailboxes), second.queued.map(({ id }) => id)], [[two.id], others]);
});

t.test('a long mailbox holds up no other, and a page of a mailbox is no end of it', async (t) => {
  const { db, one, two, store, openAndRead } = await fixture(t);
  const long = await store(one, LIMITS.mailbox_page + 5);
  await store(two, 1);
  const otherRead = Promise.withResolvers<void>();
  const reader = new MailboxReader({
    ...db,
    transaction: async (work) => {
      await otherRead.promise;
      return db.transaction(work);
    },
  });
  const whole = openAndRead(reader, one);
  t.equal((await openAndRead(reader, two)).queued.length, 1, 'while the long one is still to be read');
  otherRead.resolve();
  t.strictSame((await whole).queued.map(({ id }) => id).sort(), long.sort());
});

t.test('the mailboxes of a statement are shared among its partitions: what is left is told', async (t) => {
  const { db, one, two, store, openAndRead } = await fixture(t);
  await store(one, 1);
  await db.query(
    'testCrowd',
    `with crowd as (
       insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
       select gen_random_uuid(), workspace_id, partition, provider, 'person:' || n, actor_kind, n::text, health
       from connection, generate_series(1, $2) n where id = $1 returning id
     )
     insert into pgboss.job_common (id, name, state, data)
     select id, 'mailbox-' || $3::smallint, 'created', jsonb_build_object('from', id, 'new', id) from crowd`,
    [two.id, LIMITS.opened_mailboxes, two.partition],
  );
  const reader = new MailboxReader(db);
  const [, crowded] = await Promise.all([openAndRead(reader, one), openAndRead(reader, two)]);
  t.equal(crowded.mailboxes.length, LIMITS.opened_mailboxes / 2);
  t.equal(crowded.more, true);
  t.equal((await openAndRead(reader, two)).mailboxes.length, LIMITS.opened_mailboxes / 2, 'alone it has all');
  t.equal((await openAndRead(reader, two)).more, false);
});
