import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { check, INVARIANTS } from '../../bench/scenarios/chaos/checker/check.js';
import { type FaultFamily, familyOf } from '../../bench/scenarios/chaos/checker/faults.js';
import { figures } from '../../bench/scenarios/chaos/checker/figures.js';
import { LIMITS as CLOCKS } from '../../bench/scenarios/chaos/checker/limits.js';
import { findWrites } from '../../bench/scenarios/chaos/checker/markers.js';
import type { Evidence } from '../../bench/scenarios/chaos/evidence.js';
import { partitionOf } from '../../storage/model/records.js';
import { sized } from '../fixture/size.js';
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

/** The invariants that evidence breaks, each once. */
const broken = (evidence: Evidence) => [...new Set(check(evidence).map(({ invariant }) => invariant))];

/** The only write of an operation whose message the network has. */
function someWrite({ rows, ledger, submissions }: Evidence) {
  for (const row of rows.operations) {
    const { marker } = submissions.find(({ key }) => key === row.idempotency_key)!;
    const write = marker !== null && row.status === 'succeeded' && ledger.find(({ text }) => text.includes(marker));
    if (write) return { row, write };
  }
  throw new Error('nothing was written');
}

t.test('a write that the network itself kept for a while may come after the end', async (t) => {
  const evidence = keptEvidence({ seed: 3, connections: 1, operations: 12 });
  const { row, write } = someWrite(evidence);
  write.at = row.updated_at + 3_000;
  t.ok(broken(evidence).includes('noWriteAfterTheEnd'));
  const delayed = {
    kind: 'network_delay',
    target: row.connection_id,
    from: row.updated_at - 10,
    to: row.updated_at + 10,
  };
  t.same(broken({ ...evidence, run: { ...evidence.run, faults: [...evidence.run.faults, delayed] } }), []);
  const other = { ...delayed, target: evidence.rows.listeners[0]!.connection_id };
  evidence.submissions.push({
    ...evidence.submissions[0]!,
    key: 'other',
    marker: null,
    connection_id: other.target,
    answers: [],
    operation_id: null,
  });
  evidence.run.faults.push(other);
  t.ok(broken(evidence).includes('noWriteAfterTheEnd'), "another account's delay explains nothing");
  write.received_at = row.updated_at - 1;
  t.same(broken(evidence), [], 'nor is it late when the network says when it came');
});

t.test('what ended in time is judged by its acceptance where that was later than the last fault', async (t) => {
  const evidence = keptEvidence({ seed: 3, connections: 1, operations: 12 });
  const { row } = someWrite(evidence);
  evidence.run.calm_at = row.updated_at - 40_000;
  const late = broken(evidence);
  t.notOk(late.includes('everyOperationEnds'), late.join());
});

t.test('what was under way when the rows were read is no breach', async (t) => {
  const evidence = keptEvidence({ seed: 5, connections: 2, operations: 30 });
  const { rows, run, callbacks, submissions } = evidence;
  rows.read_at = run.read_at - 5_000;
  callbacks.push({ ...callbacks[0]!, delivery_id: 'recorded later', event_id: 'later', at: rows.read_at });
  const event = { ...rows.events[0]!, id: 'young', received_at: rows.read_at - 9_000, provider_event_id: 'stream' };
  rows.events.push(event);
  for (const subscription of rows.subscriptions) {
    if (subscription.connection_id !== event.connection_id) continue;
    const id = `young ${subscription.id}`;
    const queue = `delivery-${partitionOf(event.connection_id)}`;
    if (subscription.event_types[0] === event.type && subscription.active) {
      rows.deliveries.push({ id, subscription_id: subscription.id, event_id: event.id, status: 'sending' });
    }
    rows.jobs = rows.jobs.filter((job) => job.id !== subscription.id);
    rows.jobs.push({ queue, id: subscription.id, state: 'active' });
  }
  const accepted_at = rows.read_at - 3_000;
  run.calm_at = accepted_at - 1;
  const key = 'late key';
  submissions.push({
    ...submissions[0]!,
    key,
    marker: null,
    accepted_at,
    sent_at: accepted_at,
    operation_id: key,
    answers: [],
  });
  const { connection_id, capability } = submissions[0]!;
  const timeline = [{ from: null, to: 'queued', reason: 'submitted', at: accepted_at }];
  const late = { id: key, connection_id, capability, status: 'queued', idempotency_key: key, attempts: [], timeline };
  rows.operations.push({
    ...rows.operations[0]!,
    ...late,
    error_code: null,
    evidence_fault: null,
    updated_at: accepted_at,
  });
  rows.jobs = rows.jobs.filter((job) => job.id !== connection_id);
  rows.jobs.push({ queue: `mailbox-${partitionOf(connection_id)}`, id: connection_id, state: 'active', from: key });
  t.same(check(evidence), []);
});

