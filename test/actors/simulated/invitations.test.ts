import t from 'tap';
import { membersThatAre, selfOf } from '../../../actors/simulated/relationship.js';
import type { InvitationsSentListResult } from '../../../browser-pool/contract/identity.js';
import { network } from './connections.js';

t.test('an invitation becomes pending, and a second one is skipped', async (t) => {
  const { connect, write, get } = await network(t);
  const ada = await connect('ada');
  for (let i = 0; i < 12; i++) {
    const outcome = await write(ada, 'social.invitation.send', {
      recipient_actor_id: `SIM_new-friend-${i}`,
      message: 'hi',
    });
    t.match(outcome, { status: 'succeeded', result: { code: 'INVITATION_SENT' } });
  }
  const again = await write(ada, 'social.invitation.send', { recipient_actor_id: 'SIM_new-friend-3' });
  t.strictSame(again, { status: 'skipped', reason: 'invitation_pending' });
  const seen: string[] = [];
  let start_index: number | null = 0;
  while (start_index !== null) {
    const page: InvitationsSentListResult = await get(ada, 'social.invitations.sent.list', {
      start_index,
      include_total: true,
    });
    t.equal(page.count, page.entries.length);
    seen.push(...page.entries.map((entry) => entry.invitation_id));
    t.equal(page.has_more, page.next_start_index !== null);
    if (!page.has_more) t.equal(page.total, seen.length);
    start_index = page.next_start_index;
  }
  t.ok(seen.length > 20);
  t.equal(new Set(seen).size, seen.length);
  const first = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list');
  t.equal(first.entries[0]?.recipient_actor_id, 'SIM_new-friend-11');
  t.notOk('total' in first);
  const beyond = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list', { start_index: 100000 });
  t.match(beyond, { entries: [], count: 0, has_more: false, next_start_index: null });
});

t.test('those one is connected to or has invited already are not invited', async (t) => {
  const { connect, write } = await network(t);
  const ada = await connect('ada');
  const invite = (recipient_actor_id?: string) => write(ada, 'social.invitation.send', { recipient_actor_id });
  const [connected] = membersThatAre(selfOf('ada'), 'connected');
  const [invited] = membersThatAre(selfOf('ada'), 'invited');
  t.strictSame(await invite(connected?.hashId), { status: 'skipped', reason: 'already_connected' });
  t.strictSame(await invite(invited?.hashId), { status: 'skipped', reason: 'invitation_pending' });
});

t.test('an invitation to another simulated connection is accepted at once', async (t) => {
  const { db, connect, write, get, eventsOf } = await network(t);
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  t.match(await write(ada, 'social.invitation.send', { recipient_actor_id: 'bob' }), { status: 'succeeded' });
  t.match(await eventsOf(ada), [{ type: 'custom_connection_request_accepted', data: { hash_id: 'bob' } }]);
  t.strictSame(await eventsOf(bob), []);
  const again = await write(ada, 'social.invitation.send', { recipient_actor_id: 'bob' });
  t.strictSame(again, { status: 'skipped', reason: 'already_connected' });
  await db.query('testAge', 'delete from event');
  const { entries } = await get<InvitationsSentListResult>(ada, 'social.invitations.sent.list');
  t.notOk(
    entries.some((entry) => entry.recipient_actor_id === 'bob'),
    'it is pending no longer, whatever is erased by its age',
  );
});
