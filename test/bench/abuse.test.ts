import t from 'tap';
import { useOf } from '../../bench/kit/process-use.js';
import { arrivals } from '../../bench/scenarios/abuse/arrivals.js';
import { ATTACKS } from '../../bench/scenarios/abuse/attacks.js';
import { LIMITS } from '../../bench/scenarios/abuse/limits.js';
import { KINDS, type Kind, type KindResult, type Measured } from '../../bench/scenarios/abuse/messages.js';
import { Phase } from '../../bench/scenarios/abuse/phase.js';
import type { Trial } from '../../bench/scenarios/abuse/trial.js';
import { type Bounds, standingOf, verdictOf } from '../../bench/scenarios/abuse/verdict.js';
import { peakMemory } from '../../bench/scenarios/abuse/watch.js';

const BOUNDS: Bounds = { ratio: 2, p99_ms: 50, grown_mib: 512, leaked_mib: 64 };

const result = (p99_ms: number, failed = 0): KindResult => ({ due: 100, failed, p50_ms: 1, p99_ms, max_ms: p99_ms });

function measured(p99_ms: number): Measured {
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, result(p99_ms)])) as Record<Kind, KindResult>;
  return { kinds, stall_ms: p99_ms, late_ms: 1, answers: { '2xx': 400 } };
}

/** One in which everything held. */
function trial(changed: Partial<Trial> = {}): Trial {
  const sample = (mib: number) => ({ rss_kib: mib * 1_024, heap_kib: 50 * 1_024, external_kib: 0, threads: 4 });
  const sessions = { busy: 3, edge: 2, open: 20 };
  return {
    ...{
      attack: 'x',
      means: 'x',
      alone: measured(20),
      under: measured(30),
      handles: 100,
      unexpected: 0,
      healthy: true,
    },
    attacked: { answers: { '2xx': 5, '503': 5 }, waiting: 0, seconds: 1, received_bytes: 0, callbacks: 0, note: '' },
    memory: { before: sample(200), peak_mib: 300, after: sample(210) },
    sessions: { alone: sessions, under: sessions, back_ms: 0 },
    series: { before: 200, after: 210 },
    left: { operations: 0, deliveries: 0, seconds: 1 },
    uncleared: null,
    ...changed,
  };
}

t.test(
  'a latency is held against what it was alone and against milliseconds, and a refusal is no quick answer',
  async (t) => {
    t.equal(standingOf(result(20), result(39), BOUNDS), 'held');
    t.equal(standingOf(result(2), result(40), BOUNDS), 'near', 'many times as long, and still not noticed');
    t.equal(standingOf(result(80), result(120), BOUNDS), 'near', 'a machine that is slow by itself');
    t.equal(standingOf(result(20), result(60), BOUNDS), 'broken');
    t.equal(standingOf(result(20), result(20, 2), BOUNDS), 'broken', 'two in a hundred were refused');
    t.equal(standingOf(result(20), result(20, 1), BOUNDS), 'held', 'one was');
  },
);

t.test('whatever did not hold is found, each by its name', async (t) => {
  t.strictSame(verdictOf(trial(), BOUNDS).breaches, []);
  const { memory, sessions } = trial();
  const broken: [Partial<Trial>, RegExp][] = [
    [{ under: measured(100) }, /p99 of the neighbour's submit is 100 ms, 20 ms alone/],
    [{ unexpected: 1 }, /5xx other than 503: 1 /],
    [{ under: { ...measured(20), answers: { '5xx': 1 } } }, /5xx other than 503: 0 .* 1 with/],
    [{ memory: { ...memory, peak_mib: 900 } }, /grew by 700 MiB/],
    [{ memory: { ...memory, after: { ...memory.after, rss_kib: 400 * 1_024 } } }, /200 MiB stayed/],
    [{ sessions: { ...sessions, back_ms: null } }, /sessions were not back/],
    [{ series: { before: 200, after: -1 } }, /no metrics/],
    [{ healthy: false }, /not healthy/],
    [{ uncleared: 'Error: 503' }, /could not take away .*503/],
    [{ left: { operations: 3, deliveries: 4, seconds: 90 } }, /3 operations.*\n.*4 deliveries/],
  ];
  for (const [change, said] of broken) t.match(verdictOf(trial(change), BOUNDS).breaches.join('\n'), said);
});

t.test('what waits behind a stall counts from when it was due', async (t) => {
  let now = 0;
  const phase = new Phase(() => now);
  now = 10;
  phase.answered(200);
  phase.ended('poll', 5, { status: 200 });
  now = 1_010;
  phase.answered(200);
  phase.ended('poll', 15, { status: 200 });
  phase.answered(503);
  phase.ended('poll', 1_009, { status: 503 });
  now = 3_010;
  phase.unanswered(Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }));
  phase.ended('poll', 1_000, { status: 0, error: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  const { kinds, stall_ms, answers } = phase.end();
  t.match(kinds.poll, { due: 4, failed: 1, p50_ms: 995, max_ms: LIMITS.answer_ms }, 'the refusal has no latency');
  t.equal(stall_ms, 2_000, 'no answer came since the last one');
  t.strictSame(answers, { '2xx': 2, '503': 1, silent: 1 });
});

t.test('work is begun when it is due, however long the work before it takes', async (t) => {
  const due: number[] = [];
  const first = Promise.withResolvers<void>();
  await arrivals(100, 0.05, async (dueAt) => {
    due.push(dueAt);
    if (due.length === 1) await first.promise;
    if (due.length === 5) first.resolve();
  });
  t.equal(due.length, 5);
  t.strictSame(
    due.map((at) => Math.round(at - (due[0] ?? 0))),
    [0, 10, 20, 30, 40],
  );
});

t.test('a peak of memory is known after it has gone', async (t) => {
  const before_mib = useOf(process.pid)?.rss_mib ?? Number.NaN;
  const peak = await peakMemory(process.pid);
  Buffer.alloc(96 * 2 ** 20, 1);
  t.ok((await peak()) > before_mib + 64);
});

t.test('every attack has a name of its own', async (t) => {
  t.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
});
