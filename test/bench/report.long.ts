import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parseStat, processorOf } from '../../bench/kit/cost/cpu.js';
import { mapParts, type Part } from '../../bench/kit/cost/parts.js';
import { pageOf } from '../../bench/kit/page/page.js';
import { reportOf } from '../../bench/kit/report.js';
import { median, quantile, spreadOf } from '../../bench/kit/spread.js';
import { type Round, roundPlots, summaryLines, summaryOf } from '../../bench/load/rounds.js';
import { kindsOf } from '../../bench/scenarios/mix.js';
import { bottleneckOf } from '../../bench/scenarios/nodes/bottleneck.js';
import { kneeOf } from '../../bench/scenarios/tune/knee.js';
import { allOf } from '../fixture/all-of.js';

const BENCH = join(import.meta.dirname, '../../bench/main.js');

/** Each part takes so many microseconds an operation, one after the other. */
function round(operations: number, seconds: number, us: number): Round {
  let place = 0;
  const cpu_ms = mapParts(() => (us * ++place * operations) / 1_000);
  return {
    operations,
    seconds,
    usage: {
      seconds,
      cpu_ms,
      others_ms: 0,
      wal_bytes: operations * 500,
      samples: [{ at: 0.5, cores: mapParts(() => 0.25) }],
    },
    latency: {
      count: operations,
      p50_ms: us / 10,
      p99_ms: us,
      max_ms: us * 2,
      distribution: [
        [0.5, 1],
        [1, 2],
      ],
    },
    timeline: [{ at: 0.25, per_second: operations / seconds }],
  };
}

t.test('rounds give their median with the least and the most, and the cost of one operation', async (t) => {
  t.match(spreadOf([5, 1, 9]), { median: 5, min: 1, max: 9, rounds: [5, 1, 9] });
  t.equal(spreadOf([4, 1]).median, 2.5);
  t.throws(() => spreadOf([]), /nothing was measured/);
  t.strictSame([median([]), quantile([], 0.5), quantile([3, 1, 2], 0.5), quantile([2, 1], 1)], [0, 0, 2, 2]);
  t.throws(() => summaryOf([round(0, 1, 1)]), /nothing was done/);
  const summary = summaryOf([round(1_000, 2, 10), round(4_000, 2, 30), round(3_000, 2, 20)]);
  t.match(summary, {
    operations: 8_000,
    per_second: { median: 1_500, min: 500, max: 2_000 },
    wal_bytes: { median: 500 },
  });
  // client 20, main 40, actors 60, helpers 80, PostgreSQL 100, in the round in the middle
  t.equal(summary.cpu_us.client.median, 20);
  t.equal(summary.service_us.median, 180);
  t.match(summary.postgres_us, { median: 100, min: 50, max: 150 });
  t.match(summaryLines(summary, 'ends').join('\n'), /rate +1,500 ends\/s \(500–2,000\)/);
  const findings = { scenario: 'any', options: {}, method: 'so', lines: [], notMeasured: ['that'], data: {} };
  const { text, data } = await reportOf({ ...findings, costs: { end: summary }, ratios: ['2 of one', '3 of two'] });
  t.match(text, /end +180 \(90–270\) +40 \+ 60 \+ 80 +100 \(50–150\) +500 \(500–500\) +20 .* 8,000 \/ 3\n/);
  t.match(text, /ratio +2 of one\n +3 of two\nmethod +so\nmachine .*\ncommit /);
  t.match(data, { costs: { end: { service_us: { median: 180 } } }, ratios: ['2 of one', '3 of two'] });
  const uncounted = await reportOf({ ...findings, costs: 'nothing is counted', ratios: 'nothing else' });
  t.match(uncounted.text, /cost +nothing is counted\nratio +none: nothing else\n/);
});

t.test("the kernel's line of a process is read, whatever its name", async (t) => {
  const line = '42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 11 0 100 1 2';
  t.strictSame(parseStat(line), {
    ...{ name: 'a) b (c', parent: 7, began: 100, isZombie: false, own_ms: 2_000, ended_children_ms: 500 },
  });
  t.equal(processorOf(process.pid)?.parent, process.ppid);
  t.equal(processorOf(2 ** 22 + 1), undefined, 'and of one that has ended nothing is known');
});

