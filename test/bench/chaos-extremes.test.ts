import t from 'tap';
import { SeededRandom } from '../../bench/sandbox/data/seeded-random.js';
import {
  drawExtremes,
  extremeLines,
  parseSet,
  patienceWith,
  RECORDS,
  RefusedExtreme,
} from '../../bench/scenarios/chaos/extremes/draw.js';
import { GappedWork } from '../../bench/scenarios/chaos/load/work.js';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

t.test('a seed gives each node the same limits again, other nodes and seeds others', async (t) => {
  t.same(drawExtremes(7, 3), drawExtremes(7, 3));
  t.same(drawExtremes(7, 3).slice(0, 2), drawExtremes(7, 2), 'whatever other nodes there are');
  t.notSame(drawExtremes(7, 3), drawExtremes(8, 3));
  const [one, other] = drawExtremes(7, 2);
  t.notSame(one, other);
});

for (const [module, { drawn, kept, usual }] of Object.entries(RECORDS)) {
  t.test(`every limit of ${module} has a record: it is drawn, or a reason says why not`, async (t) => {
    const known = [...Object.keys(drawn), ...Object.keys(kept)];
    t.same(
      known.toSorted(),
      Object.keys(usual).toSorted(),
      'a new limit goes into bench/scenarios/chaos/extremes, under one of them',
    );
    t.equal(new Set(known).size, known.length, 'under one of them alone');
    for (const [name, why] of Object.entries(kept)) t.ok(why.length > 10, name);
  });

  t.test(`what is drawn of ${module} is within its record, and over all seeds as far as it goes`, async (t) => {
    const all = SEEDS.flatMap((seed) => drawExtremes(seed, 1));
    for (const [name, { from, to, always }] of Object.entries(drawn)) {
      const values = all.flatMap(({ limits }) => limits[`${module}.${name}`] ?? []);
      t.ok(
        values.every((value) => Number.isInteger(value) && value >= from && value <= to),
        name,
      );
      t.ok(always ? values.length === all.length : values.length < all.length, `${name} may be usual`);
      t.ok(new Set(values).size > Math.min(2, to - from), `${name} varies`);
    }
  });
}

t.test('whatever is drawn, everything can get on', async (t) => {
  for (const seed of SEEDS) t.doesNotThrow(() => drawExtremes(seed, 3));
  for (const { limits } of SEEDS.flatMap((seed) => drawExtremes(seed, 1))) {
    const { 'actors.poll_ms': poll = 1_000, 'actors.silent_thread_ms': silent = 15_000 } = limits;
    t.ok(silent >= 3 * poll);
  }
});

t.test('what every node is given is beside what it draws', async (t) => {
  const [drawn] = drawExtremes(7, 1);
  const [given] = drawExtremes(7, 1, parseSet('actors.mailbox_ended=3, storage.announcement_rows=1'));
  t.same(given?.limits, { ...drawn?.limits, 'actors.mailbox_ended': 3, 'storage.announcement_rows': 1 });
});

t.test('an extreme that lets nothing get on is refused by name', async (t) => {
  const refused: [set: string, line: RegExp][] = [
    ['actors.poll_ms=60000', /^actors\.poll_ms=60000: it may be 5 to 30000: what a lost hint held up waits for it/],
    [
      'actors.poll_ms=30000,actors.silent_thread_ms=15000',
      /^actors\.silent_thread_ms=15000: .* 90000 at least, else a thread/,
    ],
    [
      'actors.lease_ms=4000,actors.lease_margin_ms=2000,actors.renew_ms=2000',
      /^actors\.lease_ms=4000: .* 7000 at least/,
    ],
    [
      'storage.thread_statement_ms=200,storage.statement_margin_ms=250',
      /^storage\.statement_margin_ms=250: .* 40 at most/,
    ],
    ['storage.thread_statement_ms=1', /^storage\.thread_statement_ms=1: it may be 200 to 5000/],
    ['actors.restarts_per_minute=1', /^actors\.restarts_per_minute: it keeps its usual value: faults crash threads/],
    ['actors.nothing=1', /^actors\.nothing: there is no such limit/],
    ['poll_ms=5', /^poll_ms=5: a limit is set as actors\.poll_ms=5/],
  ];
  for (const [set, line] of refused)
    t.throws(() => drawExtremes(7, 1, parseSet(set)), { name: 'RefusedExtreme', message: line });
  t.ok(new RefusedExtreme('') instanceof Error);
});

t.test('work with gaps comes back to a connection soon, and gives it no two long operations in a row', async (t) => {
  const connections = Array.from({ length: 60 }, (_, number) => ({ connection_id: `${number}`, actor: `a${number}` }));
  const made = () => {
    const work = new GappedWork(new SeededRandom('work', 7), connections, 10);
    return Array.from({ length: 2_000 }, (_, number) => work.next(number));
  };
  const all = made();
  t.same(all, made(), 'the same for the same seed');
  const soon = all.filter(({ connection_id }, i) =>
    all.slice(Math.max(0, i - 12), i).some((one) => one.connection_id === connection_id),
  );
  t.ok(soon.length > 1_000 && soon.length < 1_900, `${soon.length} come back soon`);
  const long = all.flatMap(({ connection_id, input }, number) =>
    JSON.stringify(input).includes('much later') ? [{ connection_id, number }] : [],
  );
  t.ok(long.length > 200, `${long.length} long ones`);
  for (const [connection, of] of Object.entries(Object.groupBy(long, ({ connection_id }) => connection_id))) {
    const gaps = (of ?? []).slice(1).map(({ number }, i) => number - (of?.[i]?.number ?? 0));
    t.ok(
      gaps.every((gap) => gap > 120),
      `connection ${connection} has 12 s between them`,
    );
  }
});

t.test('the checker waits for what the slowest node may take', async (t) => {
  t.equal(patienceWith([]), 0);
  const slow = { ids_off_ms: 0, limits: { 'actors.poll_ms': 30_000, 'actors.lease_ms': 20_000 } };
  t.equal(patienceWith([{ ids_off_ms: 0, limits: { 'actors.poll_ms': 5 } }, slow]), 72_000);
});

t.test('the report has a line a module of each node', async (t) => {
  const lines = extremeLines([{ ids_off_ms: -3_000, limits: { 'actors.poll_ms': 5, 'storage.announcement_rows': 1 } }]);
  t.same(lines, [
    'node 0: its ids are 3000 ms behind',
    '  actors: poll_ms 5',
    '  deliveries: ',
    '  storage: announcement_rows 1',
  ]);
});