t.test('an unknown outcome without evidence is found', async (t) => {
  const evidence = keptEvidence({ seed: 5, connections: 4, operations: 60 });
  const unknown = evidence.rows.operations.filter(({ status }) => status === 'outcome_unknown');
  t.ok(unknown.length > 0);
  for (const row of unknown) row.evidence_fault = null;
  t.equal(check(evidence).filter(({ invariant }) => invariant === 'endIsWhole').length, unknown.length);
});

t.test('a dead receiver excuses its own deliveries alone', async (t) => {
  const evidence = keptEvidence({ seed: 5, connections: 2, operations: 30 });
  const { started_at: from, read_at: to } = evidence.run;
  const delivery = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
  evidence.callbacks = evidence.callbacks.filter(({ delivery_id }) => delivery_id !== delivery.id);
  for (const subscription of evidence.rows.subscriptions) {
    if (subscription.id !== delivery.subscription_id) subscription.callback_url = 'https://127.0.0.2:99/in';
  }
  for (const callback of evidence.callbacks) callback.receiver = 'https://127.0.0.2:99';
  evidence.rows.subscriptions.find(({ id }) => id === delivery.subscription_id)!.callback_url =
    'https://127.0.0.2:11/in';
  delivery.status = 'failed';
  const dead = (target: string) => {
    evidence.run.faults = evidence.run.faults.map((fault) => ({ ...fault, kind: 'node_killed', target: 'node 0' }));
    evidence.run.faults.push({ kind: 'receiver_killed', target, from, to });
    return check(evidence).some(({ what }) => what.includes(delivery.id));
  };
  t.equal(dead('https://127.0.0.2:99'), true);
  t.equal(dead('https://127.0.0.2:11'), false);
  t.equal(dead('all of them'), false);
});

t.test('the name of a fault tells what it hits', async (t) => {
  const kinds: Record<FaultFamily, string[]> = {
    node: ['node_killed', 'node_ended', 'node_paused_below_lease', 'node_paused_beyond_lease', 'SIGKILL'],
    thread: ['thread_crashed', 'thread_paused'],
    browser: ['browser_killed', 'browser_paused'],
    database: ['database_killed', 'backends_terminated'],
    disk: ['database_disk_full'],
    link: ['link_cut', 'link_stalled_up', 'link_stalled_down', 'link_stalled_both', 'link_deaf'],
    provider: [
      'error',
      'error_after_commit',
      'delay',
      'drop_before_commit',
      'drop_after_commit',
      'hang',
      'malformed',
      'logged_out',
    ].map((mode) => `network_${mode}`),
    receiver: ['receiver_killed', 'receiver_late', 'receiver_refusing'],
    clock: ['clock_off'],
    other: [],
  };
  for (const [family, names] of Object.entries(kinds)) {
    for (const kind of names) t.equal(familyOf({ kind, target: 'node 1', from: 0, to: 0 }), family, kind);
  }
  t.equal(familyOf({ kind: 'moon', target: 'sun', from: 0, to: 0 }), 'other');
});

/** Operations of one connection at these times, which no fault has touched. */
function turns(
  times: { sent: number; stored: number; answered: number | null; begun: number; lasted: number }[],
): Evidence {
  const evidence = keptEvidence({ seed: 2, connections: 1, operations: 1 });
  const row = evidence.rows.operations[0]!;
  const base = evidence.run.started_at;
  evidence.run.faults = [];
  evidence.samples = [];
  evidence.submissions = times.map(({ sent, answered }, i) => ({
    ...evidence.submissions[0]!,
    key: `key ${i}`,
    marker: null,
    sent_at: base + sent,
    accepted_at: answered === null ? null : base + sent + answered,
    answers: [],
    operation_id: null,
  }));
  evidence.rows.operations = times.map(({ sent, stored, begun, lasted }, i) => {
    const [started_at, completed_at] = [base + begun, base + begun + lasted];
    const attempt = { id: `${i}`, number: 1, status: 'succeeded', phase: 'done', started_at, completed_at };
    return {
      ...row,
      id: `${i}`,
      idempotency_key: `key ${i}`,
      status: 'succeeded',
      created_at: base + sent + stored,
      updated_at: completed_at,
      attempts: [attempt],
    };
  });
  return evidence;
}

