import t from 'tap';
import { eventually } from '../../../fixture/eventually.js';
import { operationsThread } from '../thread.js';

/** The database comes back without its last commits: a standby that was behind is promoted, a server had `synchronous_commit` off. */
t.test('a write that this node knows to be past its boundary is not made again', async (t) => {
  const sent: string[] = [];
  const { db, submit, ended } = await operationsThread(t, async (execution) => {
    await execution.boundary();
    sent.push(execution.operationId);
    if (sent.length === 1) {
      await db.query(
        'testLostCommits',
        `update operation set status = 'queued', epoch = null, attempts = '[]', timeline = jsonb_build_array(timeline -> 0)
         where id = $1`,
        [execution.operationId],
      );
    }
    return { status: 'succeeded', result: {} };
  });
  await submit('one', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' });
  await eventually(
    'it was sent',
    () => sent.length,
    (count) => count > 0,
  );
  const operation = await ended('one');
  t.equal(sent.length, 1, 'sent once');
  t.equal(operation?.status, 'outcome_unknown');
});
