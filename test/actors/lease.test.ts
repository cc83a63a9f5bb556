import t from 'tap';
import { LeaseCell } from '../../actors/lease.js';
import { permits } from '../../browser-pool/send-permission.js';

t.test('a lease counts until its bound, on every thread that shares the cell', async (t) => {
  const cell = new LeaseCell();
  t.notOk(cell.valid(7), 'nothing was renewed yet');
  t.equal(cell.permission(7), undefined);
  const started = LeaseCell.now();
  cell.renewed(started, 60_000, [7]);
  const elsewhere = new LeaseCell(cell.shared);
  t.ok(elsewhere.valid(7));
  const permission = elsewhere.permission(7);
  t.same(permission, { until_ns: started.ns + 60_000_000_000n, until_ms: started.ms + 60_000 });
  t.ok(permission && permits(permission));
  cell.renewed(started, -1, [7]);
  t.notOk(elsewhere.valid(7));
});

t.test('a machine that slept has run out of its lease, though its monotonic clock stood still', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns, ms: ms - 10_000 }, 6_000, [7]); // ten seconds went by on the wall clock alone
  t.notOk(cell.valid(7));
  t.equal(cell.permission(7), undefined);
});

t.test('a wall clock that was set back does not lengthen a lease', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns: ns - 10_000_000_000n, ms: ms + 3_600_000 }, 6_000, [7]);
  t.notOk(cell.valid(7));
});

t.test('a later renewal does not extend a permission that was given out', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns, ms }, 60_000, [7]);
  const permission = { until_ns: ns, until_ms: ms };
  t.ok(cell.valid(7));
  t.notOk(permits(permission));
});
