import t from 'tap';
import { LeaseCell } from '../../actors/lease.js';

t.test('a lease counts until its bound, on every thread that shares the cell', async (t) => {
  const cell = new LeaseCell();
  t.notOk(cell.valid, 'nothing was renewed yet');
  t.equal(cell.permission(), undefined);
  const started = LeaseCell.now();
  cell.renewed(started, 60_000);
  const elsewhere = new LeaseCell(cell.shared);
  t.ok(elsewhere.valid);
  const permission = elsewhere.permission();
  t.same(permission, { until_ns: started.ns + 60_000_000_000n, until_ms: started.ms + 60_000 });
  t.ok(permission && elsewhere.permits(permission));
  cell.renewed(started, -1);
  t.notOk(elsewhere.valid);
});

t.test('a machine that slept has run out of its lease, though its monotonic clock stood still', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns, ms: ms - 10_000 }, 6_000); // ten seconds went by on the wall clock alone
  t.notOk(cell.valid);
  t.equal(cell.permission(), undefined);
});

t.test('a wall clock that was set back does not lengthen a lease', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns: ns - 10_000_000_000n, ms: ms + 3_600_000 }, 6_000);
  t.notOk(cell.valid);
});

t.test('a later renewal does not extend a permission that was given out', async (t) => {
  const cell = new LeaseCell();
  const { ns, ms } = LeaseCell.now();
  cell.renewed({ ns, ms }, 60_000);
  const permission = { until_ns: ns, until_ms: ms };
  t.ok(cell.valid);
  t.notOk(cell.permits(permission));
});
