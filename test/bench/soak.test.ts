import t from 'tap';
import { Latencies, type Latency } from '../../bench/kit/latencies.js';
import { type Ending, leftOf } from '../../bench/scenarios/soak/ending.js';
import type { QuarterLatencies } from '../../bench/scenarios/soak/messages.js';
import type { Sample } from '../../bench/scenarios/soak/samples.js';
import { creepOf, verdictOf, verdictsOf } from '../../bench/scenarios/soak/verdicts.js';

const MIB = 1_024 * 1_024;
const SECONDS = 1_200;
const TIMES = Array.from({ length: SECONDS / 5 }, (_, place) => place * 5);

const points = (valueAt: (at: number) => number, times = TIMES) => times.map((at) => ({ at, value: valueAt(at) }));

/** A saw, as a heap is between two collections. */
const saw = (at: number) => (at % 35) * 2;

function sample(at: number, changed: Partial<Sample> = {}): Sample {
  const table = (name: string, live: number, bytes: number) => {
    return { name, live, dead: live / 10, table_bytes: bytes, index_bytes: bytes / 2 };
  };
  return {
    ...{ at, rss_mib: 400 + saw(at), browser_mib: 300, handles: 90, clients: 100, database_connections: 20, pools: {} },
    ...{ contexts: 4, pages: 4, listeners: 4, waiting: saw(at), orphans: 0, ended: at * 500, answer_ms: 3 },
    tables: [
      table('operation', 10_000 + at * 500, (10_000 + at * 500) * 900),
      table('pgboss.job_common', 100, 40 * MIB + (at % 60) * MIB * 0.05),
      table('partition', 64, 65_536),
    ],
    ...changed,
  };
}

const grown = (samples: Sample[]) => verdictsOf(samples).flatMap(({ measure, level }) => (level ? [] : [measure]));

/** The samples with one table's bytes multiplied, as time goes on. */
const bloated = (name: string, factorAt: (at: number) => number) =>
  TIMES.map((at) => {
    const usual = sample(at);
    const tables = usual.tables.map((one) =>
      one.name === name ? { ...one, table_bytes: one.table_bytes * factorAt(at) } : one,
    );
    return { ...usual, tables };
  });

t.test('what goes up and down, or warms up first, is level', async (t) => {
  t.strictSame(grown(TIMES.map((at) => sample(at))), []);
  const warming = TIMES.map((at) => sample(at, { rss_mib: 200 + Math.min(at, SECONDS / 3) }));
  t.strictSame(grown(warming), []);
});

t.test('what goes on growing is found, each by its name', async (t) => {
  const leaks: [Partial<Record<keyof Sample, number>>, string][] = [
    [{ rss_mib: 1 }, 'memory (MiB)'],
    [{ handles: 0.1 }, 'handles'],
    [{ database_connections: 0.02 }, 'connections'],
    [{ contexts: 0.01 }, 'contexts'],
    [{ waiting: 5 }, 'waiting'],
  ];
  for (const [leak, measure] of leaks) {
    const [[name, a_second]] = Object.entries(leak) as [[keyof Sample, number]];
    const leaking = TIMES.map((at) => sample(at, { [name]: 10 + at * a_second }));
    t.strictSame(grown(leaking), [measure]);
  }
});

t.test('a table that bloats is found, whether its rows stay or come', async (t) => {
  t.strictSame(grown(bloated('pgboss.job_common', (at) => 1 + at / 600)), ['pgboss.job_common: table (MiB)']);
  t.strictSame(grown(bloated('operation', (at) => 1 + at / 600)), ['operation: bytes a row']);
  const dying = TIMES.map((at) => {
    const usual = sample(at);
    return { ...usual, tables: usual.tables.map((one) => ({ ...one, dead: one.live * 2 })) };
  });
  t.strictSame(grown(dying), ['operation: dead (%)']);
});

t.test('a table that nobody has named as one that grows must not', async (t) => {
  const samples = TIMES.map((at) => {
    const usual = sample(at);
    const table = { name: 'a_new_one', live: at, dead: 0, table_bytes: at * 50_000, index_bytes: 0 };
    return { ...usual, tables: [...usual.tables, table] };
  });
  t.strictSame(grown(samples), ['a_new_one: table (MiB)']);
});

t.test('of a short run nothing is judged', async (t) => {
  const times = TIMES.filter((at) => at <= 120);
  const { level, first, last } = verdictOf(
    'x',
    points((at) => at * 100, times),
    1,
  );
  t.equal(level, undefined);
  t.ok(first < last, 'its medians are there');
});

t.test('latencies are counted in a memory that does not grow, and creeping ones are found', async (t) => {
  const latencies = new Latencies();
  for (let i = 1; i <= 1_000; i++) latencies.record(i);
  const { count, p50_ms, p99_ms } = latencies.summary;
  t.equal(count, 1_000);
  t.ok(Math.abs(p50_ms - 500) < 10 && Math.abs(p99_ms - 990) < 10, `${p50_ms} and ${p99_ms}`);
  t.same(new Latencies().summary.count, 0);

  const quarter = (ended: Partial<Latency>): QuarterLatencies => {
    const usual = { count: 9, p50_ms: 20, p99_ms: 100, max_ms: 300 };
    return { accepted: usual, ended: { ...usual, ...ended }, socialEnded: usual };
  };
  t.strictSame(creepOf([quarter({}), quarter({}), quarter({}), quarter({ p50_ms: 60 })]), []);
  t.strictSame(creepOf([quarter({}), quarter({}), quarter({}), quarter({ p50_ms: 80 })]), [
    'ended p50 crept from 20.0 ms in the first quarter to 80.0 ms in the last',
  ]);
});

t.test('what has not ended, ended badly or is left is found', async (t) => {
  const done: Ending = {
    ...{ jobs: 0, running: 0, seconds: 1 },
    ...{ operations: { succeeded: 9 }, deliveries: { delivered: 4 } },
  };
  t.strictSame(leftOf(done, 4), []);
  t.strictSame(leftOf({ ...done, jobs: 2, running: 1 }, 4), [
    '2 jobs are left in the queues',
    '1 connections are still held by an operation',
  ]);
  t.strictSame(leftOf({ ...done, operations: { succeeded: 7, running: 1, failed: 1 } }, 4), [
    '1 operations are still running',
    '1 operations ended failed',
  ]);
  t.strictSame(leftOf({ ...done, deliveries: { delivered: 4, pending: 1 } }, 3), [
    '1 deliveries are still pending',
    '4 deliveries are delivered, and only 3 callbacks came',
  ]);
});
