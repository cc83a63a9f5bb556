import type { RetentionClass } from '../../storage/maintenance/retention/classes.js';
import { throughSince_s } from '../../storage/maintenance/retention/turn.js';
import { NO_LATENCY } from '../kit/latencies.js';
import { readMetrics } from '../kit/metrics.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { median, spreadOf } from '../kit/spread.js';
import { WORK } from '../kit/work.js';
import { drive } from '../load/drive.js';
import type { LoadOrder, LoadResult } from '../load/messages.js';
import { errorsOf, faultsAmong } from '../load/round.js';
import { callbackFixture } from './callbacks/fixture.js';
import { fillAged } from './retention/fill.js';
import { type Sizes, sizesOf, TABLES, type TableVerdict, tableVerdicts } from './retention/tables.js';
import { holdTurns, whileErasing } from './retention/turns.js';

const OPTIONS = {
  rows: {
    means: 'operations that are stored before, and events, each with a delivery and an attempt',
    default: 1_000_000,
  },
  minutes: {
    means: 'how long operations are submitted, in cycles of three rounds with retention and one without',
    default: 60,
  },
  seconds: { means: 'how long a round is', default: 60 },
  rate: {
    means:
      'submissions a second, and operations that become too old; two cores are half busy at 125, and at 250 it is their queues that are measured',
    default: 125,
  },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client', default: 32 },
};
type Options = OptionValues<typeof OPTIONS>;

const ERASED = 'connection_service_retention_rows_erased_total';

const DAYS = ['EVENTS', 'DELIVERIES', 'ATTEMPTS', 'INPUTS', 'RESULTS', 'OPERATIONS', 'TOMBSTONES', 'GAPS'];

/** Rounds with retention before each one without. */
const WITH = 3;

/** How far the p99 of a submission with retention may be from that without, and what the tables may grow by. */
const GOAL_percent = 10;

const METHOD =
  'submitted at one rate, each operation told to a receiver when it has ended; the tables are filled so that as many rows become a day old as come; three rounds with retention at its own pace, then one without, after which it has a third more to do';
const NOT_MEASURED = [
  'inputs and results that go sooner than their operation, attempts sooner than their delivery: here they go along',
  'receivers that are far or slow, a network, and disks of another kind',
];

interface Rounds {
  on: LoadResult[];
  off: LoadResult[];
  /** Before the first round, and after each cycle. */
  sizes: Sizes[];
  /** Rows that went in each cycle, without those that go along. */
  erased: number[];
}

/** What erasing by age costs those who submit, and whether it keeps up. */
export const retention = defineScenario({
  name: 'retention',
  summary: 'p99 of a submission while rows are erased by their age, against none; and whether the tables stay level',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service and the receiver');
    const days = Object.fromEntries(DAYS.map((what) => [`RETENTION_${what}_DAYS`, '1']));
    await using fixture = await callbackFixture(days);
    const { service } = fixture;
    const connectionIds = await service.createSimulated(options.connections);
    return await service.withDatabase(async (_, db) => {
      await holdTurns(db);
      const order = (run: string, seconds: number): LoadOrder => ({
        ...{ urls: [service.addresses.url], key: service.key, run, seconds, kinds: ['submit'], operationIds: [] },
        ...{ connectionIds, clients: options.clients, rate: options.rate, body: JSON.stringify(WORK.read) },
      });
      await drive('warmup', order('warmup', 5), say);
      const subscriptionId = await fixture.subscribeAll('/hook', ['operation.finished']);
      await fillAged(db, { ...options, subscriptionId }, (count) => say(`${number(count)} of each are stored`));
      await drive('warmup', order('warmup, filled', 10), say);
      const erased = async () => (await readMetrics(service.addresses.metricsUrl))(ERASED);
      const rounds: Rounds = { on: [], off: [], sizes: [], erased: [] };
      const startedAt = performance.now();
      const look = async () => {
        const tables = await sizesOf(db);
        rounds.sizes.push({ at: (performance.now() - startedAt) / 1_000, tables });
        say(sizesText(tables));
      };
      await look();
      const cycles = Math.max(1, Math.round((options.minutes * 60) / ((WITH + 1) * options.seconds)));
      const round = (name: string) => drive(`${name} of ${cycles}`, order(name, options.seconds), say);
      for (let cycle = 1; cycle <= cycles; cycle++) {
        const before = await erased();
        await whileErasing(db, async () => {
          for (let n = 1; n <= WITH; n++) rounds.on.push(await round(`with retention, ${n} of cycle ${cycle}`));
        });
        rounds.erased.push((await erased()) - before);
        rounds.off.push(await round(`without, cycle ${cycle}`));
        await look();
      }
      return report(options, rounds, await throughSince_s(db));
    });
  },
});

