import t from 'tap';
import { OverloadSignal } from '../../../../server/http/admission/overload-signal.js';

t.test('what answers is as late as its quickest answer of a period is slower than its best', async (t) => {
  const lateness = new OverloadSignal();
  const period = (...took_ms: number[]) => {
    for (const one of took_ms) lateness.note(one);
    lateness.next(false);
    return lateness.late_ms;
  };
  t.equal(period(5, 90), 0);
  t.equal(period(4, 30), 0);
  t.equal(period(24, 60), 20);
  t.equal(period(), 10, 'nothing was answered: it fades');
  t.equal(period(7), 3);
});

t.test('what got slower for good is taken for its best in time', async (t) => {
  const lateness = new OverloadSignal();
  lateness.note(1);
  lateness.next(false);
  for (let period = 0; period < 5_000; period++) {
    lateness.note(40);
    lateness.next(true);
  }
  t.equal(lateness.late_ms, 0);
});
