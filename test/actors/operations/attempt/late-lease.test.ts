import t from 'tap';
import { LeaseCell } from '../../../../actors/lease.js';
import { operationsThread } from '../thread.js';

const ENOUGH_ms = 600_000;

/** "It starts nothing in the last 2 s of a lease" (OPS-23): the lease counts when an attempt begins, not when its row was asked. */
for (const { how, statement } of [
  { how: 'stored as running', statement: 'submitOperations' },
  { how: 'started by a statement', statement: 'startOperations' },
]) {
  t.test(`a read whose start was answered after the lease ran out is not begun: ${how}`, async (t) => {
    const begun: boolean[] = [];
    const { lease, thread, partition, submit, storeElsewhere, ended, context } = await operationsThread(t, async () => {
      begun.push(lease.valid(partition.id));
      return { status: 'succeeded', result: {} };
    });
    const waits = Promise.withResolvers<void>();
    const query = thread.query;
    let late = true;
    thread.query = async (name, ...rest) => {
      const rows = await query<never>(name, ...rest);
      if (name === statement && late) {
        late = false;
        lease.renewed(LeaseCell.now(), 0, [partition.id]); // another node may own the partition by now
        context.onActorState = (_, kind) => kind === 'starting' && waits.resolve();
      }
      return rows;
    };
    if (statement === 'submitOperations') await submit('one');
    else {
      await storeElsewhere('one');
      void partition.fetch();
    }
    await Promise.race([waits.promise, ended('one')]);
    t.strictSame(begun, [], 'it waits for the lease');
    lease.renewed(LeaseCell.now(), ENOUGH_ms, [partition.id]);
    t.match(await ended('one'), { status: 'succeeded', attempts: { length: 1 } });
    t.strictSame(begun, [true]);
  });
}
