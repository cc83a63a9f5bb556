import t from 'tap';
import { SubscriptionQuota } from '../../../../actors/deliveries/schedule/subscription-quota.js';

t.test('a workspace is full at its share, until it is well below', async (t) => {
  let rooms = 0;
  const holds = new SubscriptionQuota(100, () => rooms++);
  for (let i = 0; i < 99; i++) holds.add('one');
  holds.add('other');
  t.strictSame(holds.full, []);
  t.notOk(holds.roomy('one'));
  t.ok(holds.roomy('other'));
  holds.add('one');
  t.strictSame(holds.full, ['one']);
  for (let i = 0; i < 9; i++) holds.remove('one');
  t.strictSame(holds.full, ['one'], 'one that leaves is no reason to fetch again');
  t.equal(rooms, 0);
  holds.remove('one');
  t.strictSame(holds.full, []);
  t.equal(rooms, 1);
  for (let i = 0; i < 90; i++) holds.remove('one');
  t.equal(rooms, 1);
  t.ok(holds.roomy('one'));
});
