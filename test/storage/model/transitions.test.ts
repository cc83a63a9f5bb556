import t from 'tap';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../storage/model/records.js';
import {
  ATTEMPT_STEPS,
  acceptance,
  DELIVERY_ATTEMPT_STEPS,
  DELIVERY_STEPS,
  OPERATION_STEPS,
  transition,
} from '../../../storage/model/transitions.js';

t.test('a legal step is the entry of a timeline, and the parts of a statement', async (t) => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  t.strictSame(acceptance(at), { from: null, to: 'queued', reason: 'submitted', at: at.toISOString() });
  t.strictSame(transition('queued', 'running', 'started', at), {
    from: 'queued',
    to: 'running',
    reason: 'started',
    at: at.toISOString(),
  });
  t.strictSame(OPERATION_STEPS.sql('queued', 'running'), { from: "= 'queued'", to: "'running'" });
  t.strictSame(DELIVERY_STEPS.sql(['pending', 'sending'], 'canceled'), {
    from: "in ('pending', 'sending')",
    to: "'canceled'",
  });
  t.equal(DELIVERY_ATTEMPT_STEPS.firstSql, "'sending'");
});

t.test('an illegal step throws, whichever the table', async (t) => {
  const at = new Date();
  t.throws(
    () => transition('succeeded', 'running', 'again', at),
    /operation \(again\): no step from succeeded to running/,
  );
  t.throws(() => OPERATION_STEPS.sql('queued', 'outcome_unknown'), /operation: no step/);
  t.throws(() => ATTEMPT_STEPS.check('abandoned', 'succeeded'), /attempt: no step/);
  t.throws(() => DELIVERY_STEPS.sql(['pending', 'failed'], 'sending'), /delivery: no step from failed to sending/);
  t.throws(() => DELIVERY_ATTEMPT_STEPS.sql('delivered', 'abandoned'), /delivery attempt: no step/);
});

t.test('a delivery leaves every status but delivered and canceled', async (t) => {
  const terminal = DELIVERY_STATUSES.filter((status: DeliveryStatus) => DELIVERY_STEPS.isTerminal(status));
  t.strictSame(terminal, ['delivered', 'canceled']);
});
