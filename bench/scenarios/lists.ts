import { type Cost, costOf } from '../kit/cost/cost.js';
import { Meter } from '../kit/cost/meter.js';
import { fillHistory } from '../kit/history.js';
import { LIMITS } from '../kit/limits.js';
import { reportOf } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { type BenchService, startService } from '../kit/service.js';
import { median } from '../kit/spread.js';

interface Timing {
  list: string;
  first_ms: number;
  last_ms: number;
  ratio: number;
}

const OPTIONS = {
  rows: { means: 'events, deliveries and operations on one connection', default: 100_000 },
  requests: { means: 'requests timed for each page', default: 100 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'a cold cache: every page is requested before it is timed, so the rows are in memory',
  'writers beside the readers: the service is otherwise idle, and the tables are freshly vacuumed',
  'a network: client, service and PostgreSQL share this machine',
];

/**
 * What the last page of a long list costs beside its first: events and deliveries by offset, operations by cursor, each also
 * with a filter, over HTTP.
 */
export const lists = defineScenario({
  name: 'lists',
  summary: 'the last page of 100,000 events, deliveries and operations against the first',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    say('starting the service');
    await using service = await startService();
    const [connection] = (await service.createSimulated(1)) as [string];
    say(`inserting ${options.rows} events, deliveries and operations`);
    const filled = await service.withDatabase((_, db) => fillHistory(db, connection, options.rows));
    const costs: Record<string, Cost> = {};
    const medianOf = async (name: string, path: string) => {
      say(name);
      const { value, cost } = await timed(service, path, options.requests);
      costs[name] = cost;
      return median(value);
    };
    const offset = Math.min(LIMITS.offset_rows, options.rows) - LIMITS.page_rows;
    const byOffset: [string, string][] = [
      ['events', `/v1/connections/${connection}/events?`],
      ['deliveries', `/v1/subscriptions/${filled.subscriptionId}/deliveries?`],
      ['deliveries, one status of two', `/v1/subscriptions/${filled.subscriptionId}/deliveries?status=failed&`],
    ];
    const timings: Timing[] = [];
    const add = (list: string, first_ms: number, last_ms: number) =>
      timings.push({ list, first_ms, last_ms, ratio: last_ms / first_ms });
    for (const [list, path] of byOffset) {
      const last = list.includes('status') ? Math.floor(options.rows / 2) - LIMITS.page_rows : offset;
      add(
        list,
        await medianOf(`${list}, first page`, `${path}offset=0`),
        await medianOf(`${list}, last page`, `${path}offset=${Math.max(0, last)}`),
      );
    }
    const cursor = Buffer.from(filled.hundredthOperationId.replaceAll('-', ''), 'hex').toString('base64url');
    for (const [list, path] of [
      ['operations', '/v1/operations?'],
      ['operations of a connection', `/v1/operations?connection_id=${connection}&`],
    ] as const) {
      add(
        list,
        await medianOf(`${list}, first page`, path.slice(0, -1)),
        await medianOf(`${list}, last page`, `${path}cursor=${cursor}`),
      );
    }
    const plain = timings.find((one) => one.list === 'operations')?.first_ms ?? Number.NaN;
    for (const status of ['failed', 'queued']) {
      add(
        `operations, ${status}, against unfiltered`,
        plain,
        await medianOf(`operations, ${status}`, `/v1/operations?status=${status}`),
      );
    }
    return report(options, timings, costs);
  },
});

/** The same with what a request took of the service and of PostgreSQL. */
function timed(service: BenchService, path: string, count: number): Promise<{ value: number[]; cost: Cost }> {
  return service.withDatabase(async (_, db) => {
    const meter = await Meter.open([service.pid], db);
    const { value, usage } = await meter.during(() => times(service, path, count));
    return { value, cost: costOf([{ operations: count + UNTIMED, usage }]) };
  });
}

/** Requests of a page before those that are timed. */
const UNTIMED = 2;

/** How long each of `count` requests took, one after another, after those that are not timed. */
async function times({ addresses, key }: BenchService, path: string, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let n = -UNTIMED; n < count; n++) {
    const started = performance.now();
    const answer = await fetch(addresses.url + path, { headers: { authorization: `Bearer ${key}` } });
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body}`);
    if (n >= 0) taken.push(performance.now() - started);
  }
  return taken;
}

function report(options: Options, timings: Timing[], costs: Record<string, Cost>): Promise<Report> {
  const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(12);
  return reportOf({
    scenario: 'lists',
    options,
    method: 'requests one after another, first and last page of each list in turn; the median of each',
    lines: [
      `${'list'.padEnd(46)}${'first page'.padStart(12)}${'last page'.padStart(12)}${'ratio'.padStart(8)}`,
      ...timings.map(
        ({ list, first_ms, last_ms, ratio }) =>
          `${list.padEnd(46)}${ms(first_ms)}${ms(last_ms)}${ratio.toFixed(2).padStart(8)}`,
      ),
      '',
      `medians; over ${options.rows} rows, the last page of a list by offset begins at 99,900`,
    ],
    costs,
    ratios: timings.map(({ list, ratio }) => `${ratio.toFixed(2)} of the time of its first page: ${list}`),
    sampled: `${options.requests} requests of each page, in one round`,
    notMeasured: NOT_MEASURED,
    data: { timings },
  });
}