t.test('an order is broken exactly when two submissions are, looked at in pairs', async (t) => {
  const small = fc.integer({ min: 0, max: 12 });
  const time = fc.record({
    sent: small,
    stored: small,
    answered: fc.option(small),
    begun: small,
    lasted: fc.integer({ min: 0, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(time, { maxLength: 9 }), (times) => {
      const pairs = times.flatMap((one) =>
        times.filter((other) => other !== one).map((other) => [one, other] as const),
      );
      const over = ({ begun, lasted }: (typeof times)[number]) => begun + lasted;
      const asked = ({ sent, stored }: (typeof times)[number]) => sent + Math.max(0, stored - CLOCKS.same_clock_ms);
      const outOfOrder = pairs.some(
        ([one, other]) => one.answered !== null && one.sent + one.answered < asked(other) && over(one) > over(other),
      );
      // Of two that begin at once, the shorter may have been the first.
      const together = pairs.some(
        ([one, other]) =>
          (one.begun < other.begun || (one.begun === other.begun && over(one) <= over(other))) &&
          over(one) - CLOCKS.same_clock_ms > other.begun,
      );
      const found = broken(turns(times));
      return found.includes('ranInOrder') === outOfOrder && found.includes('oneRunsAtATime') === together;
    }),
    { numRuns: sized(100, 500) },
  );
  t.pass();
});

t.test('the submission of a write is the one whose marker its text holds', async (t) => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { maxLength: 6 }),
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 8 })),
      (markers, texts) => {
        const submissions = markers.map((marker, i) => ({
          ...turns([{ sent: 0, stored: 0, answered: 0, begun: 0, lasted: 0 }]).submissions[0]!,
          key: `${i}`,
          marker,
        }));
        const { byKey, unasked } = findWrites(
          submissions,
          texts.map((text) => ({ account: 'a', kind: 'message', text, at: 0 })),
        );
        const found = [...byKey].flatMap(([key, writes]) =>
          writes.map(({ text }) => ({ text, marker: markers[Number(key)]! })),
        );
        const longest = (text: string) =>
          Math.max(...markers.filter((one) => text.includes(one)).map((one) => one.length));
        return (
          found.length + unasked.length === texts.length &&
          found.every(({ text, marker }) => text.includes(marker) && marker.length === longest(text)) &&
          unasked.every(({ text }) => markers.every((marker) => !text.includes(marker)))
        );
      },
    ),
  );
  t.pass();
});

t.test('kept evidence is judged again by a program, which also tells what is known of an operation', async (t) => {
  const evidence = keptEvidence({ seed: 4, connections: 2, operations: 20 });
  const { row, write } = someWrite(evidence);
  const folder = t.testdir({ 'kept.json': JSON.stringify(evidence) });
  const recheck = (name: string, ...ids: string[]) => {
    const program = join(import.meta.dirname, '../../bench/scenarios/chaos/checker/recheck.js');
    return spawnSync(process.execPath, [program, join(folder, name), ...ids], { encoding: 'utf8' });
  };
  const kept = recheck('kept.json');
  t.equal(kept.status, 0, kept.stderr);
  t.equal(JSON.parse(kept.stdout).accepted, figures(evidence).accepted);
  const story = recheck('kept.json', row.id).stdout;
  const { started_at } = evidence.run;
  for (const told of [row.id, 'succeeded', `written at ${write.at - started_at}`, `attempt 1 from`, 'answered at']) {
    t.ok(story.includes(told), told);
  }
  row.status = 'failed';
  row.error_code = 'internal_error';
  writeFileSync(join(folder, 'broken.json'), JSON.stringify(evidence));
  const broke = recheck('broken.json');
  t.equal(broke.status, 1);
  t.match(broke.stdout, `neverInternalError: operation ${row.id}`);
  t.match(broke.stdout, `written at ${write.at - started_at}`, 'what is known of it goes with it');
});

t.test('a node whose clock became wrong while it stored an end is not blamed for the time it noted', async (t) => {
  const overlap = (clockWrongAt: number) => {
    const evidence = turns([
      { sent: 0, stored: 1, answered: 2, begun: 10, lasted: 90 },
      { sent: 50_000, stored: 1, answered: 2, begun: 50_010, lasted: 10 },
    ]);
    const [first] = evidence.rows.operations;
    first!.attempts[0]!.completed_at! += 170_000; // its row has the time at which its transaction began
    const from = evidence.run.started_at + clockWrongAt;
    evidence.run.faults = [{ kind: 'clock_off', target: 'node 0', from, to: from + 8_000 }];
    return check(evidence).filter(({ invariant }) => invariant === 'oneRunsAtATime').length;
  };
  t.equal(overlap(112), 0);
  t.equal(overlap(5_000), 1);
});
