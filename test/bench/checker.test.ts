import fc from 'fast-check';
import t from 'tap';
import { check, INVARIANTS } from '../../bench/chaos/checker/check.js';
import { figures } from '../../bench/chaos/checker/figures.js';
import { keptEvidence } from './chaos-evidence.js';
import { PLANTED } from './planted-breaches.js';

const SMALL = { seed: 7, connections: 6, operations: 120 };

t.test('a run that kept every promise has no violation, whatever happened in it', async (t) => {
  const runs = fc.record({
    seed: fc.nat(),
    connections: fc.integer({ min: 1, max: 6 }),
    operations: fc.integer({ min: 0, max: 250 }),
  });
  fc.assert(
    fc.property(runs, (options) => {
      const found = check(keptEvidence(options));
      if (found.length > 0) throw new Error(found.map(({ invariant, what }) => `${invariant}: ${what}`).join('\n'));
    }),
    { numRuns: 60 },
  );
  t.pass();
});

t.test('the evidence of these tests has every kind of operation in it', async (t) => {
  const { submissions, rows, ledger, callbacks, cancels } = keptEvidence(SMALL);
  const statuses = new Set(rows.operations.map(({ status }) => status));
  t.same(statuses, new Set(['succeeded', 'failed', 'canceled', 'outcome_unknown', 'waiting_user']));
  t.ok(
    rows.operations.some(({ attempts }) => attempts.length > 1),
    'taken over',
  );
  t.ok(
    rows.operations.some(({ attempts, created_at }) => (attempts[0]?.started_at ?? 0) - created_at > 100_000),
    'skewed',
  );
  t.ok(
    submissions.some(({ accepted_at }) => accepted_at === null),
    'never answered',
  );
  t.ok(
    submissions.some(({ answers }) => answers.some(({ replayed }) => replayed)),
    'replayed',
  );
  t.ok(submissions.length > rows.operations.length, 'never stored');
  t.ok(ledger.length > 20 && cancels.length > 0, 'written, canceled');
  t.ok(callbacks.length > rows.events.length, 'called back twice');
});

for (const { invariant, when, plant } of PLANTED) {
  t.test(`${invariant} is broken when ${when}`, async (t) => {
    const evidence = keptEvidence(SMALL);
    const named = plant(evidence);
    const found = check(evidence).filter((violation) => violation.invariant === invariant);
    t.ok(
      found.some(({ what }) => what.includes(named)),
      `a violation names ${named}`,
      { found },
    );
    for (const { what } of found) t.notMatch(what, /\n|undefined|NaN/);
  });
}

t.test('every promise has a planted breach', async (t) => {
  t.same(new Set(PLANTED.map(({ invariant }) => invariant)), new Set(Object.keys(INVARIANTS)));
});

t.test('the figures tell what the run was like', async (t) => {
  const evidence = keptEvidence(SMALL);
  const seen = figures(evidence);
  const { operations } = evidence.rows;
  t.equal(seen.operations_by_status.succeeded, operations.filter(({ status }) => status === 'succeeded').length);
  t.ok(seen.unknown_share > 0 && seen.unknown_share < 0.5);
  t.ok(seen.repeated_delivery_share > 0 && seen.repeated_delivery_share < 0.5);
  t.ok(seen.answered_503 > 0 && seen.unanswered > 0);
  t.ok(seen.take_over.operations > 0 && seen.take_over.p50_ms <= seen.take_over.max_ms);
  t.ok(seen.longest_stall_ms < 60_000);
});

t.test('a stall is the longest time without an end while something waits', async (t) => {
  const evidence = keptEvidence({ seed: 1, connections: 0, operations: 0 });
  const base = keptEvidence({ seed: 1, connections: 1, operations: 1 }).rows.operations[0]!;
  const { started_at } = evidence.run;
  const turn = (id: string, accepted: number, ended: number) => {
    const [sent_at, accepted_at] = [started_at + accepted - 1, started_at + accepted];
    const common = { connection_id: 'c', capability: 'social.identity.get' };
    evidence.submissions.push({
      key: id,
      marker: null,
      sent_at,
      accepted_at,
      operation_id: id,
      answers: [],
      ...common,
    });
    const updated_at = started_at + ended;
    evidence.rows.operations.push({ ...base, ...common, id, idempotency_key: id, status: 'succeeded', updated_at });
  };
  evidence.rows.operations = [];
  evidence.submissions = [];
  turn('a', 0, 10);
  turn('b', 5_000, 5_020);
  turn('c', 5_001, 5_900);
  evidence.run.read_at = started_at + 90_000;
  const { longest_stall_ms, longest_stall_at } = figures(evidence);
  t.equal(longest_stall_ms, 880, 'from the end of b to the end of c; nothing waited before b');
  t.equal(longest_stall_at, started_at + 5_020);
});
