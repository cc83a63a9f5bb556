import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { jobIds } from '../../fixture/jobs.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { linkedNode } from './node-fixture.js';

t.test('what a node of the version before stores while this one runs is run at a poll', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const { id, partition } = await insertSimulated(db, workspaceId, 'ada');
  const { read } = await linkedNode(t, url, 1);
  t.equal(await read(workspaceId, id, 'known'), true, 'the partition is owned, and its mailbox was opened');
  await db.query(
    'testFormerStores',
    `with stored as (
       insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
       values ($4, $1, $2, $3, 'social.identity.get', 'queued', 'former', '', '{}') returning id
     )
     insert into pgboss.job_common (id, name) select id, 'operation-' || $3::smallint from stored`,
    [workspaceId, id, partition, uuidv7()],
  );
  await eventually(
    'it has ended',
    () => db.query<{ status: string }>('testStatus', `select status from operation where idempotency_key = 'former'`),
    ([row]) => row?.status === 'succeeded',
  );
  t.strictSame(await jobIds(db, 'operation'), []);
});
