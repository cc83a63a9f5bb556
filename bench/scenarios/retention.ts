import { setInterval as every } from 'node:timers/promises';
import type { Sql } from '../../storage/postgres/database.js';
import { callbackFixture } from '../callbacks/fixture.js';
import { NO_LATENCY } from '../latencies.js';
import { drive } from '../load/drive.js';
import type { LoadOrder, LoadResult } from '../load/messages.js';
import { errorsOf, faultsAmong } from '../load/round.js';
import { number, reportOf, rows, spreadText } from '../report.js';
import { fillAged, holdTurns, letTurn, sizesOf, type TableSize } from '../retention/fill.js';
import { defineScenario, type OptionValues, type Report } from '../scenario.js';
import { spreadOf } from '../spread.js';
import { WORK } from '../work.js';

const OPTIONS = {
  rows: {
    means: 'operations that are stored before, and events, each with a delivery and an attempt',
    default: 1_000_000,
  },
  minutes: { means: 'how long operations are submitted, with retention and without in turns', default: 60 },
  seconds: { means: 'how long a round is', default: 60 },
  rate: { means: 'submissions a second; as many operations become too old', default: 250 },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client', default: 32 },
};
type Options = OptionValues<typeof OPTIONS>;

const DAYS = ['EVENTS', 'DELIVERIES', 'ATTEMPTS', 'OPERATIONS', 'TOMBSTONES', 'GAPS'];

/** How far the p99 of a submission with retention may be from that without, and what the tables may grow by. */
const GOAL_percent = 10;

const METHOD =
  'submitted at one rate, each operation told to a receiver when it has ended; the tables are filled so that as many rows become a day old as come; a round with retention, slice after slice without its rest, follows one without';
const NOT_MEASURED = [
  'the rest of ten minutes between rounds of retention: with it, less is done at a time',
  'receivers that are far or slow, a network, and disks of another kind',
];

interface Rounds {
  on: LoadResult[];
  off: LoadResult[];
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
      const before = await sizesOf(db);
      const rounds: Rounds = { on: [], off: [] };
      const pairs = Math.max(1, Math.round((options.minutes * 60) / (2 * options.seconds)));
      for (let pair = 1; pair <= pairs; pair++) {
        rounds.off.push(await drive(`without, ${pair} of ${pairs}`, order(`off-${pair}`, options.seconds), say));
        const round = new AbortController();
        const turning = keepTurning(db, round.signal);
        rounds.on.push(await drive(`with retention, ${pair} of ${pairs}`, order(`on-${pair}`, options.seconds), say));
        round.abort();
        await turning;
        await holdTurns(db);
      }
      return report(options, rounds, { before, after: await sizesOf(db) });
    });
  },
});

/** Retention never rests until then. */
async function keepTurning(db: Sql, signal: AbortSignal): Promise<void> {
  await letTurn(db);
  try {
    for await (const _ of every(1_000, undefined, { signal })) await letTurn(db);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type Sizes = Record<'before' | 'after', Record<string, TableSize>>;

function report(options: Options, { on, off }: Rounds, { before, after }: Sizes): Promise<Report> {
  const submitOf = (round: LoadResult) => round.kinds.submit ?? NO_LATENCY;
  const p99 = (all: LoadResult[]) => spreadOf(all.map((round) => submitOf(round).p99_ms));
  const p50 = (all: LoadResult[]) => spreadOf(all.map((round) => submitOf(round).p50_ms));
  const ratios = spreadOf(on.map((round, i) => submitOf(round).p99_ms / submitOf(off[i]!).p99_ms));
  const tables = Object.entries(before).map(([table, was]) => {
    const is = after[table] ?? was;
    return { table, was, is, rows_ratio: is.rows / was.rows, bytes_ratio: is.bytes / was.bytes };
  });
  const most = Math.max(...tables.map(({ rows_ratio }) => rows_ratio));
  const level = most <= 1 + GOAL_percent / 100;
  const close = ratios.median <= 1 + GOAL_percent / 100;
  const mib = (bytes: number) => number(bytes / 2 ** 20);
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
        ...tables.map(
          ({ table, was, is }) =>
            [
              'table',
              `${table}: ${number(was.rows)} rows, ${mib(was.bytes)} MiB; then ${number(is.rows)}, ${mib(is.bytes)} MiB`,
            ] as const,
        ),
        ['goal', `p99 within ${GOAL_percent} %: ${close ? 'met' : 'NOT met'}`],
        ['goal', `rows level within ${GOAL_percent} %: ${level ? 'met' : 'NOT met'}`],
        ['errors', errors.join(', ') || 'none'],
      ]),
    ],
    costs: 'what a submission takes is measured by `submit`',
    ratios: [`${spreadText(ratios, '', 3)} of the p99 without retention, of the round before`],
    sampled: `${number(answered)} submissions in ${on.length + off.length} rounds`,
    notMeasured: NOT_MEASURED,
    data: {
      p99_on: p99(on),
      p99_off: p99(off),
      p50_on: p50(on),
      p50_off: p50(off),
      p99_ratio: ratios,
      tables,
      level,
      close,
    },
    faults: faultsAmong(errors),
  });
}