t.test('the knee is the smallest setting that is as good as the best, however the others lie', async (t) => {
  const tried = (rates: number[]) => rates.map((rate, place) => ({ setting: 2 ** place, rate: spreadOf([rate]) }));
  t.equal(kneeOf(tried([100, 190, 200, 198])).setting, 2);
  t.equal(kneeOf(tried([200, 150, 100])).setting, 1);
  t.equal(kneeOf(tried([100, 150, 200]).reverse()).setting, 4);
  t.throws(() => kneeOf([]), /nothing was tried/);
});

t.test('what limits a rate is read off the processor time of its parts', async (t) => {
  const usage = (busy: Partial<Record<Part, number>>, others = 0) => {
    const cpu_ms = mapParts((part) => (busy[part] ?? 0) * 10_000);
    return { seconds: 10, cpu_ms, others_ms: others * 10_000, wal_bytes: 0, samples: [] };
  };
  t.match(
    bottleneckOf(usage({ main: 0.8, postgres: 1 }), 1, 2),
    /^the processors .*1\.8 of 2 cores.*PostgreSQL 56 %, main/,
  );
  t.match(
    bottleneckOf(usage({ main: 0.4 }, 1.4), 1, 2),
    /^the processors .* other processes take 1\.4/,
    'and theirs of others',
  );
  t.match(bottleneckOf(usage({ main: 0.9, postgres: 1 }), 1, 8), /^the main threads/);
  t.match(bottleneckOf(usage({ main: 0.9, postgres: 1 }), 2, 8), /^what is waited for/, 'two nodes have two of them');
});

t.test('a mix is spread evenly over a turn', async (t) => {
  t.strictSame(kindsOf('submit:1,poll:3'), ['poll', 'submit', 'poll', 'poll']);
  for (const wrong of ['', 'submit', 'submit:0', 'follow:1']) t.throws(() => kindsOf(wrong), /it wants parts/);
});

t.test('the page of a report holds all that it needs, and nothing of a report ends its scripts', async (t) => {
  const title = '</script><script>alert(1)</script>';
  const page = await pageOf({ title, text: 'a < b', plots: [...roundPlots(title, [round(10, 1, 1)], 'ends')] });
  t.equal(page.match(/<script/g)?.length, 3, 'the plots, the library, what draws');
  t.equal(page.match(/<\/script>/g)?.length, 3);
  t.notMatch(page.replaceAll(/<script[\s\S]*?<\/script>/g, ''), /\b(src|href)=|url\(|@import/, 'no other file');
  t.match(page, "default-src 'none'", 'and the browser would fetch none');
  const json = /<script type="application\/json" id="plots">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  const plots = JSON.parse(json) as { title: string; series: { values: number[] }[] }[];
  t.equal(plots.length, 4);
  t.ok(plots[0]?.title.startsWith(title));
  for (const { series } of plots) t.ok(allOf(series, ({ values }) => values.length > 0));
});

t.test('end-to-end runs operations of both kinds to their end and reports what each cost', async (t) => {
  const html = join(t.testdir(), 'report.html');
  const sizes = ['--seconds', '0.6', '--rounds', '1', '--warmup', '0.2', '--connections', '16'];
  // With none of the hooks that tap loads into its children.
  const program = ['-i', `PATH=${process.env.PATH}`, process.execPath, BENCH, 'end-to-end'];
  const { stdout, stderr } = await promisify(execFile)('env', [...program, ...sizes, '--json', '--html', html]);
  const report = JSON.parse(stdout);
  for (const kind of ['read', 'write', 'mailbox']) {
    const { operations, per_second, service_us, postgres_us, wal_bytes, ratio } = report.measured[kind];
    t.ok(operations > 0 && per_second.median > 0 && ratio > 0, `${kind}: operations ended`);
    t.ok(service_us.median > 0 && postgres_us.median > 0 && wal_bytes.median > 0, `${kind}: each cost something`);
    t.same(report.rounds[kind][0].by_status, { succeeded: operations });
  }
  t.match(report, { scenario: 'end-to-end', machine: String, commit: String, method: String, not_measured: [String] });
  t.match(await readFile(html, 'utf8'), /bench: end-to-end/);
  t.match(stderr, /page: /);
});