const mib = (bytes: number) => number(bytes / 2 ** 20);

const sizesText = (tables: Sizes['tables']) =>
  TABLES.map((table) => `${table} ${number(tables[table].rows)} rows, ${mib(tables[table].bytes)} MiB`).join('; ');

function report(
  options: Options,
  { on, off, sizes, erased }: Rounds,
  through_s: Partial<Record<RetentionClass, number>>,
): Promise<Report> {
  const submitOf = (round: LoadResult) => round.kinds.submit ?? NO_LATENCY;
  const p99 = (all: LoadResult[]) => spreadOf(all.map((round) => submitOf(round).p99_ms));
  const p50 = (all: LoadResult[]) => spreadOf(all.map((round) => submitOf(round).p50_ms));
  const cycles = off.map((round, i) => ({
    on: median(on.slice(i * WITH, (i + 1) * WITH).map((one) => submitOf(one).p99_ms)),
    off: submitOf(round).p99_ms,
  }));
  const ratios = spreadOf(cycles.map((cycle) => cycle.on / cycle.off));
  const tables = tableVerdicts(sizes, GOAL_percent / 100);
  const level = tables.every((table) => table.level);
  const close = ratios.median <= 1 + GOAL_percent / 100;
  const per_second = spreadOf(erased.map((rows) => rows / (WITH * options.seconds)));
  const behind_s = Math.max(...Object.values(through_s));
  const errors = [...on, ...off].flatMap(errorsOf);
  const answered = [...on, ...off].reduce((sum, round) => sum + round.answered, 0);
  return reportOf({
    scenario: 'retention',
    options,
    method: METHOD,
    lines: [
      ...rows([
        ['without', `p50 ${spreadText(p50(off), 'ms', 1)}, p99 ${spreadText(p99(off), 'ms', 1)}`],
        ['with', `p50 ${spreadText(p50(on), 'ms', 1)}, p99 ${spreadText(p99(on), 'ms', 1)}`],
        ['erased', `${spreadText(per_second, 'rows a second')} while it runs`],
        ['behind', `${number(behind_s)} s at the end, of the class that it was last through with the longest ago`],
        ...tables.map((verdict) => ['table', tableText(verdict)] as const),
        ['goal', `p99 within ${GOAL_percent} %: ${close ? 'met' : 'NOT met'}`],
        ['goal', `tables level within ${GOAL_percent} %: ${level ? 'met' : 'NOT met'}`],
        ['errors', errors.join(', ') || 'none'],
      ]),
    ],
    costs: 'what a submission takes is measured by `submit`',
    ratios: [
      `${spreadText(ratios, '', 3)} of the p99 without retention: the median of the three rounds before by that`,
    ],
    sampled: `${number(answered)} submissions in ${on.length + off.length} rounds`,
    notMeasured: NOT_MEASURED,
    data: {
      p99_on: p99(on),
      p99_off: p99(off),
      p50_on: p50(on),
      p50_off: p50(off),
      p99_ratio: ratios,
      p99_cycles: cycles,
      erased_per_second: per_second,
      through_s,
      tables,
      sizes,
      level,
      close,
    },
    faults: [
      ...faultsAmong(errors),
      ...tables.filter((table) => !table.level).map((table) => `not level: ${tableText(table)}`),
    ],
  });
}

const tableText = ({ table, first, last, bytes_growth }: TableVerdict) =>
  `${table}: ${number(first.rows)} rows, ${mib(first.bytes)} MiB; then ${number(last.rows)}, ${number(last.dead)} dead, ${mib(last.bytes)} MiB; bytes ${number(bytes_growth * 100, 1)} % over the second half`;
